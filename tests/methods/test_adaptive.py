"""The paper's own rows: the α grid, its start, and the first layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import alfilter
from alfilter.encodings import FilteredFourier


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
