"""The source's samples, weights and loss; blocks that depend on the seed and their number alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.processor import flushes_denormals, shrink
from tests.support.shapes import ball, cube

from alfilter.errors import UserError
from alfilter.geometry.distance import signed_distance
from alfilter.geometry.distance_worker import DistanceWorker
from alfilter.geometry.strays import Clearance
from alfilter.methods import build
from alfilter.runtime.thread_pool import flushed_denormals
from alfilter.signals import GridSignal, ShapeSignal
from alfilter.tasks import SdfTask
from alfilter.tasks.shape_sampling import SAMPLINGS, scatter
from alfilter.training import fit, loop
from alfilter.training.stopping import measured_quality


def small(**options: int) -> SdfTask:
    return SdfTask(ShapeSignal.from_mesh(*ball(levels=3)), **{"block": 512, "reuse": 4, "window": 2, **options})


def opened(levels: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """A ball that lacks a face, whose distances libigl computes."""
    vertices, faces = ball(levels=levels)
    return vertices, np.ascontiguousarray(faces[1:])


def exact(points: torch.Tensor) -> torch.Tensor:
    """The distance of the ball in the domain, whose radius is 0.9."""
    return torch.linalg.vector_norm(points, dim=1, keepdim=True) - 0.9


def test_samples_are_coarse_and_fine_in_turn_and_stay_in_the_domain() -> None:
    signal = ShapeSignal.from_mesh(*cube())
    points = scatter(signal, 40_000, np.random.default_rng(0))
    assert np.abs(points).max() <= 1
    distance = np.abs(signal.distance(points))
    assert np.median(distance[1::2]) < 0.005 < 0.05 < np.median(distance[::2])
    noise = np.random.default_rng(0).laplace(size=1000)  # the scale of a Laplace is its mean absolute value
    assert np.abs(noise).mean() == pytest.approx(1, abs=0.1)


def test_targets_are_distances_and_weights() -> None:
    task = small()
    x, y = task.load(task.pieces(0, 0, 256, 256)[0])
    assert y[:, 0].numpy() == pytest.approx(task.signal.distance(x.double().numpy()), abs=1e-6)
    assert (y[::2, 1] == torch.tensor(0.01)).all()
    assert (y[1::2, 1] == 1).all()


def test_the_loss_is_the_source_s_in_the_source_s_units() -> None:
    target = torch.tensor([[0.2, 0.01], [0.2, 1.0]])
    assert small().loss(torch.zeros(2, 1), target).item() == pytest.approx(0.01 * 0.1**2 + 0.1**2)
    assert small().quality(0.5e-6) == pytest.approx(60)


def loaded(task: SdfTask, step: int, seed: int = 3) -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [task.load(piece) for piece in task.pieces(step, seed, 128, 64)]


def test_a_step_is_a_function_of_seed_and_step_alone() -> None:
    straight, jumping = small(), small()
    walked = [loaded(straight, step) for step in range(60)]
    for step in (59, 5, 33):
        for (x, y), (u, v) in zip(loaded(jumping, step), walked[step], strict=True):
            assert torch.equal(x, u)
            assert torch.equal(y, v)
    assert not torch.equal(loaded(small(), 0, seed=4)[0][0], walked[0][0][0])
    assert len(straight._blocks) <= 3


def test_new_blocks_come_in() -> None:
    task = small()
    first = task.load(task.pieces(0, 0, 512, 512)[0])[0]
    later = task.load(task.pieces(20, 0, 512, 512)[0])[0]  # blocks 4 and 5 of 512 points, 4 steps each
    rows = {tuple(row) for row in first.tolist()}
    assert not rows & {tuple(row) for row in later.tolist()}


def test_graded_samples_have_a_scale_between_and_absolute_errors() -> None:
    task = small(block=1000)
    task.set_sampling("graded")
    x, y = task.load(task.pieces(0, 0, 1000, 1000)[0])
    assert y[:10, 1].tolist() == pytest.approx([1, 0.5, 1, 0.5, 1, 0.5, 1, 0.2, 1, 0.2])
    far = np.abs(task.signal.distance(x.double().numpy()))
    fine, middle, coarse = (np.median(far[np.isclose(y[:, 1], weight)]) for weight in (1, 0.5, 0.2))
    assert fine < 0.004 < middle < 0.04 < coarse
    target = torch.tensor([[0.2, 0.1], [0.2, 1.0]])
    assert task.loss(torch.zeros(2, 1), target).item() == pytest.approx(0.01 + 0.1)
    assert task.quality(0.5e-3) == pytest.approx(60)
    assert all(len(s.weights) == s.period for s in SAMPLINGS.values())


def test_the_end_of_a_fit_measures_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    task = small()
    field = build("siren", in_dim=3, out_dim=1, width=8, depth=1)
    measured: list[tuple[int, int]] = []
    plain = task._next
    monkeypatch.setattr(task, "_next", lambda *where, **words: measured.append(where) or plain(*where, **words))
    fit(field, task, steps=40, batch=128, seed=5)
    assert len(measured) == len(set(measured)) <= 5


def trained(monkeypatch: pytest.MonkeyPatch, **setting: Any) -> tuple[list[tuple[int, int]], list[torch.Tensor]]:
    """The blocks that a fit measures, by seed and number, and the parameters that it ends with."""
    task, field = small(block=4096, reuse=16), build("siren", in_dim=3, out_dim=1, width=8, depth=1, seed=1)
    measured: list[tuple[int, int]] = []
    plain = task._next
    monkeypatch.setattr(task, "_next", lambda *where, **words: measured.append(where) or plain(*where, **words))
    fit(field, task, steps=100, batch=2048, seed=5, **setting)
    return measured, [parameter.detach().clone() for parameter in field.parameters()]


def test_a_look_at_the_quality_measures_one_block_and_leaves_the_training_s(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, parameters = trained(monkeypatch)
    looks: list[float] = []
    monkeypatch.setattr(loop, "measured_quality", lambda *args: looks.append(measured_quality(*args)) or -math.inf)
    looked, same = trained(monkeypatch, until=-100.0)
    assert len(looks) == 5
    assert len(looked) == len(set(looked))
    assert len(plain) > 3
    assert set(looked) == {*plain, (5 ^ 0x60A1, 0)}
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(same, parameters, strict=True))


@flushes_denormals
def test_blocks_are_measured_where_denormals_are_numbers_though_a_step_flushes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task, seen = small(), []
    plain = task._next
    monkeypatch.setattr(task, "_next", lambda *where, **words: seen.append(shrink()) or plain(*where, **words))
    with flushed_denormals():
        task._ask(0, 1)  # the first thing that its thread does
        task._ready(0, 1)
    assert len(seen) == 1
    assert seen[0] > 0


def test_few_seeds_keep_their_blocks() -> None:
    task = small()
    for seed in range(9):
        loaded(task, 0, seed)
        loaded(task, 40, seed)
    assert {seed for seed, _ in task._blocks} == {6, 7, 8}
    assert len(task._blocks) <= 3 * 3


def test_batches_are_even() -> None:
    assert [small().batch_size(batch) for batch in (None, 7, 8192, 1)] == [10_000, 6, 8192, 2]


def test_the_worker_gives_the_same_numbers() -> None:
    vertices, faces = opened()
    points = np.random.default_rng(0).normal(size=(300, 3))
    worker = DistanceWorker(vertices, faces)
    for _ in range(2):
        assert np.array_equal(worker.distance(points), signed_distance(points, vertices, faces))
    worker._process.kill()
    worker._process.wait()
    with pytest.raises(OSError, match=r"ended|Broken pipe"):
        worker.distance(points)


def test_a_closed_mesh_needs_no_worker() -> None:
    task = small()
    points = np.random.default_rng(0).normal(size=(50, 3))
    assert np.array_equal(task._beside(points), task.distance(points))
    assert task._worker is None


def test_a_lost_worker_does_not_stop_the_run() -> None:
    task = SdfTask(ShapeSignal.from_mesh(*opened()))
    points = np.random.default_rng(0).normal(size=(50, 3))
    expected = task._beside(points)
    assert task._worker is not None
    task._worker._process.kill()
    task._worker._process.wait()
    assert np.array_equal(task._beside(points), expected)


def test_scores_of_the_exact_distance() -> None:
    scores = small().compare(exact, small().extract(exact, 96), points=20_000, grid=64)
    assert scores.metrics["iou"] > 0.98
    assert scores.metrics["sdf_near"] < 2e-3  # a ball of 1,280 faces is no ball
    assert scores.metrics["chamfer"] < 1.5 * scores.metrics["chamfer_floor"]
    empty = small().compare(lambda x: torch.ones(len(x), 1), None)
    assert empty.metrics["iou"] == 0


def test_a_cloud_is_fitted_and_judged_by_its_distance() -> None:
    points, _ = ball(levels=3)
    task = SdfTask(ShapeSignal.from_cloud(points, points), block=512)
    field = build("siren", in_dim=3, out_dim=1, width=8, depth=1)
    fit(field, task, steps=2, batch=64)
    assert set(task.evaluate(field).metrics) == {"sdf_near", "sdf_far"}


def test_training_learns_a_ball() -> None:
    task = small(block=4096)
    # a smooth body: ω0 = 30 stays in the valley f = 0, which looks good near the surface, for far longer
    field = build("siren", in_dim=3, out_dim=1, width=32, depth=2, omega=10.0)
    result = fit(field, task, steps=150, batch=1024, lr=3e-3, schedule="cosine", decay=0.05)
    assert result.history[-1]["psnr"] > result.history[0]["psnr"] + 10
    surface = task.extract(field, 48)
    assert np.linalg.norm(surface.vertices, axis=1).mean() == pytest.approx(0.9, abs=0.05)


def test_what_is_refused() -> None:
    with pytest.raises(UserError, match="SdfTask takes a ShapeSignal, got a signal of kind 'image'"):
        SdfTask(GridSignal(np.zeros((2, 2, 1), np.uint8)))
    with pytest.raises(UserError, match="observe=every:2 is for pictures"):
        SdfTask(ShapeSignal.from_mesh(*cube()), "every:2")


def test_a_model_keeps_where_its_shape_is_not() -> None:
    task = small()
    facts = task.facts()
    assert {name: value for name, value in facts.items() if name != "clearance"} == task.describe()
    clearance = Clearance.read(facts["clearance"])
    assert clearance is not None
    bound = clearance.at_least(np.array([[0.0, 0.0, 0.0], [0.9, 0.0, 0.0], [0.95, 0.95, 0.95]]))
    assert bound[0] == pytest.approx(0.45, abs=0.06)  # stored distances end at a half; the nearest node is 0.06 away
    assert bound[1] == 0
    assert bound[2] > 0.4


def test_strays_are_left_out_of_what_is_scored() -> None:
    def spoiled(points: torch.Tensor) -> torch.Tensor:
        return exact(points).minimum(torch.linalg.vector_norm(points - 0.9, dim=1, keepdim=True) - 0.06)

    task = small()
    surface = task.extract(spoiled, 48)
    assert surface.strays == 1
    assert task.compare(spoiled, surface, points=2000, grid=24).metrics["hausdorff"] < 0.01
    assert task.extract(exact, 48).strays == 0


def test_a_cloud_contradicts_strays_too() -> None:
    vertices, _ = ball(levels=4)
    task = SdfTask(ShapeSignal.from_cloud(vertices, vertices), block=512, reuse=4, window=2)
    bound = task.clearance.at_least(np.array([[0.95, 0.95, 0.95], [0.0, 0.9, 0.0], [0.1, 0.2, 0.1]]))
    assert bound[0] > 0.4
    assert bound[1] == 0
    assert bound[2] > 0.3
