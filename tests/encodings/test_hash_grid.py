"""Instant-NGP's encoding: exact where it is dense, shared where it is hashed."""

from __future__ import annotations

import pytest
import torch

import alfilter
from alfilter.core.hash_grid import spatial_hash
from alfilter.encodings import HashGrid
from alfilter.errors import UserError
from alfilter.ops import interpolate
from alfilter.testing import check_encoding


def grid(in_dim: int = 2, **options: int) -> HashGrid:
    sizes = {"levels": 3, "features": 2, "base": 2, "finest": 8, "table": 32, **options}
    return HashGrid(in_dim, **sizes, bound=1.0, generator=torch.Generator().manual_seed(0))  # type: ignore[arg-type]


@pytest.mark.parametrize("in_dim", [1, 2, 3, 4])
def test_contract(in_dim: int) -> None:
    check_encoding(grid(in_dim))


def test_formula_by_hand() -> None:
    """One level of two cells over [-1, 1]: at -0.5, half-way between the first two nodes; at 0.5, the last two."""
    encoding = HashGrid(1, levels=1, features=2, base=2, finest=2, table=16)
    with torch.no_grad():
        encoding.table.copy_(torch.tensor([[0.0, 1.0], [2.0, 3.0], [10.0, -1.0]]))
    assert encoding(torch.tensor([[-0.5], [0.5], [1.0]])).tolist() == [[1.0, 2.0], [6.0, 1.0], [10.0, -1.0]]


@pytest.mark.parametrize("in_dim", [1, 2, 3, 4])
def test_dense_levels_are_exact(in_dim: int) -> None:
    encoding = grid(in_dim, table=1 << 13)
    x = torch.rand(50, in_dim) * 2 - 1
    for number, level in enumerate(encoding.by_level(x).unbind(-2)):
        cells = encoding.layout.cells[number]
        assert not encoding.layout.hashed[number]
        expected = interpolate(encoding.level(number).view(*(n + 1 for n in cells), 2), x)
        torch.testing.assert_close(level, expected, rtol=0, atol=1e-6)


def test_a_hashed_level_reads_the_rows_of_its_hash() -> None:
    encoding = grid(2)
    assert encoding.layout.hashed == (False, False, True)
    node = torch.tensor([3, 5])  # of 8 cells: at -1 + 2·3/8, -1 + 2·5/8
    result = encoding.by_level(node / 4 - 1)[2]
    assert torch.equal(result, encoding.level(2)[spatial_hash(node, 32)])


def test_nodes_that_collide_share_their_features() -> None:
    encoding = grid(2)
    nodes = torch.cartesian_prod(torch.arange(9), torch.arange(9))
    rows = spatial_hash(nodes, 32)
    first, second = nodes[rows == rows[0]][:2]
    assert torch.equal(encoding.by_level(first / 4 - 1)[2], encoding.by_level(second / 4 - 1)[2])


def test_the_source_image_setting_is_dense_at_512() -> None:
    """T = 2^24 rows per level is more than a picture of 512 × 512 can use: every level is a plain grid."""
    field = alfilter.build("hash-grid", in_dim=2, out_dim=3, samples=(512, 512))
    assert isinstance(field.encoding, HashGrid)
    assert field.encoding.layout.cells[0] == (16, 16)
    assert field.encoding.layout.cells[-1] == (256, 256)
    assert not any(field.encoding.layout.hashed)


def test_more_coordinates_than_primes_are_refused() -> None:
    with pytest.raises(UserError, match="defined for 1 to 4 coordinates, got 5"):
        alfilter.build("hash-grid", in_dim=5, out_dim=1, samples=(2,) * 5)


def test_rows_nobody_reads_keep_their_start() -> None:
    """A short training of one corner of the domain: with ε = 1e-15 a row without a gradient still does not move."""
    field = alfilter.build("hash-grid", in_dim=2, out_dim=3, preset="default", samples=(8, 12))
    assert alfilter.methods.training("hash-grid", "default").epsilon == 1e-15
    assert alfilter.methods.training("hash-grid", "source").beta2 == 0.99
    assert bool(field.encoding.get_parameter("table").abs().max() <= 1e-4)
