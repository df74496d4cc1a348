"""Tilings of [-1, 1]^d by blocks of a dyadic tree, and the integer program that re-allocates them to the error.

A block is (level, i_1, …, i_d): cell i of 2^level cells per axis. A tiling is an array of blocks (n, 1+d).
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Blocks = NDArray[np.int64]

WORSE, BETTER = 0.2, -0.02  # the source's α and β: beyond what the volume says, merging costs and splitting gains


class Costs(NamedTuple):
    """Expected squared error, times volume, of every block left alone, split, and of every complete family merged."""

    stay: NDArray[np.float64]  # (n,)
    split: NDArray[np.float64]  # (n,)
    merge: NDArray[np.float64]  # (families,)


def uniform_tiling(level: int, dims: int) -> Blocks:
    """All blocks of one level.

    >>> uniform_tiling(1, 1).tolist()
    [[1, 0], [1, 1]]
    """
    return np.array([(level, *cell) for cell in product(range(2**level), repeat=dims)], np.int64)


def families(tiles: Blocks) -> list[list[int]]:
    """The positions of every 2^d blocks that have one parent, where all of them are there.

    >>> families(np.array([[1, 1], [2, 0], [2, 1]]))
    [[1, 2]]
    """
    dims = tiles.shape[1] - 1
    groups: dict[tuple[int, ...], list[int]] = {}
    for position, (level, *cell) in enumerate(tiles.tolist()):
        if level > 0:
            groups.setdefault((level, *(i // 2 for i in cell)), []).append(position)
    return [group for group in groups.values() if len(group) == 2**dims]


def expected_costs(tiles: Blocks, errors: NDArray[np.float64]) -> Costs:
    """What the source expects of a block of volume v and mean error e: v e, (2^-d+β) v e split, Σ (2^d+α) v e merged.

    errors: (n,) mean squared error of every block.
    """
    dims = tiles.shape[1] - 1
    stay = errors * 2.0 ** (-dims * tiles[:, 0])
    merge = [(2**dims + WORSE) * stay[group].sum() for group in families(tiles)]
    return Costs(stay, (2.0**-dims + BETTER) * stay, np.array(merge))


def allocate(tiles: Blocks, costs: Costs, budget: int, deepest: int) -> Blocks:
    """The tiling of least expected error within one split or merge of the present one and at most `budget` blocks.

    Every block stays, is split in 2^d, or is merged with its family: one of three, a family all together, none deeper
    than `deepest`; Σ stay + 2^d split + merged families ≤ budget. Solved as a 0/1 program by HiGHS (the source uses a
    licensed solver), to a proven gap of 1e-6. Ends on itself when nothing is better.

    >>> tiles = uniform_tiling(1, 1)
    >>> allocate(tiles, expected_costs(tiles, np.array([1.0, 0.0])), budget=3, deepest=4).tolist()
    [[1, 1], [2, 0], [2, 1]]
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    count, dims, groups = len(tiles), tiles.shape[1] - 1, families(tiles)
    cost = np.concatenate((costs.stay, costs.split, costs.merge))
    high = np.ones(len(cost))
    high[count : 2 * count] = tiles[:, 0] < deepest
    one_of_three: tuple[list[int], list[int]] = ([], [])  # rows: blocks; columns: stay, split, the family's merge
    for block in range(count):
        one_of_three[0].extend((block, block))
        one_of_three[1].extend((block, count + block))
    for number, group in enumerate(groups):
        one_of_three[0].extend(group)
        one_of_three[1].extend([2 * count + number] * len(group))
    choice = csr_array((np.ones(len(one_of_three[0])), one_of_three), shape=(count, len(cost)))
    weight = np.concatenate((np.ones(count), np.full(count, 2.0**dims), np.ones(len(groups))))
    limits: list[Any] = [LinearConstraint(choice, 1, 1), LinearConstraint(weight[None], -np.inf, budget)]
    scale = max(float(np.abs(cost).max()), 1e-300)
    solution = milp(
        cost / scale,  # the solver's tolerances are absolute
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, high),
        constraints=limits,
        options={"mip_rel_gap": 1e-6},
    )
    if solution.x is None:  # more blocks than the budget: nothing within one move fits
        return tiles
    chosen = solution.x > 0.5
    return _moved(
        tiles,
        chosen[:count],
        chosen[count : 2 * count],
        [g for g, on in zip(groups, chosen[2 * count :], strict=True) if on],
    )


def _moved(tiles: Blocks, stay: Any, split: Any, merged: list[list[int]]) -> Blocks:
    """The tiling after its moves: what stays first, in its order."""
    dims = tiles.shape[1] - 1
    halves = [(level + 1, *(2 * i + c for i, c in zip(cell, corner, strict=True)))
              for level, *cell in tiles[split].tolist() for corner in product((0, 1), repeat=dims)]  # fmt: skip
    parents = [(tiles[group[0]][0] - 1, *(tiles[group[0]][1:] // 2)) for group in merged]
    new = np.array([*halves, *parents], np.int64).reshape(-1, 1 + dims)
    return np.concatenate((tiles[stay], new))


def cell_map(tiles: Blocks, deepest: int) -> NDArray[np.int32]:
    """The position of the block over every cell of the deepest level: (2^deepest, …), -1 where there is none.

    >>> cell_map(np.array([[1, 1], [2, 0], [2, 1]]), 2).tolist()
    [1, 2, 0, 0]
    """
    dims = tiles.shape[1] - 1
    positions = np.full((2**deepest,) * dims, -1, np.int32)
    for position, (level, *cell) in enumerate(tiles.tolist()):
        size = 2 ** (deepest - level)
        positions[tuple(slice(i * size, (i + 1) * size) for i in cell)] = position
    return positions
