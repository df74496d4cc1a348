"""Plain interpolation by hand; total variation: by hand, against loops, as a seminorm, differentiated."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import references
from torch import Tensor
from torch.autograd import gradcheck

from alfilter.core import interpolate, total_variation
from alfilter.errors import UserError

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def numbers(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return (torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 2 - 1).to(dtype)


def test_interpolation_by_hand() -> None:
    """[[0, 1], [2, 4]] over the corners of the square: the middle, a quarter of the way down on the left."""
    grid = torch.tensor([[[0.0], [1.0]], [[2.0], [4.0]]])
    x = torch.tensor([[0.0, 0.0], [-0.5, -1.0], [1.0, 1.0], [9.0, 9.0]])
    assert interpolate(grid, x).flatten().tolist() == [1.75, 0.5, 4.0, 4.0]


def test_total_variation_by_hand() -> None:
    """[[0, 1], [3, 7]]: down 3 and 6, across 1 and 4, in four pairs."""
    grid = torch.tensor([[[0.0], [1.0]], [[3.0], [7.0]]])
    assert total_variation(grid, reduction="sum").item() == 14
    assert total_variation(grid, reduction="mean").item() == 3.5


@settings(max_examples=40)
@given(SHAPES, st.integers(1, 3), st.integers(0, 1000))
def test_total_variation_against_loops(shape: tuple[int, ...], features: int, seed: int) -> None:
    grid = numbers(*shape, features, seed=seed)
    for reduction in ("sum", "mean"):
        expected = references.total_variation(grid.tolist(), reduction)
        assert total_variation(grid, reduction=reduction).item() == pytest.approx(expected, rel=1e-12, abs=1e-15)


@given(SHAPES, st.floats(-3, 3), st.integers(0, 1000))
def test_total_variation_is_a_seminorm(shape: tuple[int, ...], factor: float, seed: int) -> None:
    a, b = numbers(*shape, 1, seed=seed), numbers(*shape, 1, seed=seed + 1)

    def tv(grid: Tensor) -> float:
        return total_variation(grid, reduction="sum").item()

    assert tv(a + 5) == pytest.approx(tv(a), rel=1e-12, abs=1e-12)
    assert tv(factor * a) == pytest.approx(abs(factor) * tv(a), rel=1e-12, abs=1e-12)
    assert tv(a + b) <= tv(a) + tv(b) + 1e-12


def test_total_variation_derivative() -> None:
    grid = numbers(3, 4, 1).requires_grad_()
    for reduction in ("sum", "mean"):
        assert gradcheck(lambda g, r=reduction: total_variation(g, reduction=r), grid)


def test_unknown_reduction_is_refused() -> None:
    with pytest.raises(UserError, match="sum or mean, got 'avg'"):
        total_variation(torch.zeros(2, 1), reduction="avg")  # type: ignore[arg-type]
