"""The tiling by an integer program: whole, within its budget, and the best there is."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.core.tiling import Costs, allocate, cell_map, expected_costs, families, uniform_tiling


def test_a_uniform_tiling_covers_the_domain() -> None:
    tiles = uniform_tiling(2, 2)
    assert len(tiles) == 16
    assert sorted(cell_map(tiles, 3).reshape(-1).tolist()) == sorted(list(range(16)) * 4)


def test_families_are_whole() -> None:
    """Four quarters of one block are a family; three of another are none."""
    tiles = np.array(
        [[2, 0, 0], [2, 0, 1], [2, 1, 0], [2, 1, 1], [2, 2, 2], [2, 2, 3], [2, 3, 2], [1, 0, 1], [1, 1, 0]]
    )
    assert families(tiles) == [[0, 1, 2, 3]]


def test_costs_by_hand() -> None:
    """In 1-D at level 1 a block of mean error 4 has volume ½: 2 as it is, 0.48 · 2 split, 2.2 · (2+1) merged."""
    costs = expected_costs(uniform_tiling(1, 1), np.array([4.0, 2.0]))
    assert costs.stay.tolist() == [2.0, 1.0]
    assert costs.split.tolist() == pytest.approx([0.96, 0.48])
    assert costs.merge.tolist() == pytest.approx([6.6])


def test_the_only_room_goes_to_the_largest_error() -> None:
    """Four blocks, room for seven: one split; the second-largest error has to wait."""
    tiles = uniform_tiling(1, 2)
    result = allocate(tiles, expected_costs(tiles, np.array([4.0, 8.0, 1.0, 0.0])), budget=7, deepest=5)
    assert result[:3].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert sorted(result[3:].tolist()) == [[2, 0, 2], [2, 0, 3], [2, 1, 2], [2, 1, 3]]


def test_a_quiet_family_makes_room_for_a_split() -> None:
    """Seven blocks of seven allowed: the four without error merge, and the one with error is split."""
    tiles = np.array([[1, 0, 1], [1, 1, 0], [1, 1, 1], [2, 0, 0], [2, 0, 1], [2, 1, 0], [2, 1, 1]])
    errors = np.array([0.1, 5.0, 0.1, 0.0, 0.0, 0.0, 0.0])
    result = allocate(tiles, expected_costs(tiles, errors), budget=7, deepest=5)
    assert sorted(result.tolist()) == [
        *([1, 0, 0], [1, 0, 1], [1, 1, 1]),
        *([2, 2, 0], [2, 2, 1], [2, 3, 0], [2, 3, 1]),
    ]


def test_the_deepest_level_is_not_split() -> None:
    tiles = uniform_tiling(1, 1)
    result = allocate(tiles, expected_costs(tiles, np.array([1.0, 1.0])), budget=99, deepest=1)
    assert result.tolist() == tiles.tolist()


def test_a_tiling_above_its_budget_stays() -> None:
    tiles = uniform_tiling(2, 1)
    assert allocate(tiles, expected_costs(tiles, np.ones(4)), budget=1, deepest=4).tolist() == tiles.tolist()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3), st.integers(0, 10_000), st.integers(4, 40))
def test_every_place_is_covered_once_within_the_budget(dims: int, seed: int, budget: int) -> None:
    draw = np.random.default_rng(seed)
    level = 1 if 2**dims <= budget else 0
    tiles, deepest = uniform_tiling(level, dims), 4
    for _ in range(4):
        tiles = allocate(tiles, expected_costs(tiles, draw.exponential(size=len(tiles)) ** 3), budget, deepest)
        assert len(tiles) <= budget
        cover = cell_map(tiles, deepest)
        volumes = 2.0 ** (-dims * tiles[:, 0])
        assert volumes.sum() == 1  # no place twice …
        assert cover.min() == 0  # … if none is missed
        shares = np.bincount(cover.reshape(-1), minlength=len(tiles)) / cover.size
        assert shares.tolist() == volumes.tolist()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 9))
def test_no_other_choice_is_better(seed: int, budget: int) -> None:
    """Against all 3^n choices of a tiling of five blocks in one dimension."""
    tiles = np.array([[2, 0], [2, 1], [2, 2], [3, 6], [3, 7]])
    costs = expected_costs(tiles, np.random.default_rng(seed).random(5))
    before = _value(tiles, allocate(tiles, costs, budget, 4), costs)
    best = min((value for value, count in _all_choices(tiles, costs) if count <= budget), default=costs.stay.sum())
    assert before == pytest.approx(best, rel=1e-5)


def _all_choices(tiles: Any, costs: Costs) -> list[tuple[float, int]]:
    groups, results = families(tiles), []
    family = {block: number for number, group in enumerate(groups) for block in group}
    for moves in product(("stay", "split", "merge"), repeat=len(tiles)):
        merging = {family.get(b) for b, move in enumerate(moves) if move == "merge"}
        if None in merging or any(moves[b] != "merge" for n in merging if n is not None for b in groups[n]):
            continue
        value = sum(getattr(costs, m)[b] for b, m in enumerate(moves) if m != "merge")
        count = sum({"stay": 1, "split": 2, "merge": 0}[m] for m in moves) + len(merging)
        results.append((value + sum(costs.merge[n] for n in merging if n is not None), count))
    return results


def _value(tiles: Any, allocation: Any, costs: Costs) -> float:
    """What a result costs, read back from where each block went."""
    new = {tuple(tile) for tile in allocation.tolist()}
    total = 0.0
    for position, tile in enumerate(tiles.tolist()):
        if tuple(tile) in new:
            total += costs.stay[position]
        elif (tile[0] + 1, 2 * tile[1]) in new:
            total += costs.split[position]
    return total + sum(
        costs.merge[n] for n, g in enumerate(families(tiles)) if (tiles[g[0]][0] - 1, tiles[g[0]][1] // 2) in new
    )
