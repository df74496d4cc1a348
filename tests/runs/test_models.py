"""A model file or a run folder: one model."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import alfilter as al
from alfilter.errors import UserError
from alfilter.runs.models import load, model_path


def test_a_run_folder_is_its_model(tmp_path: Path) -> None:
    field = al.build("siren", in_dim=2, out_dim=1, width=4, depth=1)
    al.save(field, tmp_path / "model.safetensors")
    x = torch.rand(5, 2)
    for path in (tmp_path, str(tmp_path), tmp_path / "model.safetensors"):
        assert torch.equal(load(path)(x), field(x))
    assert al.load is load


@pytest.mark.parametrize(("start", "what"), [(b"\x89PNG\r\n", "a PNG picture"), (b"RIFF\0\0\0\0WAVE", "a WAV sound")])
def test_a_signal_in_place_of_a_model_is_named(tmp_path: Path, start: bytes, what: str) -> None:
    (tmp_path / "given").write_bytes(start)
    with pytest.raises(UserError, match=rf"expected a model or a run folder, .*given is {what}; give the model"):
        load(tmp_path / "given")


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the folder .* holds no model\.safetensors"):
        model_path(tmp_path)
    assert model_path(tmp_path / "none.safetensors") == tmp_path / "none.safetensors"
