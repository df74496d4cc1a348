"""Levels, hash, corners and weighted rows: by hand, against the plain twins, and against ordinary interpolation."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from alfilter.core import hash_grid
from alfilter.core.hash_grid import Layout, dense_index, level_resolutions, spatial_hash
from alfilter.errors import UserError
from alfilter.ops import interpolate
from alfilter.ops.grid_lookup import corners
from alfilter.ops.weighted_rows import weighted_rows


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1


def test_resolutions_by_hand() -> None:
    """b = (64/16)^(1/4) = √2: 16, 22.6, 32, 45.3, 64."""
    assert level_resolutions(5, 16, 64) == [16, 22, 32, 45, 64]
    assert level_resolutions(1, 16, 64) == [16]


@given(st.integers(2, 32), st.integers(1, 64), st.integers(0, 4000))
def test_resolutions_rise_from_base_to_finest(levels: int, base: int, more: int) -> None:
    found = level_resolutions(levels, base, base + more)
    assert found[0] == base
    assert found[-1] == base + more
    assert found == sorted(found)


def test_hash_by_hand() -> None:
    """(2·1) ⊕ (1·2654435761) ⊕ (0) = 2654435763; its last eight bits are 0xB3 = 179."""
    assert spatial_hash(torch.tensor([2, 1, 0]), 256).item() == 179
    assert spatial_hash(torch.tensor([5]), 4).item() == 1


@given(st.lists(st.integers(0, 1 << 19), min_size=1, max_size=4), st.integers(4, 24))
def test_hash_is_that_of_32_bit_numbers(corner: list[int], bits: int) -> None:
    """The source multiplies in 32 bits, where the product wraps; the last bits are the same."""
    mixed = 0
    for c, prime in zip(corner, (1, 2654435761, 805459861, 3674653429), strict=False):
        mixed ^= (c * prime) % (1 << 32)
    assert spatial_hash(torch.tensor(corner), 1 << bits).item() == mixed % (1 << bits)


def test_dense_index_is_that_of_a_flat_grid() -> None:
    grid = torch.arange(3 * 4 * 6).view(3, 4, 6)
    corner = torch.tensor([[2, 3, 5], [1, 0, 4]])
    assert dense_index(corner, (2, 3, 5)).tolist() == [int(grid[2, 3, 5]), int(grid[1, 0, 4])]


def test_layout_by_hand() -> None:
    """2 cells: 9 nodes, kept; 6 cells: 49 nodes, folded into 16 rows."""
    layout = Layout.of([(2, 2), (6, 6)], 16)
    assert (layout.rows, layout.hashed, layout.offsets, layout.total) == ((9, 16), (False, True), (0, 9), 25)


def test_a_table_that_cannot_be_counted_is_refused() -> None:
    with pytest.raises(UserError, match=r"would hold 4,294,967,296 rows; ask for fewer levels"):
        Layout.of([(255, 255, 255, 255)])


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
@pytest.mark.parametrize("snap", [0.0, 1e-3, 0.5])
def test_compiled_corners_are_the_plain_ones(dims: int, snap: float) -> None:
    layout = Layout.of([(2,) * dims, (5,) * dims, (9,) * dims, (40,) * dims, (0,) * dims], 64)
    x = torch.cat((numbers(200, dims) * 1.3, torch.tensor([[-1.0], [1.0], [0.0], [1e30]]).expand(4, dims)))
    index, weight = corners(x, layout, snap=snap)
    expected, share = hash_grid.corners(x, layout, snap=snap)
    assert index.dtype == torch.int32
    # on a node the compiled one may see it from the other side; the weighted sum is the same
    table = numbers(layout.total, 3, seed=1)
    got = hash_grid.weighted_rows(table, index, weight)
    torch.testing.assert_close(got, hash_grid.weighted_rows(table, expected, share), rtol=0, atol=2e-5)
    torch.testing.assert_close(weight.sum(-1), torch.ones(204, 5))
    assert int(index.min()) >= 0
    assert int(index.max()) < layout.total


def test_coordinates_that_are_no_numbers_stay_none() -> None:
    layout = Layout.of([(4, 4)], 16)
    x = torch.tensor([[math.nan, 0.0], [0.0, 0.0]])
    out = weighted_rows(numbers(25, 2)[: layout.total], *corners(x, layout))
    assert out.isnan().all(-1).flatten().tolist() == [True, False]


@pytest.mark.parametrize("cells", [(7,), (4, 6), (3, 1, 5), (2, 3, 2, 1)])
def test_a_dense_level_is_plain_interpolation(cells: tuple[int, ...]) -> None:
    layout = Layout.of([cells], 1 << 12)
    grid, x = numbers(layout.total, 3), numbers(100, len(cells), seed=2) * 1.2
    found = weighted_rows(grid, *corners(x, layout)).squeeze(-2)
    expected = interpolate(grid.view(*(n + 1 for n in cells), 3), x)
    torch.testing.assert_close(found, expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("features", [1, 2, 5])
def test_weighted_rows_and_their_gradient_are_the_plain_ones(features: int) -> None:
    index = torch.randint(-1, 9, (4, 25, 6), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    weight, upstream = numbers(4, 25, 6), numbers(4, 25, features, seed=3)
    found = []
    for function in (weighted_rows, hash_grid.weighted_rows):
        table = numbers(9, features, seed=4).requires_grad_()
        value = function(table, index, weight)
        found.append((value, *torch.autograd.grad(value, table, upstream)))
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_the_scatter_is_the_transpose_of_the_gather(seed: int) -> None:
    """⟨G t, u⟩ = ⟨t, Gᵀ u⟩ for every table t and every gradient u."""
    layout = Layout.of([(3, 3), (20, 20)], 32)
    index, weight = corners(numbers(30, 2, seed=seed), layout)
    table, upstream = numbers(layout.total, 2, seed=seed + 1).requires_grad_(), numbers(30, 2, 2, seed=seed + 2)
    value = weighted_rows(table, index, weight)
    (back,) = torch.autograd.grad(value, table, upstream)
    assert (value * upstream).sum().item() == pytest.approx((table * back).sum().item(), abs=1e-4)
