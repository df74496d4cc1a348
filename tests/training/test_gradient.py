"""The gradient of a batch does not depend on how it is cut, and repeats bit by bit."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch
import trimesh
from torch import Tensor

from alfilter.config import Training
from alfilter.methods import Field, build
from alfilter.runtime import fork_pool
from alfilter.runtime.fork_pool import can_fork
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask, SdfTask
from alfilter.training import fit
from alfilter.training.gradient import GradientWorkers, accumulate_gradient


@pytest.fixture
def task() -> ImageTask:
    return ImageTask(GridSignal(np.random.default_rng(0).integers(0, 256, (40, 30, 3), np.uint8)))


@pytest.fixture
def two_cores() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def field_of(method: str) -> Field:
    return build(method, in_dim=2, out_dim=3, samples=(40, 30), width=32, seed=3)


def gradient(workers: GradientWorkers, task: ImageTask, setting: Training) -> Tensor:
    assert accumulate_gradient(workers, task, setting, 0, 0) is not None
    grads = [p.grad for p in workers.replicas[0].parameters() if p.grad is not None]
    return torch.cat([g.flatten().clone() for g in grads])


@pytest.mark.parametrize("method", ["al-sine", "al-relu", "pe-mlp", "siren"])
def test_pieces_add_up_to_one_pass(method: str, task: ImageTask) -> None:
    field = field_of(method)
    x, y = task.load(slice(0, task.count))
    (task.loss(field(x), y) / task.count).backward()
    whole = torch.cat([p.grad.flatten().clone() for p in field.parameters() if p.grad is not None])
    workers = GradientWorkers(field)
    for micro in (64, 100, 501, 1200, 5000):
        result = gradient(workers, task, Training(micro=micro))
        assert float((result - whole).double().norm() / whole.double().norm()) < 1e-6


def test_same_call_same_bits(task: ImageTask) -> None:
    workers, setting = GradientWorkers(field_of("al-sine")), Training(micro=128, batch=700, tv=1e-4)
    first = gradient(workers, task, setting)
    assert torch.equal(first, gradient(workers, task, setting))
    assert torch.equal(first, gradient(GradientWorkers(field_of("al-sine")), task, setting))


def test_terms_and_the_mean(task: ImageTask) -> None:
    field = field_of("al-sine")
    terms = accumulate_gradient(GradientWorkers(field), task, Training(micro=77, tv=0.5), 0, 0)
    assert terms is not None
    x, y = task.load(slice(0, task.count))
    assert terms["data"] == pytest.approx(float((field(x) - y).square().mean().detach()), rel=1e-5)
    assert terms["tv"] == 0.0  # the α grid starts constant


def test_told_to_stop(task: ImageTask) -> None:
    workers = GradientWorkers(field_of("siren"))
    assert accumulate_gradient(workers, task, Training(), 0, 0, should_stop=lambda: True) is None


def test_doubles_share_numbers_and_own_gradients(task: ImageTask) -> None:
    workers = GradientWorkers(field_of("al-relu"))
    gradient(workers, task, replace(Training(), micro=100))
    for mine, *others in zip(*(member.parameters() for member in workers.replicas), strict=True):
        for other in others:
            assert other.data_ptr() == mine.data_ptr()
            assert other.grad is not mine.grad


@pytest.mark.skipif(not can_fork(), reason="helpers are threads on this machine")
@pytest.mark.parametrize("method", ["al-sine", "bacon", "acorn", "diner"])
def test_processes_and_threads_give_the_same_bits(
    method: str, task: ImageTask, monkeypatch: pytest.MonkeyPatch, two_cores: None
) -> None:
    seen = ImageTask(task.signal, observe="random:0.5")
    setting = Training(micro=100, batch=400, tv=1e-4, fill=0.5, lr=1e-3)
    results = []
    for forked in (True, False):
        monkeypatch.setattr(fork_pool, "can_fork", lambda forked=forked: forked)
        field = build(method, in_dim=2, out_dim=3, samples=(40, 30), seed=3)
        # in blocks, al-sine's step is one compiled call, in threads anyhow
        history = fit(field, seen, training=replace(setting, steps=6, kernels="layers"), seed=5).history
        results.append((history[-1]["loss"], torch.cat([p.detach().flatten() for p in field.parameters()])))
    assert results[0][0] == results[1][0]
    assert torch.equal(results[0][1], results[1][1])


@pytest.mark.parametrize("method", ["al-sine", "hash-grid"])
def test_more_workers_than_cores_give_the_same_bits_on_fewer_processes(
    method: str, task: ImageTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = []
    for cores in (1, 2, 5):
        monkeypatch.setattr("alfilter.training.gradient.cores", lambda cores=cores: cores)
        field = build(method, in_dim=2, out_dim=3, samples=(40, 30), seed=3)
        with closing(GradientWorkers(field, count=5)) as workers:
            results.append(gradient(workers, task, Training(micro=100)))
    assert torch.equal(results[0], results[1])
    assert torch.equal(results[0], results[2])


def test_shapes_in_processes_see_the_blocks_that_one_fetches() -> None:
    ball = trimesh.creation.icosphere(subdivisions=2)
    results = []
    for threads in (1, 2):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            shape = SdfTask.from_array(ball.vertices, ball.faces, block=200, reuse=2, window=2)
            field = build("siren", in_dim=3, out_dim=1, width=16, depth=2, seed=1)
            results.append(
                fit(field, shape, steps=12, batch=80, seed=2, kernels="layers").history
            )  # five steps per block
        finally:
            torch.set_num_threads(before)
    losses = [[line["loss"] for line in history] for history in results]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    assert len(set(losses[0])) == 12


@pytest.mark.parametrize(("batch", "micro", "size"), [(48, 96, 24), (96, 20, 16), (90, 45, 45), (7, 3, 2)])
def test_pieces_are_alike_and_no_larger_than_asked(
    task: ImageTask, two_cores: None, batch: int, micro: int, size: int
) -> None:
    """Of 96 samples in pieces of 20, one core would have 56 and the other 40."""
    workers = GradientWorkers(field_of("siren"))
    assert workers._sizes(task, Training(batch=batch, micro=micro)) == (batch, size)
    pieces = task.pieces(0, 0, batch, size)
    assert max(len(piece) for piece in pieces) <= min(size, micro)
    assert max(sum(len(piece) for piece in pieces[core::2]) for core in range(2)) <= -(-batch // 2) + size // 2


def test_a_field_has_its_own_memory_again(task: ImageTask, two_cores: None) -> None:
    field = field_of("siren")
    with closing(GradientWorkers(field)) as workers:
        gradient(workers, task, Training(micro=100))
        inside = field.network.weights[0].data_ptr()
    start = [p.detach().clone() for p in field.parameters()]
    assert len(workers.replicas) == 2
    assert field.network.weights[0].data_ptr() != inside
    assert all(p.untyped_storage().nbytes() == 4 * p.numel() for p in field.parameters()), "and no more than its own"
    assert all(torch.equal(p, k) for p, k in zip(field.parameters(), start, strict=True))


@pytest.mark.parametrize("method", ["al-grid", "siren", "gauss"])
def test_a_field_keeps_no_gradient_and_its_workers_begin_again(method: str, task: ImageTask, two_cores: None) -> None:
    field, setting = field_of(method), Training(micro=100, parsimony=0.1 if method == "al-grid" else 0.0)
    with closing(GradientWorkers(field)) as workers:
        first = gradient(workers, task, setting)
        sums = weakref.ref(workers._sums)
        workers.close()
        assert all(p.grad is None for p in field.parameters())
        assert sums() is None
        assert workers.take_sums() is None
        assert torch.equal(gradient(workers, task, setting), first)
    assert all(p.grad is None for replica in workers.replicas for p in replica.parameters())


@pytest.mark.parametrize("method", ["siren", "wire", "pe-mlp", "al-grid"])
def test_a_field_in_float64_is_fitted_in_float64(method: str, task: ImageTask) -> None:
    seen, losses = ImageTask(task.signal, observe="random:0.5"), []
    for double in (False, True):
        field = field_of(method).double() if double else field_of(method)
        losses.append(fit(field, seen, training=Training(steps=3, fill=0.5, lr=1e-4), seed=1).history[-1]["loss"])
        assert next(field.parameters()).dtype == (torch.float64 if double else torch.float32)
    assert losses[0] == pytest.approx(losses[1], rel=1e-2)
