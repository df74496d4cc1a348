"""Which cells are refined: sums over cells by hand, a budget that is kept, children only of refined cells."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.core.octree import (
    cell_minima,
    cell_of,
    cell_sums,
    coarsen,
    detail,
    nearness,
    reached_cells,
    refine,
    touched_nodes,
)

X = torch.tensor([[-0.9], [-0.6], [0.2], [1.0]])


def test_cells_by_hand() -> None:
    assert cell_of(X, 4).tolist() == [0, 0, 2, 3]
    assert cell_of(torch.tensor([[-1.0, 1.0, 0.0]]), 4).tolist() == [0 * 16 + 3 * 4 + 2]


def test_sums_and_minima_by_hand() -> None:
    values = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    assert cell_sums(X, values, 4).tolist() == [[3.0, 0.0, 3.0, 4.0]]
    assert cell_minima(X, values[:, 0], 2).tolist() == [1.0, 3.0]
    assert coarsen(cell_sums(X, values, 4)[0], "sum").tolist() == [3.0, 7.0]
    assert coarsen(torch.tensor([[1.0, 5.0], [0.5, 2.0]]), "amin").tolist() == [[0.5]]


def test_detail_is_the_squared_error_of_one_value() -> None:
    """Values 1 and 2 in one cell: mean 1.5, 2 · 0.25 = 0.5."""
    values = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    parts = torch.cat((torch.ones(4, 1), values.square(), values), -1)
    count, square, total = cell_sums(X, parts, 4)
    assert detail(count, total[None], square).tolist() == [0.5, 0.0, 0.0, 0.0]


def test_nearness_by_hand() -> None:
    """Of two cells per axis in 2-D the diagonal is √2: a distance of √2 may just be reached."""
    assert nearness(torch.tensor([[2**0.5]]), 2).item() == pytest.approx(-1.0)


@given(st.lists(st.booleans(), min_size=1, max_size=9))
def test_nodes_reach_the_cells_they_come_from(marked: list[bool]) -> None:
    cells = torch.tensor(marked)
    assert bool((reached_cells(touched_nodes(cells)) | ~cells).all())


def test_one_cell_is_refined_by_hand() -> None:
    """Two cells; the second has the larger score, and rows for three nodes more: it gets its two halves."""
    levels = refine([torch.tensor([1.0, 2.0])], base=2, floor=0.0, capacity=3 + 3)
    assert [level.tolist() for level in levels] == [[True] * 3, [False, False, True, True, True]]
    nothing = refine([torch.tensor([1.0, 2.0])], base=2, floor=0.0, capacity=5)
    assert not nothing[1].any()
    everything = refine([torch.tensor([1.0, 2.0])], base=2, floor=0.0, capacity=8)
    assert everything[1].all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(9, 120))
def test_the_budget_is_kept_and_children_have_refined_parents(seed: int, capacity: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    scores = [torch.rand((2 * 2**level,) * 2, generator=draw) for level in range(2)]
    levels = refine(scores, base=2, floor=0.0, capacity=capacity)
    assert sum(int(level.sum()) for level in levels) <= capacity
    assert levels[0].all()
    inner = levels[2][1:-1:2, 1:-1:2]  # the middle of every cell of level 1: marked where it was refined
    assert bool((touched_nodes(inner) <= levels[1]).all())
