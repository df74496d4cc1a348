"""Levels, hash, corners and weighted rows: by hand, against the plain twins, and against ordinary interpolation."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from alfilter.core import hash_grid
from alfilter.core.hash_grid import Layout, dense_index, level_resolutions, spatial_hash
from alfilter.errors import UserError
from alfilter.ops.grid_lookup import corners


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1


def test_resolutions_by_hand() -> None:
    """b = (64/16)^(1/4) = √2: 16, 22.6, 32, 45.3, 64."""
    assert level_resolutions(5, 16, 64) == [16, 22, 32, 45, 64]
    assert level_resolutions(1, 16, 64) == [16]


@given(st.integers(2, 32), st.integers(1, 64), st.integers(0, 4000))
def test_resolutions_rise_from_base_to_finest(levels: int, base: int, more: int) -> None:
    result = level_resolutions(levels, base, base + more)
    assert result[0] == base
    assert result[-1] == base + more
    assert result == sorted(result)


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
