"""Tasks of a fixed set of samples: a step's pieces are the batch, each sample once, on grids and on points alike."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from alfilter.signals import GridSignal, PointSignal
from alfilter.tasks import ImageTask, PointTask
from alfilter.tasks.sampled import SampledTask


def grid(observe: str = "all") -> ImageTask:
    return ImageTask(GridSignal(np.random.default_rng(0).integers(0, 255, (6, 7, 1), dtype=np.uint8)), observe)


def points() -> PointTask:
    rng = np.random.default_rng(0)
    return PointTask(PointSignal(rng.random((42, 2)), rng.random((42, 1))))


@given(batch=st.one_of(st.none(), st.integers(1, 60)), micro=st.integers(1, 50), step=st.integers(0, 20))
def test_the_pieces_of_a_step_are_its_batch(batch: int | None, micro: int, step: int) -> None:
    for task in (grid(), points()):
        rows = [torch.arange(task.count)[piece] for piece in task.pieces(step, 3, batch, micro)]
        assert all(len(piece) <= micro for piece in rows)
        together = torch.cat(rows)
        assert len(together) == len(set(together.tolist())) == task.batch_size(batch) == min(batch or 42, 42)


@pytest.mark.parametrize("task", [grid("every:2"), points()], ids=["grid", "points"])
def test_a_filling_is_computed_once_and_only_where_there_are_gaps(task: SampledTask) -> None:
    filling = task.filling()
    assert filling is not None
    assert task.filling() is filling
    assert grid().filling() is None


def test_quality_is_a_psnr_of_values_from_zero_to_one() -> None:
    assert points().quality(1e-3) == grid().quality(1e-3) == pytest.approx(30.0)
    low, high = grid().output_range()
    assert (low.tolist(), high.tolist()) == ([0], [1])
