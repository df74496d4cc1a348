"""Field: a composition with a range; several outputs are all trained, the finest is reported."""

from __future__ import annotations

import pytest
import torch

import alfilter as al
from alfilter.encodings import Identity
from alfilter.kernels.dispatch import kernels_available
from alfilter.methods import Field, parameter_count
from alfilter.networks import MLP
from alfilter.testing.methods import tiny_task
from alfilter.testing.properties import points
from alfilter.training.gradient import GradientWorkers, accumulate_gradient


def small(seed: int = 0) -> Field:
    return al.build("bacon", in_dim=2, out_dim=3, samples=(8, 12), width=8, shares=(1, 1, 2), seed=seed)


def test_every_output_learns_and_the_finest_is_reported() -> None:
    field, task = small(), tiny_task()
    field.set_range(*task.output_range())
    terms = accumulate_gradient(GradientWorkers(field), task, al.Training(micro=40), 0, 0)
    assert terms is not None
    x, y = task.load(slice(0, 96))
    losses = [task.loss(out, y) / 96 for out in field.outputs(x)]
    assert terms["data"] == pytest.approx(losses[-1].item(), rel=1e-5)
    parameters = dict(field.named_parameters())
    expected = torch.autograd.grad(torch.stack(losses).mean(), list(parameters.values()))
    for (name, parameter), gradient in zip(parameters.items(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-3, atol=1e-5, msg=name)
        assert bool((gradient != 0).any()), name


def test_a_field_of_one_output_has_one() -> None:
    field, x = al.build("siren", in_dim=2, out_dim=3, width=4), points(3, 2)
    (only,) = field.outputs(x)
    assert torch.equal(only, field(x))


def test_parameter_count_leaves_out_what_is_frozen() -> None:
    field = al.build("al-sine", in_dim=2, out_dim=3, grid=4)
    field.encoding.requires_grad_(False)
    assert parameter_count(field) == 33 * 256 + 2 * 257 * 256 + 257 * 3


def test_range_by_hand() -> None:
    """The network's -1 and 1 mean low and high, value by value."""
    field = al.build("siren", in_dim=1, out_dim=2, width=4, depth=1)
    x = torch.tensor([[0.3]])
    raw = field(x)
    field.set_range(torch.tensor([0.0, -10.0]), torch.tensor([1.0, 30.0]))
    torch.testing.assert_close(field(x), raw * torch.tensor([0.5, 20.0]) + torch.tensor([0.5, 10.0]))


def test_wrong_coordinates_are_explained() -> None:
    field = al.build("siren", in_dim=2, out_dim=1, width=4)
    with pytest.raises(al.UserError, match=r"takes 2 coordinates in the last axis, got shape \(5, 3\)"):
        field(torch.zeros(5, 3))


def test_a_subclass_that_computes_something_else_is_not_compiled() -> None:
    """What its parent says of itself no longer holds."""

    class Doubled(Identity):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * x

    class Same(Identity):
        pass

    class Shifted(MLP):
        def forward(self, features: torch.Tensor) -> torch.Tensor:
            return super().forward(features) + 1

    def mlp(kind: type[MLP]) -> MLP:
        return kind(2, 1, width=8, depth=2, activation="relu")

    if kernels_available():
        assert Field(Same(2), mlp(MLP)).compiled() is not None
    assert Field(Doubled(2), mlp(MLP)).compiled() is None
    assert Field(Identity(2), mlp(Shifted)).compiled() is None
