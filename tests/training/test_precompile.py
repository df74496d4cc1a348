"""What is compiled before a fit is what the fit calls, method by method."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.grid_methods import SMALL

from alfilter import METHODS, ImageTask, build, fit
from alfilter.kernels import dispatch
from alfilter.kernels.compile import Call, is_kernel
from alfilter.methods import training
from alfilter.signals import GridSignal
from alfilter.training.loop import make_optimiser
from alfilter.training.precompile import kernel_calls


class Traced:
    """A module of kernels that notes every call and makes it."""

    def __init__(self, module: Any, calls: set[Call]) -> None:
        self._module, self._calls = module, calls

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if isinstance(value, dict):
            return {key: self._traced(one) for key, one in value.items()}
        return self._traced(value)

    def _traced(self, value: Any) -> Any:
        def call(*arguments: Any) -> Any:
            self._calls.add(Call.of(value, arguments))
            return value(*arguments)

        return call if is_kernel(value) else value


@pytest.mark.parametrize("name", METHODS)
def test_what_is_recorded_is_what_is_called(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alfilter.runtime.thread_pool._reserved", 1)
    pixels = np.random.default_rng(0).random((12, 10, 3), np.float32)
    task = ImageTask(GridSignal(pixels))
    field = build(name, in_dim=2, out_dim=3, samples=task.samples, **SMALL.get(name, {}))
    setting = training(name, "default", batch=100, steps=2)
    before = copy.deepcopy(field.state_dict())
    recorded = set(kernel_calls(field, task, setting, make_optimiser(field, setting)))
    assert all(torch.equal(before[key], value) for key, value in field.state_dict().items())
    calls: set[Call] = set()
    module = dispatch._module
    monkeypatch.setattr(dispatch, "_module", lambda name: Traced(module(name), calls))
    fit(field, task, training=setting)
    monkeypatch.undo()
    assert calls == recorded


def test_what_a_task_keeps_is_made_before() -> None:
    signal = GridSignal(np.random.default_rng(0).integers(0, 256, (16, 12, 3), np.uint8))
    task, other = ImageTask(signal, "every:2"), ImageTask(signal, "every:2")
    field = build("al-sine", in_dim=2, out_dim=3, samples=task.samples, width=8, depth=1)
    setting = training("al-sine", "reconstruct", steps=1)
    assert setting.fill > 0
    kernel_calls(field, task, setting, make_optimiser(field, setting))
    filled, expected = task.filling(), other.filling()
    assert filled is not None
    assert expected is not None
    rows = filled.pieces(0, 0, 10, 10)[0]
    torch.testing.assert_close(filled.load(rows)[1], expected.load(rows)[1])
