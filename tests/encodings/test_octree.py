"""NGLOD's octree: fine where the signal asks for it, silent elsewhere, every level of detail a picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import alfilter
from alfilter.encodings import Octree, Situation
from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.signals import GridSignal, grid_coords
from alfilter.tasks import GridTask
from alfilter.testing import check_encoding


def tree(in_dim: int = 2, **options: Any) -> Octree:
    sizes: dict[str, Any] = {"levels": 3, "base": 2, "features": 2, "capacity": 90, **options}
    return Octree(in_dim, **sizes, generator=torch.Generator().manual_seed(0))


def shown(x: Tensor, values: Tensor) -> Situation:
    """The start of a training on these samples, in two pieces."""

    def samples() -> Iterator[tuple[Tensor, Tensor]]:
        half = len(x) // 2
        yield x[:half], values[:half]
        yield x[half:], values[half:]

    return Situation(0, 0.0, samples, samples)


def corner_detail() -> tuple[Tensor, Tensor]:
    """16 × 16 samples: noise in the first quarter, one value elsewhere."""
    values = torch.zeros(16, 16, 1)
    values[:8, :8] = torch.rand(8, 8, 1, generator=torch.Generator().manual_seed(1))
    return grid_coords((16, 16)), values.view(-1, 1)


@pytest.mark.parametrize("in_dim", [1, 2, 3, 4])
def test_contract(in_dim: int) -> None:
    check_encoding(tree(in_dim))


def test_contract_after_it_was_built_from_a_signal() -> None:
    encoding = tree()
    encoding.adapt(shown(*corner_detail()))
    check_encoding(encoding)


def test_formula_by_hand() -> None:
    """One level of one cell in 1-D: [x, the line between two nodes]."""
    encoding = tree(1, levels=1, base=1, features=1, capacity=2)
    with torch.no_grad():
        encoding.table.copy_(torch.tensor([[2.0], [6.0]]))
    assert encoding(torch.tensor([[-0.5]])).tolist() == [[-0.5, 3.0]]


def test_detail_is_refined_and_nothing_else() -> None:
    encoding = tree()
    encoding.adapt(shown(*corner_detail()))
    assert bool(encoding.refined(0).all())
    finest = encoding.refined(2)  # 8 × 8 cells
    assert bool(finest[:4, :4].all())
    assert not bool(finest[5:].any())  # a level reaches one cell beyond its own
    assert not bool(finest[:, 5:].any())


def test_finer_levels_add_only_inside_refined_cells() -> None:
    encoding = tree()
    encoding.adapt(shown(*corner_detail()))
    x = torch.rand(500, 2, generator=torch.Generator().manual_seed(2)) * 2 - 1
    for level in (1, 2):
        cells = encoding.refined(level)
        place = ((x + 1) / 2 * len(cells)).long()
        inside = cells[place[:, 0], place[:, 1]]
        adds = (encoding.by_level(x)[:, level] != 0).any(-1)
        assert torch.equal(adds, inside)
        assert 0 < int(inside.sum()) < 500


def test_the_end_of_refinement_is_no_jump() -> None:
    encoding = tree(capacity=60)
    encoding.adapt(shown(*corner_detail()))
    with torch.no_grad():
        encoding.table.mul_(100)  # features of about one
    line = torch.stack((torch.linspace(-1, 1, 4001), torch.full((4001,), -0.3)), -1)
    jumps = encoding.by_level(line).diff(dim=0).abs().amax()
    assert jumps.item() < 0.02


def test_a_surface_is_refined_in_three_dimensions() -> None:
    x = torch.rand(20_000, 3, generator=torch.Generator().manual_seed(3)) * 2 - 1
    distance = x.norm(dim=-1, keepdim=True) - 0.6
    encoding = tree(3, levels=4, capacity=2200)  # of 27 + 125 + 729 + 4913 nodes
    encoding.adapt(shown(x, distance))
    cells = encoding.refined(3)  # 16³
    centres = (torch.stack(torch.meshgrid(*[torch.arange(16)] * 3, indexing="ij"), -1) + 0.5) / 8 - 1
    far = (centres.norm(dim=-1) - 0.6).abs()
    assert bool(cells[far < 0.3].all())
    assert not bool(cells[far > 0.55].any())
    assert encoding.used() <= 2200


def test_a_volume_without_a_zero_is_refined_by_detail() -> None:
    x = torch.rand(3000, 3, generator=torch.Generator().manual_seed(3)) * 2 - 1
    values = ((x < 0).all(-1, keepdim=True) * torch.rand(3000, 1)).float()
    order = values[:, 0].argsort(descending=True)  # the second piece holds nothing but zeros
    x, values = x[order], values[order]
    encoding = tree(3, capacity=300)
    encoding.adapt(shown(x, values))
    assert not bool(encoding.refined(2)[6:].any())
    assert bool(encoding.refined(2)[:3, :3, :3].all())


def test_rows_belong_to_one_node_each() -> None:
    encoding = tree()
    encoding.adapt(shown(*corner_detail()))
    rows = encoding.rows[encoding.rows >= 0]
    assert len(rows.unique()) == len(rows) == encoding.used() <= 90


def test_only_the_start_builds_the_tree() -> None:
    encoding = tree()
    before = encoding.rows.clone()
    situation = shown(*corner_detail())
    encoding.adapt(Situation(7, 0.5, situation.samples, situation.errors))
    assert torch.equal(encoding.rows, before)


def test_every_level_of_detail_is_a_picture_and_finer_ones_are_better() -> None:
    draw = np.random.default_rng(0)
    task = GridTask(GridSignal(draw.random((16, 16, 1)).astype(np.float32)))
    field = alfilter.build("octree", in_dim=2, out_dim=1, samples=(16, 16), width=16, levels=3, base=2, features=8)
    alfilter.fit(field, task, steps=150, batch=None, lr=1e-2, lr_encoding=1e-2)
    target = task.target()
    errors = []
    for level in range(3):
        picture = sample_grid(lambda x, level=level: field.outputs(x)[level], (16, 16))  # type: ignore[misc]
        errors.append((picture - target).square().mean().item())
    assert errors[0] > errors[1] > errors[2]
    assert torch.equal(picture, sample_grid(field, (16, 16)))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"capacity": 8}, "the first level alone takes 9 rows, got 8; give more rows"),
        ({"levels": 12, "base": 64}, "12 levels from 64 cells have .* nodes in 2-D; ask for fewer levels"),
    ],
)
def test_what_does_not_fit_is_explained(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError, match=text):
        tree(**options)


@pytest.mark.parametrize("row", [-2, 90, 2_000_000_000])
def test_rows_that_are_not_in_the_table_are_refused(row: int) -> None:
    encoding = tree()
    encoding.validate()
    encoding.rows[7] = row
    with pytest.raises(UserError, match=r"a node's row is -1 or below 90, got "):
        encoding.validate()
