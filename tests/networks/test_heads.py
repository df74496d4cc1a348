"""Heads: a mean of networks that learn apart."""

from __future__ import annotations

import torch

from alfilter.networks import MLP, Heads
from alfilter.testing import check_network


def heads(count: int = 3) -> Heads:
    generator = torch.Generator().manual_seed(0)
    return Heads([MLP(4, 2, width=5, depth=2, activation="sine", omega=3.0, generator=generator) for _ in range(count)])


def test_contract() -> None:
    check_network(heads())


def test_the_value_is_the_mean_and_comes_last() -> None:
    network, z = heads(), torch.randn(7, 4)
    *members, mean = network.outputs(z)
    torch.testing.assert_close(mean, sum(members) / 3)
    torch.testing.assert_close(network(z), mean)
    assert not torch.equal(members[0], members[1]), "every head has a start of its own"


def test_a_head_learns_from_its_own_error_alone() -> None:
    network, z = heads(2), torch.randn(7, 4)
    outputs = network.outputs(z)
    (outputs[0].square().sum() + outputs[-1].square().sum()).backward()
    first, second = network.members
    assert all(p.grad is not None for p in first.parameters())
    assert all(p.grad is None or not p.grad.any() for p in second.parameters())
