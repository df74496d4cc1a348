"""A fit takes the fastest way, keeps it, and its ways agree."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.grid_methods import SMALL

pytest.importorskip("numba")

from alfilter.errors import UserError
from alfilter.kernels.dispatch import VARIABLE
from alfilter.methods import METHODS, Field, build, training
from alfilter.runtime import ways
from alfilter.runtime.distributed import Processes
from alfilter.runtime.ways import WAYS, current_way, use_way
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.training import fit, preparation
from alfilter.training.gradient import has_compiled_step
from alfilter.training.loop import make_optimiser
from alfilter.training.modelfile import read_tensors, write_tensors
from alfilter.training.preparation import choose_way, measure_ways, prepare

SETTING = training("al-sine", "default", steps=4, batch=100)


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is fixed by the environment, and nothing is known yet."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(ways, "_folder", lambda: tmp_path)
    monkeypatch.setattr(preparation, "precompile", lambda *arguments: None)


def task() -> ImageTask:
    return ImageTask(GridSignal(np.random.default_rng(0).random((12, 10, 3), np.float32)))


def field(name: str = "al-sine") -> Field:
    small = {"width": 16, "depth": 2, "levels": 2, "grid": 4} if name == "al-sine" else SMALL.get(name, {})
    return build(name, in_dim=2, out_dim=3, samples=(12, 10), **small)


def processor(times: Mapping[str, float], measured: list[str] | None = None) -> Callable[..., dict[str, float]]:
    """A machine on which every work runs, and takes these times."""

    def time_in_turns(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
        for name, work in works.items():
            work()
            if measured is not None:
                measured.append(name)
        return {name: times[name] for name in works}

    return time_in_turns


XEON = {"blocks": 1.0, "products": 0.6, "layers": 0.7, "plain": 0.9}
EPYC = {"blocks": 1.0, "products": 1.1}


@pytest.mark.usefixtures("chosen")
def test_the_library_multiplies_where_it_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "time_in_turns", processor(XEON))
    assert choose_way(field(), task(), SETTING, make_optimiser(field(), SETTING)) == "layers"


@pytest.mark.usefixtures("chosen")
def test_other_ways_are_not_compiled_where_they_cannot_win(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []
    compiled: list[str] = []
    monkeypatch.setattr(preparation, "time_in_turns", processor(EPYC, measured))
    monkeypatch.setattr(preparation, "precompile", lambda *arguments: compiled.append(current_way()))
    assert prepare(field(), task(), SETTING, make_optimiser(field(), SETTING), Processes()) == "blocks"
    assert set(measured) == {"blocks", "products"}
    assert set(compiled) == {"blocks"}


@pytest.mark.usefixtures("chosen")
def test_a_network_that_is_no_perceptron_has_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []
    monkeypatch.setattr(preparation, "time_in_turns", processor(XEON, measured))
    mfn = field("mfn-fourier")
    measure_ways(mfn, task(), SETTING, make_optimiser(mfn, SETTING), 50)
    assert measured == ["blocks", "layers", "plain"]


@pytest.mark.usefixtures("chosen")
def test_a_compiled_step_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "time_in_turns", pytest.fail)
    grid = field("hash-grid")
    assert has_compiled_step(grid, task())
    assert choose_way(grid, task(), SETTING, make_optimiser(grid, SETTING)) == "blocks"


@pytest.mark.usefixtures("chosen")
def test_measuring_leaves_field_and_random_state_alone() -> None:
    mine, picture = field(), task()
    before, state = copy.deepcopy(mine.state_dict()), torch.get_rng_state()
    seconds = measure_ways(mine, picture, SETTING, make_optimiser(mine, SETTING), 50)
    assert seconds["blocks"] > 0
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(before[name], value) for name, value in mine.state_dict().items())
    assert all(p.grad is None for p in mine.parameters())


def test_a_setting_names_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "choose_way", pytest.fail)
    seen: list[str] = []
    fit(field(), task(), steps=1, kernels="layers", on_progress=lambda _: seen.append(current_way()))
    assert seen == ["layers"]
    assert current_way() == "blocks", "it ends with the fit"


class Second(Processes):
    """The second of two processes, where the first one chose the way of this number."""

    def from_main(self, number: float) -> float:
        return 1.0


def test_all_processes_take_the_choice_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "choose_way", pytest.fail)
    mine = field()
    assert prepare(mine, task(), SETTING, make_optimiser(mine, SETTING), Second(rank=1, size=2)) == WAYS[1]


@pytest.mark.usefixtures("chosen")
def test_a_resumed_run_keeps_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(model: Field, path: Path | None = None, until: int = 4) -> None:
        steps: list[int] = []
        stop = lambda: len(steps) >= until  # noqa: E731
        options: dict[str, Any] = {"on_progress": lambda p: steps.append(p.step), "should_stop": stop}
        fit(model, task(), training=SETTING, checkpoint=path, **options)

    monkeypatch.setattr(preparation, "time_in_turns", processor(XEON))
    whole, cut, path = field(), field(), tmp_path / "state"
    run(whole)
    run(cut, path, until=2)
    assert read_tensors(path)[0]["way"] == "layers"
    monkeypatch.setattr(preparation, "choose_way", pytest.fail)
    run(cut, path)
    assert all(torch.equal(a, b) for a, b in zip(whole.state_dict().values(), cut.state_dict().values(), strict=True))


def test_a_checkpoint_from_before_there_was_a_choice_goes_on_in_blocks(tmp_path: Path) -> None:
    path, model = tmp_path / "state", field()
    fit(model, task(), training=SETTING, checkpoint=path)
    header, tensors = read_tensors(path)
    del header["way"], header["run"]["training"]["kernels"]
    write_tensors(path, tensors, header)
    fit(model, task(), training=SETTING, checkpoint=path)
    assert read_tensors(path)[0]["way"] == "blocks"
    write_tensors(path, tensors, {**header, "way": "fast"})
    with pytest.raises(UserError, match="unknown kernels 'fast'"):
        fit(model, task(), training=SETTING, checkpoint=path)


@pytest.mark.parametrize("name", METHODS)
def test_the_ways_of_every_method_agree(name: str) -> None:
    """To 1e-5 of the largest number, in values and in all gradients."""
    model, x = field(name), task().load(slice(0, 100))[0]
    results: dict[str, list[torch.Tensor]] = {}
    for way in WAYS:
        replica = copy.deepcopy(model)
        with use_way(way):
            values = replica.scales(x)
            values.square().mean().backward()
        results[way] = [values.detach(), *(p.grad for p in replica.parameters() if p.grad is not None)]
    for way in WAYS[1:]:
        for a, b in zip(results[way], results["blocks"], strict=True):
            assert float((a - b).abs().max()) <= 1e-5 * float(b.abs().max()) + 1e-8, way
