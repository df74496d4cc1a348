"""The gradient a task knows is that of its loss."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.support.shapes import cube

from alfilter.signals import GridSignal, PointSignal, ShapeSignal
from alfilter.tasks import ImageTask, PointTask, SdfTask
from alfilter.tasks.base import Task
from alfilter.tasks.holdout import HoldoutTask


def tasks() -> dict[str, tuple[Task, int]]:
    """Tasks, and how many numbers a target of theirs has."""
    rng = np.random.default_rng(0)
    image = ImageTask(GridSignal(rng.integers(0, 255, (6, 5, 3), dtype=np.uint8)))
    points = PointTask(PointSignal(rng.uniform(size=(30, 2)), rng.normal(size=(30, 2)), rng.uniform(size=30)))
    shapes = {rule: SdfTask(ShapeSignal.from_mesh(*cube())) for rule in ("source", "graded")}
    for rule, task in shapes.items():
        task.set_sampling(rule)
    return {
        "image": (image, 3),
        "points": (points, 3),
        "holdout": (HoldoutTask(image), 3),
        **{rule: (task, 2) for rule, task in shapes.items()},
    }


@pytest.mark.parametrize("scales", [0, 1, 3], ids=["one", "one scale", "three scales"])
@pytest.mark.parametrize("name", ["image", "points", "holdout", "source", "graded"])
def test_the_gradient_of_the_loss(name: str, scales: int) -> None:
    task, width = tasks()[name]
    generator = torch.Generator().manual_seed(scales)
    shape = (9, task.out_dim) if scales == 0 else (scales, 9, task.out_dim)
    prediction = torch.randn(shape, generator=generator).requires_grad_()
    target = torch.rand(9, width, generator=generator)
    loss, grad = task.loss_and_grad(prediction, target)
    expected = task.loss(prediction, target)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert not grad.requires_grad
    torch.testing.assert_close(grad, torch.autograd.grad(expected, prediction)[0], rtol=1e-5, atol=1e-7)
    residual = task.residual_loss()
    assert residual is not None
    assert residual(prediction, target).item() == pytest.approx(expected.item(), rel=1e-5)
    by_rule = Task.loss_and_grad(task, prediction, target)
    torch.testing.assert_close(by_rule[1], grad, rtol=1e-5, atol=1e-7)
