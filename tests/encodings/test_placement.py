"""Where γ sees the samples: which borders it can tell apart, and what is stored."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import get_args

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

import alfilter as al
from alfilter.core import dyadic_encoding
from alfilter.encodings import FilteredFourier, Fourier, Placement
from alfilter.encodings.placement import Where
from alfilter.methods import METHODS, build
from alfilter.signals import grid_coords

N = 16
BORDERS = torch.tensor([[-1.0], [1.0]])


def gap(where: Where) -> float:
    """How far apart the scale 2^0 puts the first and the last sample of an axis of 16."""
    first, last = Fourier(1, 1, Placement.of(where, (N,)))(BORDERS)
    return float((first - last).abs().max())


def test_opposite_borders() -> None:
    assert gap("ends") < 1e-5
    assert gap("centres") == pytest.approx(2 * math.sin(math.pi / N))  # ± sin(π 15/16)
    assert gap("unit") == pytest.approx(2.0)  # cos π · 0 and cos π · 1


def test_centres_are_the_centres_of_cells() -> None:
    x = grid_coords((N,))
    cells = (2 * torch.arange(N).float() + 1 - N) / N
    torch.testing.assert_close(Placement.of("centres", (N,)).inside(x)[:, 0], cells)
    neighbours = Fourier(1, 1, Placement.of("centres", (N,)))(x)
    steps = (neighbours - neighbours.roll(1, 0)).norm(dim=-1)
    torch.testing.assert_close(steps, steps[:1].expand(N), rtol=1e-4, atol=1e-6)  # the last is a neighbour of the first


@pytest.mark.parametrize("where", get_args(Where))
def test_both_encodings_place_alike(where: Where) -> None:
    placement, x = Placement.of(where, (5, 7)), torch.rand(20, 2) * 2 - 1
    plain = Fourier(2, 3, placement)(x)
    torch.testing.assert_close(plain, dyadic_encoding(placement.inside(x), 3))
    wide = FilteredFourier(
        2, levels=3, bandwidth=1e4, kappa=10.0, resolution=(2, 2), start=6.0, coordinates=True, placement=placement
    )
    torch.testing.assert_close(wide(x), torch.cat((x, plain), -1), rtol=0, atol=1e-5)


def test_cycles_follow_the_placement() -> None:
    encodings = [
        FilteredFourier(
            2, levels=3, bandwidth=4.0, kappa=10.0, resolution=(2, 2), start=6.0, placement=Placement.of(where, (8, 8))
        )
        for where in get_args(Where)
    ]
    assert [encoding.level_frequencies().tolist() for encoding in encodings] == [[1, 2, 4], [1, 2, 4], [0.5, 1, 2]]
    alpha = torch.tensor([3.0, 5.5])
    for encoding in encodings:
        torch.testing.assert_close(encoding.alpha_at(encoding.frequency(alpha)), alpha)


def test_a_signal_without_a_grid_has_no_cells() -> None:
    assert Placement.of("centres") == Placement.of("ends", (4, 4)) == Placement()


def test_presets_choose_and_a_model_without_the_word_has_its_ends_on_the_border(tmp_path: Path) -> None:
    assert {METHODS[name].presets["paper"].options["placement"] for name in ("pe-mlp", "al-relu", "al-sine")} == {
        "unit"
    }
    assert {METHODS[name].presets["default"].options["placement"] for name in ("pe-mlp", "al-relu", "al-sine")} == {
        "centres"
    }
    field = build("al-sine", in_dim=2, out_dim=1, samples=(6, 6), width=8, depth=1, levels=3)
    al.save(field, tmp_path / "new.safetensors")
    with safe_open(tmp_path / "new.safetensors", framework="pt") as file:
        header = json.loads(file.metadata()["alfilter"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert header["options"].pop("placement") == "ends"
    save_file(tensors, tmp_path / "old.safetensors", {"alfilter": json.dumps(header)})
    old, x = al.load(tmp_path / "old.safetensors"), torch.rand(9, 2) * 2 - 1
    assert torch.equal(old(x), field(x))
    torch.testing.assert_close(old.encoding.filtered(x, torch.full((9,), 6.0)),
                               FilteredFourier(2, levels=3, bandwidth=20.0, kappa=10.0, resolution=(6, 6), start=6.0)
                               .filtered(x, torch.full((9,), 6.0)))  # fmt: skip
