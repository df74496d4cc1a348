"""Steps in one compiled call: the gradient of autograd, the same bits again, resumed to the bit."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import trimesh
from torch import Tensor

from alfilter.config import Training
from alfilter.encodings import FilteredGrid
from alfilter.errors import UserError
from alfilter.methods import Field, build
from alfilter.networks import MLP
from alfilter.runtime.flat_params import FlatLayout
from alfilter.runtime.ways import use_way
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask, SdfTask
from alfilter.tasks.base import Task
from alfilter.training import Progress, fit, gradient, loop
from alfilter.training.adam import Adam
from alfilter.training.gradient import GradientWorkers, accumulate_gradient, has_compiled_step
from alfilter.training.loop import make_optimiser

GRIDS = ["hash-grid", "octree", "diner", "al-grid"]
NETWORKS: dict[str, dict[str, Any]] = {
    "al-sine": {"levels": 3, "grid": 5, "coordinates": True, "bandwidth": 4.0},
    "al-relu": {"levels": 3, "grid": 5},
    "siren": {},
    "pe-mlp": {"levels": 3},
    "fourier-features": {"features": 9},
}
METHODS = [*GRIDS, *NETWORKS]
SETTING = Training(micro=100, batch=400, fill=0.5, tv=1e-3, lr=1e-2, lr_encoding=1e-2)


def image(observe: str = "random:0.5") -> ImageTask:
    return ImageTask(GridSignal(np.random.default_rng(0).integers(0, 256, (40, 30, 3), np.uint8)), observe)


def field_of(method: str, dims: int = 2, channels: int = 3) -> Field:
    if method in NETWORKS:
        small = {"width": 20, "depth": 2, **NETWORKS[method]}
        return build(method, in_dim=dims, out_dim=channels, samples=(40, 30, 20)[:dims], seed=3, **small)
    if method != "al-grid":
        return build(method, in_dim=dims, out_dim=channels, samples=(40, 30, 20)[:dims], seed=3)
    generator = torch.Generator().manual_seed(3)
    encoding = FilteredGrid(dims, levels=5, features=2, base=4, finest=40, table=256, resolution=(6,) * dims, bound=0.1,
                            start=3.0, generator=generator)  # fmt: skip
    return Field(encoding, MLP(10, channels, width=24, depth=2, activation="relu", generator=generator))


@pytest.fixture(params=[1, 2])
def cores(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def gradient_of(field: Field, task: Task, setting: Training) -> tuple[dict[str, float], Tensor]:
    with closing(GradientWorkers(field)) as workers:
        terms = accumulate_gradient(workers, task, setting, 1, 0)
        assert terms is not None
        return terms, torch.cat([p.grad.flatten().clone() for p in field.parameters() if p.grad is not None])


@pytest.mark.parametrize("method", METHODS)
def test_the_gradient_is_that_of_autograd(method: str, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    task = image()
    assert has_compiled_step(field_of(method), task)
    terms, actual = gradient_of(field_of(method), task, SETTING)
    monkeypatch.setattr(gradient, "has_compiled_step", lambda *_: False)
    expected_terms, expected = gradient_of(field_of(method), task, SETTING)
    assert terms == pytest.approx(expected_terms, rel=1e-5)
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5 * expected.abs().max().item())


@pytest.mark.parametrize("method", ["al-grid", "al-sine"])
def test_the_gradient_with_levels_of_detail(method: str, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Area means with α capped, and the price of a level."""
    task, setting = image("all"), Training(batch=400, micro=100, detail=0.5, parsimony=0.1)
    terms, actual = gradient_of(field_of(method), task, setting)
    assert set(terms) == {"data", "detail", "parsimony"}
    monkeypatch.setattr(gradient, "has_compiled_step", lambda *_: False)
    expected_terms, expected = gradient_of(field_of(method), task, setting)
    assert terms == pytest.approx(expected_terms, rel=1e-5)
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5 * expected.abs().max().item())


def test_a_method_without_a_filter_has_no_levels_of_detail() -> None:
    with pytest.raises(UserError, match="this method has no filter that could cap its frequency; take al-grid"):
        fit(field_of("hash-grid"), image("all"), training=Training(batch=400, steps=1, detail=0.5))
    with pytest.raises(UserError, match="option 'detail' is for grids all of whose samples are seen"):
        fit(field_of("al-grid"), image("every:2"), training=Training(batch=40, steps=1, detail=0.5))


def test_parsimony_is_a_share_of_the_error() -> None:
    """λ · error · mean(α)/L: α starts at 3 of 5 levels, and every node has the same gradient."""
    field = field_of("al-grid")
    without, free = gradient_of(field, image("all"), Training(batch=400))
    terms, priced = gradient_of(field_of("al-grid"), image("all"), Training(batch=400, parsimony=0.5))
    assert terms["data"] == without["data"]
    assert terms["parsimony"] == pytest.approx(0.5 * terms["data"] * 3 / 5, rel=1e-5)
    encoding = field.encoding
    assert isinstance(encoding, FilteredGrid)
    nodes = encoding.alpha.values.numel()
    share = 0.5 * terms["data"] * encoding.alpha.unit / (5 * nodes)
    changed = (priced - free)[priced != free]
    torch.testing.assert_close(changed, torch.full((nodes,), share), rtol=1e-2, atol=1e-9)


@pytest.mark.parametrize("rule", ["source", "graded"])
@pytest.mark.parametrize("method", ["hash-grid", "octree", "al-grid", "al-sine", "siren"])
def test_shapes(method: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ball = trimesh.creation.icosphere(subdivisions=2)
    results = []
    for compiled in (True, False):
        task = SdfTask.from_array(ball.vertices, ball.faces, block=200, reuse=2, window=2)
        task.set_sampling(rule)
        monkeypatch.setattr(gradient, "has_compiled_step", lambda *_, c=compiled: c)
        results.append(gradient_of(field_of(method, 3, 1), task, Training(batch=80)))
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-5)
    torch.testing.assert_close(results[0][1], results[1][1], rtol=1e-4, atol=1e-5 * results[1][1].abs().max().item())


def trained(method: str, **changes: Any) -> tuple[list[float], Tensor]:
    field = field_of(method)
    history = fit(field, image(), training=replace(SETTING, steps=12, **changes), seed=5).history
    return [line["loss"] for line in history], torch.cat([p.detach().flatten() for p in field.parameters()])


@pytest.mark.parametrize("method", METHODS)
def test_the_same_run_has_the_same_bits(method: str, cores: int) -> None:
    first, second = trained(method), trained(method)
    assert first[0] == second[0]
    assert torch.equal(first[1], second[1])


class Watched:
    """A run whose every step is compared: its gradient with autograd's at the same numbers, its update with torch's
    AdamW from the same gradient. Two whole runs drift apart, since Adam magnifies the rounding of small gradients.
    """

    def __init__(self, field: Field, monkeypatch: pytest.MonkeyPatch) -> None:
        self.field, self.patch, self.steps = field, monkeypatch, 0
        self._gradient: list[Tensor] = []
        monkeypatch.setattr(loop, "accumulate_gradient", self._accumulate)
        monkeypatch.setattr(loop, "make_optimiser", self._optimiser)

    def _accumulate(self, workers: GradientWorkers, task: Task, setting: Training, *rest: Any) -> dict[str, float]:
        terms = accumulate_gradient(workers, task, setting, *rest)
        params, sums = list(self.field.parameters()), workers.take_sums()
        grads = [p.grad for p in params] if sums is None else FlatLayout(params).views(sums.sum(0))
        with self.patch.context() as plain, closing(GradientWorkers(copy.deepcopy(self.field), count=1)) as one:
            plain.setattr(gradient, "has_compiled_step", lambda *_: False)
            expected_terms = accumulate_gradient(one, task, setting, *rest[:2])
            expected = [p.grad for p in one.replicas[0].parameters()]
        assert terms == pytest.approx(expected_terms, rel=1e-5)
        for grad, other in zip(grads, expected, strict=True):
            torch.testing.assert_close(grad, other, rtol=1e-4, atol=1e-5 * other.abs().max().item())
        self._gradient = [grad.clone() for grad in grads]
        return terms

    def _optimiser(self, field: Field, setting: Training) -> Adam:
        optimiser = make_optimiser(field, setting)
        copies = {p: p.detach().clone().requires_grad_() for p in optimiser.parameters()}
        groups = [{"params": [copies[p] for p in g.params], "lr": g.lr, "weight_decay": g.weight_decay}
                  for g in optimiser.groups]  # fmt: skip
        torchs = torch.optim.AdamW(groups, betas=(0.9, setting.beta2), eps=setting.epsilon, amsgrad=setting.amsgrad)
        step = optimiser.step

        def compared(factor: float, sums: Tensor | None) -> None:
            for p, grad in zip(field.parameters(), self._gradient, strict=True):
                copies[p].data.copy_(p.detach())
                copies[p].grad = grad
            if setting.clip is not None:
                torch.nn.utils.clip_grad_norm_(list(copies.values()), setting.clip)
            torchs.step()
            step(factor, sums)
            for p, other in copies.items():
                torch.testing.assert_close(p, other, rtol=1e-5, atol=1e-6)
            self.steps += 1

        optimiser.step = compared  # type: ignore[method-assign]
        return optimiser


@pytest.mark.parametrize("change", [{}, {"clip": 1e-3}, {"amsgrad": True}, {"weight_decay": 0.1}], ids=str)
def test_every_step_of_a_run_is_autograds(change: dict[str, Any], cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    field = field_of("hash-grid")
    watched = Watched(field, monkeypatch)
    fit(field, image(), training=replace(SETTING, steps=12, **change), seed=5)
    assert watched.steps == 12


class Killed(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("method", METHODS)
def test_resumed_to_the_bit(method: str, cores: int, tmp_path: Path) -> None:
    def die(progress: Progress) -> None:
        if progress.step == 7:
            raise Killed

    setting = replace(SETTING, steps=12)
    whole, last = field_of(method), field_of(method)
    fit(whole, image(), training=setting, seed=5)
    with suppress(Killed):
        fit(field_of(method), image(), training=setting, seed=5, checkpoint=tmp_path / "c", checkpoint_every=0,
            on_progress=die)  # fmt: skip
    fit(last, image(), training=setting, seed=5, checkpoint=tmp_path / "c")
    assert all(torch.equal(a, b) for a, b in zip(whole.parameters(), last.parameters(), strict=True))


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("price", [0.0, 0.5])
def test_alpha_descends_the_logarithm_of_the_error(
    compiled: bool, price: float, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Autograd's gradient of log(error) + λ mean(α)/L for α, and that of the error for everything else."""
    monkeypatch.setattr(gradient, "has_compiled_step", lambda *_: compiled)
    field, task = field_of("al-grid"), image("all")
    encoding = field.encoding
    assert isinstance(encoding, FilteredGrid)
    setting = replace(SETTING, batch=1200, tv=0.0, fill=0.0, parsimony=price, filter_loss="log")
    with closing(GradientWorkers(field)) as workers:
        terms = accumulate_gradient(workers, task, setting, 0, 0, whole=False)
        sums = workers.take_sums()
        views = FlatLayout(list(field.parameters())).views(sums.sum(0)) if sums is not None else None
        got = views or [p.grad.clone() for p in field.parameters() if p.grad is not None]
        error = task.loss(field(task.signal.coords()), task.signal.values()) / 1200
        own = torch.autograd.grad(error, list(field.parameters()), retain_graph=True)
        (alpha,) = torch.autograd.grad(error.log() + price * encoding.alpha.values.mean() * encoding.alpha.unit / 5,
                                       [encoding.alpha.values])  # fmt: skip
    assert terms is not None
    assert terms["data"] == pytest.approx(error.item(), rel=1e-5)
    for parameter, found, expected in zip(field.parameters(), got, own, strict=True):
        is_alpha = parameter is encoding.alpha.values
        torch.testing.assert_close(found, alpha if is_alpha else expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("compiled", [True, False])
def test_alpha_stays_once_it_has_settled(compiled: bool, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradient, "has_compiled_step", lambda *_: compiled)
    field = field_of("al-grid")
    encoding = field.encoding
    assert isinstance(encoding, FilteredGrid)
    seen = []

    def look(line: dict[str, Any]) -> None:
        seen.append((encoding.alpha.values.detach().clone(), encoding.table.detach().clone(), line))

    setting = replace(SETTING, steps=12, parsimony=0.5, settle=0.5)
    fit(field, image(), training=setting, seed=5, on_log=look)
    alphas, tables, lines = zip(*seen, strict=True)
    assert not torch.equal(alphas[4], alphas[5])  # the last step before the half
    assert all(torch.equal(alphas[5], later) for later in alphas[6:])
    assert not torch.equal(tables[10], tables[11])
    assert ["parsimony" in line for line in lines] == [True] * 6 + [False] * 6


def test_sums_are_zero_before_every_step(cores: int) -> None:
    """Whether the optimiser took the last ones, somebody only looked at them, or a step was given up."""
    field, task, setting = field_of("hash-grid"), image("all"), Training(batch=300, micro=100)
    with closing(GradientWorkers(field)) as workers:
        optimiser = make_optimiser(field, setting)
        for step, looked in enumerate((False, True, False)):
            terms = accumulate_gradient(workers, task, setting, step, 0, whole=False)
            if not looked:
                optimiser.step(1e-3, workers.take_sums())
            if step == 1:
                assert accumulate_gradient(workers, task, setting, step, 0, should_stop=lambda: True) is None
        again = accumulate_gradient(workers, task, setting, 2, 0)
        assert terms is not None
        assert again is not None
        mine = torch.cat([p.grad.flatten().clone() for p in field.parameters() if p.grad is not None])
    expected = gradient_of_step(field, task, setting, 2)
    torch.testing.assert_close(mine, expected, rtol=1e-5, atol=1e-7)


def gradient_of_step(field: Field, task: ImageTask, setting: Training, step: int) -> Tensor:
    with closing(GradientWorkers(field)) as workers:
        accumulate_gradient(workers, task, setting, step, 0)
        return torch.cat([p.grad.flatten().clone() for p in field.parameters() if p.grad is not None])


def test_what_has_no_compiled_step() -> None:
    task, field = image("all"), field_of("hash-grid")
    assert has_compiled_step(field, task)
    assert has_compiled_step(field_of("siren"), task)
    with use_way("layers"):
        assert not has_compiled_step(field_of("siren"), task)
        assert has_compiled_step(field, task)
    assert not has_compiled_step(field_of("gauss"), task)
    assert field.double().compiled() is None
    frozen = field_of("hash-grid")
    frozen.encoding.requires_grad_(False)
    assert frozen.compiled() is None
    assert build("diner", in_dim=2, out_dim=3, samples=(40, 30), between="refuse").compiled() is None
    band = FilteredGrid(2, levels=3, features=2, base=4, finest=16, table=64, resolution=(4, 4), bandwidth=2.0)
    assert Field(band, MLP(6, 3, width=8, depth=1, activation="relu")).compiled() is None
