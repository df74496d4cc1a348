"""α as a grid: its unit, its bounds, its place between nodes."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.encodings import AlphaGrid
from alfilter.errors import UserError


def test_between_two_nodes_it_is_linear() -> None:
    alpha = AlphaGrid((2,), start=0.0, unit=4.0, low=-8.0, high=8.0)
    with torch.no_grad():
        alpha.values.copy_(torch.tensor([[0.0], [1.0]]))
    torch.testing.assert_close(alpha(torch.tensor([[-1.0], [0.0], [1.0]])), torch.tensor([0.0, 2.0, 4.0]))


@pytest.mark.parametrize(("start", "expected"), [(99.0, 8.0), (-99.0, -8.0), (3.0, 3.0)])
def test_the_start_is_inside_the_bounds(start: float, expected: float) -> None:
    alpha = AlphaGrid((3, 3), start=start, unit=2.0, low=-8.0, high=8.0)
    assert alpha(torch.zeros(1, 2)).item() == pytest.approx(expected)


def test_constrain_brings_it_back() -> None:
    alpha = AlphaGrid((3,), start=0.0, unit=2.0, low=-8.0, high=8.0)
    with torch.no_grad():
        alpha.values.copy_(torch.tensor([[-99.0], [0.5], [99.0]]))
    alpha.constrain()
    assert (alpha.values * 2.0).flatten().tolist() == [-8.0, 1.0, 8.0]


@pytest.mark.parametrize(("bound", "value"), [(8.0, 8.1), (8.0, float("nan")), (math.inf, 1e30), (math.inf, -1e30)])
def test_what_lies_out_of_bounds_is_refused(bound: float, value: float) -> None:
    alpha = AlphaGrid((3,), start=8.0, unit=3.0, low=-bound, high=bound)
    alpha.validate()
    with torch.no_grad():
        alpha.values[1] = value / 3.0
    with pytest.raises(UserError, match=r"α lies between .* here, got "):
        alpha.validate()
