"""A model of the page: its variants, its history, and neighbours that are damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from alfilter.errors import UserError
from alfilter.methods import build
from alfilter.viewer.model import Detail, Model, check_same_size, level_names
from alfilter.viewer.open import grid_models, open_files


@pytest.fixture
def model(runs: Path) -> Model:
    return grid_models(open_files([str(runs / "al")]))[0]


def test_snapshots_are_loaded_once_and_only_those_there_are(model: Model) -> None:
    assert list(model.snapshots) == [0, 60]
    assert model.variant(0, original=False) is model.variant(0, original=True)
    assert model.variant(None, original=True) is model.original
    with pytest.raises(UserError, match="there is no snapshot of step 7"):
        model.variant(7, original=False)


def test_the_float64_copy_follows_the_field_that_is_drawn(model: Model) -> None:
    first = model.in_float64(model.original)
    assert first.shift.dtype == torch.float64
    assert model.in_float64(model.original) is first
    snapshots = [model.variant(step, original=False) for step in (0, 60)]
    assert len({id(model.in_float64(field)) for field in (model.original, *snapshots)}) == 3


def test_a_damaged_neighbour_does_not_hide_the_model(model: Model) -> None:
    folder = model.file.parent
    (folder / "metrics.json").write_text(json.dumps({"metrics": {"psnr": 30.0}}))
    assert model.about()["metrics"] == {"psnr": 30.0}
    (folder / "metrics.json").write_text("{")
    assert model.about()["metrics"] == {}


def test_a_long_history_is_thinned_and_keeps_its_end(model: Model) -> None:
    lines = [{"step": step, "psnr": 20.0, "seconds": 0.1 * step} for step in range(1, 2002)]
    text = "".join(json.dumps(line) + "\n" for line in [*lines, {"step": 9, "psnr": "high"}])
    (model.file.parent / "history.jsonl").write_text(text)
    points = model.history()
    assert 400 < len(points) < 600
    assert (points[0][0], points[-1][0]) == (1, 2001)


def test_levels_have_names_and_values() -> None:
    bacon = build("bacon", in_dim=2, out_dim=3, samples=(256, 128), width=8)
    assert level_names(bacon)[0] == "up to 16 × 32 cycles across"
    assert len(level_names(bacon)) == 4
    octree = build("octree", in_dim=2, out_dim=3, samples=(64, 64), width=8)
    names = level_names(octree)
    assert len(names) == len(octree.outputs(torch.zeros(1, 2))) > 1
    assert level_names(build("siren", in_dim=2, out_dim=3, samples=(16, 16), width=8)) == []
    x = torch.rand(5, 2)
    assert torch.equal(Detail(level=2).of(bacon)(x), bacon.outputs(x)[1])
    assert Detail().of(bacon) is bacon


def test_models_that_cannot_be_laid_over_each_other() -> None:
    one, other = (build("siren", in_dim=2, out_dim=3, width=4) for _ in range(2))
    one.signal, other.signal = {"shape": [4, 5]}, {"shape": [4, 6]}
    check_same_size(Path("m"), one, one)
    with pytest.raises(UserError, match=r"the first is \[4, 5\] with 3 channels, m is \[4, 6\] with 3; give another"):
        check_same_size(Path("m"), other, one)
