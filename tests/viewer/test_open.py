"""From model files to a viewer: the right one, every file read once, models that fit together."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.commands import picture

from alfilter.errors import UserError
from alfilter.methods import build
from alfilter.training import load, save
from alfilter.viewer import open as opening
from alfilter.viewer.open import grid_models, open_files, open_reference, open_viewer
from alfilter.viewer.picture import PictureViewer


def test_every_file_is_read_once(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr(opening, "load", lambda file: (read.append(file), load(file))[1])
    viewer = open_viewer([str(trained / "al"), str(trained / "siren" / "model.safetensors")])
    assert isinstance(viewer, PictureViewer)
    assert [model.name for model in viewer.models] == ["al", "siren"]
    assert read == [trained / "al" / "model.safetensors", trained / "siren" / "model.safetensors"]
    viewer.close()


def test_models_must_fit_together(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a model file was expected"):
        open_files([str(tmp_path)])
    models = grid_models(open_files([str(runs / name) for name in ("al", "al", "siren/model.safetensors")]))
    assert [model.name for model in models] == ["al", "al 2", "siren"]
    with pytest.raises(UserError, match="must be the fitted picture, 52x40 with 3 channels"):
        open_reference(str(picture(tmp_path / "other.png", 9, 9)), models)
    (runs / "al" / "reference.png").unlink()
    assert open_reference(None, models[:1]) is None


@pytest.mark.parametrize(("kind", "shape"), [("image", [8, 8]), ("audio", [8])])
def test_a_page_shows_few_channels(kind: str, shape: list[int], tmp_path: Path) -> None:
    """A tile of thousands of channels would be gigabytes."""
    field = build("siren", in_dim=len(shape), out_dim=17, width=4, depth=1)
    facts = {"kind": kind, "shape": shape, "low": 0.0, "high": 1.0, "bits": 8, "observe": "all", "observe_seed": 0}
    field.signal = {**facts, "channels": 17, "rate": 8000}
    save(field, tmp_path / "m")
    with pytest.raises(UserError, match=r"a page shows up to 16 channels, .* has 17; render it"):
        open_viewer([str(tmp_path / "m")])
