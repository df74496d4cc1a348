"""Methods that subdivide space: depths that follow the signal."""

from __future__ import annotations

import pytest

from alfilter.encodings import AdaptiveBlocks, Octree
from alfilter.methods import build


@pytest.mark.parametrize(("samples", "cell", "levels"), [((64, 16), 2.0, 4), ((64, 16), 4.0, 3), ((8, 8), 2.0, 1)])
def test_the_finest_cell_of_an_octree_has_that_many_samples(samples: tuple[int, int], cell: float, levels: int) -> None:
    field = build("octree", in_dim=2, out_dim=1, samples=samples, levels=None, cell=cell, base=4, width=4, features=2)
    assert isinstance(field.encoding, Octree)
    assert len(field.encoding.layout.cells) == levels
    assert max(samples) <= cell * 4 * 2 ** (levels - 1)


def test_the_coarsest_level_has_room_whatever_the_capacity() -> None:
    field = build("octree", in_dim=3, out_dim=1, levels=2, base=4, capacity=2, width=4, features=1)
    assert sum(p.numel() for p in field.encoding.parameters()) == 5**3


@pytest.mark.parametrize(("in_dim", "nodes"), [(1, 8), (3, 8), (4, 4)])
def test_blocks_have_as_many_nodes_as_their_dimension_allows(in_dim: int, nodes: int) -> None:
    field = build("acorn", in_dim=in_dim, out_dim=1, tiles=4, deepest=1, width=4, depth=1, features=2, decoder=4)
    assert isinstance(field.encoding, AdaptiveBlocks)
    assert field.encoding.patch == nodes
