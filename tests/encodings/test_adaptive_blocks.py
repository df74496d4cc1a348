"""ACORN's blocks: encoded by a network, read within the block, re-allocated while training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import alfilter
from alfilter.core.tiling import cell_map
from alfilter.encodings import AdaptiveBlocks, Situation
from alfilter.errors import UserError
from alfilter.ops import interpolate
from alfilter.signals import GridSignal
from alfilter.tasks import GridTask
from alfilter.testing import check_encoding


def blocks(in_dim: int = 2, **options: Any) -> AdaptiveBlocks:
    sizes: dict[str, Any] = {"tiles": 20, "deepest": 3, "patch": 3, "features": 2, "width": 6, "depth": 2, **options}
    return AdaptiveBlocks(in_dim, **sizes, generator=torch.Generator().manual_seed(0))


def corner_task() -> GridTask:
    """16 × 16 samples with noise in the first quarter only."""
    picture = np.full((16, 16, 1), 0.5, np.float32)
    picture[:8, :8] = np.random.default_rng(0).random((8, 8, 1))
    return GridTask(GridSignal(picture))


def fields(every: int = 5) -> alfilter.methods.Field:
    options: dict[str, Any] = {"tiles": 10, "patch": 3, "deepest": 3, "features": 4, "width": 16, "depth": 2}
    return alfilter.build("acorn", in_dim=2, out_dim=1, samples=(16, 16), every=every, **options)


@pytest.mark.parametrize("in_dim", [1, 2, 3, 4])
def test_contract(in_dim: int) -> None:
    check_encoding(blocks(in_dim, deepest=2))


def test_the_start_is_the_finest_uniform_tiling_that_fits() -> None:
    assert len(blocks(tiles=15).tiling()) == 4
    assert len(blocks(tiles=16).tiling()) == 16
    assert len(blocks(tiles=1000).tiling()) == 64  # no deeper than asked for


def test_places_within_a_block_by_hand() -> None:
    """Two halves of [-1, 1]: 0.25 is a quarter into the second, -0.5 in its own coordinates."""
    index, local = blocks(1, tiles=2).locate(torch.tensor([[0.25], [-1.0], [1.0]]))
    assert index.tolist() == [1, 0, 1]
    assert local.tolist() == [[-0.5], [-1.0], [1.0]]


def test_features_are_the_blocks_own_grid_interpolated() -> None:
    encoding = blocks()
    x = torch.rand(50, 2, generator=torch.Generator().manual_seed(1)) * 2 - 1
    index, local = encoding.locate(x)
    grids = encoding.block_features().view(20, 3, 3, 2)
    expected = torch.stack([interpolate(grids[i], place) for i, place in zip(index, local, strict=True)])
    torch.testing.assert_close(encoding(x), expected, rtol=1e-5, atol=1e-5)


def test_training_moves_blocks_to_the_error_and_keeps_them_whole() -> None:
    field, task = fields(), corner_task()
    encoding = field.encoding
    assert isinstance(encoding, AdaptiveBlocks)
    alfilter.fit(field, task, steps=60, batch=None, lr=1e-2, lr_encoding=1e-3)
    tiles = encoding.tiling().numpy().astype(np.int64)
    assert len(tiles) <= 10
    assert (2.0 ** (-2 * tiles[:, 0])).sum() == 1
    assert cell_map(tiles, 3).min() == 0
    noisy = ((tiles[:, 1:] / 2.0 ** tiles[:, :1]) < 0.5).all(-1)
    assert tiles[noisy, 0].min() > tiles[~noisy, 0].max()


def test_blocks_rest_at_the_start_in_between_and_in_the_last_fifth() -> None:
    encoding = blocks(every=10)
    before = encoding.tiling().clone()

    def fail() -> Any:
        raise AssertionError("the error was asked for")

    for step, progress in ((0, 0.0), (7, 0.3), (20, 0.81)):
        encoding.adapt(Situation(step, progress, fail, fail))
    assert torch.equal(encoding.tiling(), before)


def test_a_run_that_moves_its_blocks_resumes_bit_identically(tmp_path: Path) -> None:
    straight, stopped, resumed = fields(2), fields(2), fields(2)
    setting: dict[str, Any] = {"steps": 8, "batch": 64, "micro": 32, "seed": 3}
    alfilter.fit(straight, corner_task(), **setting)
    path, done = tmp_path / "checkpoint.safetensors", list[int]()
    alfilter.fit(stopped, corner_task(), **setting, checkpoint=path, on_progress=lambda p: done.append(p.step),
                 should_stop=lambda: len(done) >= 4)  # fmt: skip
    assert len(done) == 4  # right after an allocation
    alfilter.fit(resumed, corner_task(), **setting, checkpoint=path)
    for name, value in straight.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name]), name
    assert not torch.equal(straight.encoding.get_buffer("blocks"), fields().encoding.get_buffer("blocks"))


def test_a_model_file_keeps_its_blocks(tmp_path: Path) -> None:
    field = fields(2)
    alfilter.fit(field, corner_task(), steps=6)
    alfilter.save(field, tmp_path / "m.safetensors")
    x: Tensor = torch.rand(9, 2) * 2 - 1
    assert torch.equal(alfilter.load(tmp_path / "m.safetensors")(x), field(x))


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(UserError, match="12 halvings in 2-D are too many cells"):
        blocks(deepest=12)


def count_beyond(encoding: AdaptiveBlocks) -> None:
    encoding.count.fill_(21)


def block_beyond(encoding: AdaptiveBlocks) -> None:
    encoding.blocks[3, 1] = 4  # of level 2, which has cells 0 to 3


def level_beyond(encoding: AdaptiveBlocks) -> None:
    encoding.blocks[3, 0] = 40


def cover_beyond(encoding: AdaptiveBlocks) -> None:
    encoding.cover[5] = 20


def a_hole(encoding: AdaptiveBlocks) -> None:
    encoding.count.fill_(15)
    encoding.cover[encoding.cover == 15] = -1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (count_beyond, "the number of blocks is between 1 and 20, got 21"),
        (block_beyond, "a block lies outside the domain"),
        (level_beyond, "a block lies outside the domain"),
        (cover_beyond, "the map from cells to blocks is not that of the blocks"),
        (a_hole, "leave a part of the domain uncovered"),
    ],
)
def test_what_is_no_tiling_is_refused(damage: Callable[[AdaptiveBlocks], None], message: str) -> None:
    encoding = blocks()
    encoding.validate()
    damage(encoding)
    with pytest.raises(UserError, match=message):
        encoding.validate()
