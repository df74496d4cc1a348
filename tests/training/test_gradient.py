"""The gradient of a batch does not depend on how it is cut, and repeats bit by bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from alfilter.config import Training
from alfilter.methods import Field, build
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.training.gradient import Team, accumulate_gradient


@pytest.fixture
def task() -> ImageTask:
    return ImageTask(GridSignal(np.random.default_rng(0).integers(0, 256, (40, 30, 3), np.uint8)))


def field_of(method: str) -> Field:
    return build(method, in_dim=2, out_dim=3, samples=(40, 30), width=32, seed=3)


def gradient(team: Team, task: ImageTask, setting: Training) -> Tensor:
    assert accumulate_gradient(team, task, setting, 0, 0) is not None
    grads = [p.grad for p in team.members[0].parameters() if p.grad is not None]
    return torch.cat([g.flatten().clone() for g in grads])


@pytest.mark.parametrize("method", ["al-sine", "al-relu", "pe-mlp", "siren"])
def test_pieces_add_up_to_one_pass(method: str, task: ImageTask) -> None:
    field = field_of(method)
    x, y = task.load(slice(0, task.count))
    (task.loss(field(x), y) / task.count).backward()
    whole = torch.cat([p.grad.flatten().clone() for p in field.parameters() if p.grad is not None])
    team = Team(field)
    for micro in (64, 100, 501, 1200, 5000):
        found = gradient(team, task, Training(micro=micro))
        assert float((found - whole).double().norm() / whole.double().norm()) < 1e-6


def test_same_call_same_bits(task: ImageTask) -> None:
    team, setting = Team(field_of("al-sine")), Training(micro=128, batch=700, tv=1e-4, jitter=0.3)
    first = gradient(team, task, setting)
    assert torch.equal(first, gradient(team, task, setting))
    assert torch.equal(first, gradient(Team(field_of("al-sine")), task, setting))


def test_terms_and_the_mean(task: ImageTask) -> None:
    field = field_of("al-sine")
    terms = accumulate_gradient(Team(field), task, Training(micro=77, tv=0.5), 0, 0)
    assert terms is not None
    x, y = task.load(slice(0, task.count))
    assert terms["data"] == pytest.approx(float((field(x) - y).square().mean().detach()), rel=1e-5)
    assert terms["tv"] == 0.0  # the α grid starts constant


def test_told_to_stop(task: ImageTask) -> None:
    team = Team(field_of("siren"))
    assert accumulate_gradient(team, task, Training(), 0, 0, should_stop=lambda: True) is None


def test_doubles_share_numbers_and_own_gradients(task: ImageTask) -> None:
    team = Team(field_of("al-relu"))
    gradient(team, task, replace(Training(), micro=100))
    for mine, *others in zip(*(member.parameters() for member in team.members), strict=True):
        for other in others:
            assert other.data_ptr() == mine.data_ptr()
            assert other.grad is not mine.grad
