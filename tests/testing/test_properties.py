"""Every property is tried, of the empty batch too."""

from __future__ import annotations

import pytest
import torch
from tests.support.encodings import Sound
from torch import Tensor, nn

from alfilter.testing import check_encoding
from alfilter.testing.properties import check_gradcheck, points, same_state


class NoEmptyBatch(Sound):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).view(*x.shape[:-1], -1)


def test_an_empty_batch_is_tried() -> None:
    with pytest.raises(
        AssertionError, match=r"NoEmptyBatch fails for an input of shape \(0, 2\): RuntimeError: .*reshape"
    ):
        check_encoding(NoEmptyBatch())


def test_points_lie_in_the_domain_and_are_the_same_again() -> None:
    x = points(200, 3)
    assert x.shape == (200, 3)
    assert x.abs().max() <= 1
    assert torch.equal(x, points(200, 3))
    assert not torch.equal(x, points(200, 3, seed=6))


def test_states_are_compared_by_name_and_number() -> None:
    one, other = nn.Linear(2, 2), nn.Linear(2, 2)
    assert same_state(one, one)
    assert not same_state(one, other)
    other.load_state_dict(one.state_dict())
    assert same_state(one, other)


def test_a_gradient_that_is_half_is_not_one() -> None:
    class Half(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.slope = nn.Parameter(torch.ones(()))

        def forward(self, x: Tensor) -> Tensor:
            return x * (self.slope + self.slope.detach()) / 2

    with pytest.raises(AssertionError, match="Half"):
        check_gradcheck(Half(), points(3, 2))
