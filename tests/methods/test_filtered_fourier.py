"""The paper's methods: the α grid, its start, and the first layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import alfilter
from alfilter.encodings import FilteredFourier
from alfilter.methods import Density, preset, training


@pytest.mark.parametrize(
    ("in_dim", "samples", "grid", "expected"),
    [
        (2, (8, 6), None, (8, 6)),
        (2, (2000, 6), None, (512, 6)),
        (3, (64, 8, 8), None, (30, 8, 8)),
        (3, None, None, (30, 30, 30)),
        (2, (8, 6), 5, (5, 5)),
        (2, (8, 6), (5, 7), (5, 7)),
        (2, None, [5, 7], (5, 7)),
        (2, None, np.int64(5), (5, 5)),
    ],
)
def test_grid_size(in_dim: int, samples: Any, grid: Any, expected: tuple[int, ...]) -> None:
    field = alfilter.build("al-relu", in_dim=in_dim, out_dim=1, samples=samples, grid=grid, width=4)
    assert isinstance(field.encoding, FilteredFourier)
    assert field.encoding.alpha.values.shape == (*expected, 1)


@pytest.mark.parametrize(("start", "expected"), [(None, 16.0), (0.0, 0.0), (5, 5.0)])
def test_alpha_starts_in_the_middle_unless_told(start: float | None, expected: float) -> None:
    field = alfilter.build("al-sine", in_dim=2, out_dim=1, grid=3, start=start)
    assert isinstance(field.encoding, FilteredFourier)
    assert field.encoding.alpha(torch.zeros(2)).item() == expected


def test_first_layer_of_ours_sine_starts_within_one_over_the_channels() -> None:
    field = alfilter.build("al-sine", in_dim=2, out_dim=3, grid=4)
    assert field.network.get_parameter("weights.0").abs().max().item() == pytest.approx(1 / 32, rel=0.01)


def test_the_settings_follow_the_density() -> None:
    coarse, fine = (preset("al-sine", "reconstruct").options_at(Density(2, seen)) for seen in (32.0, 256.0))
    assert coarse["omega"] < fine["omega"]
    assert coarse["levels"] < fine["levels"]
    # the finest scale, 2^(L-1) cycles, is at most the Nyquist rate of what is seen and filled in
    for density in (Density(2, 57.0), Density(2, 128.0, 2.0), Density(2, 57.0, 4.5), Density(3, 20.0, 1.5)):
        levels = preset("al-sine", "reconstruct").options_at(density)["levels"]
        assert 2 ** (levels - 1) <= density.seen * max(density.gap, 2.0) / 2
    assert training("al-sine", "reconstruct", Density(2, 64, gap=2.0)).fill > 0
