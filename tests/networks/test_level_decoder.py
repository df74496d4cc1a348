"""Decoders for levels of detail."""

from __future__ import annotations

import torch

from alfilter.networks import LevelDecoder
from alfilter.testing import check_network


def decoder() -> LevelDecoder:
    return LevelDecoder(
        2, 3, levels=3, features=2, width=5, depth=1, generator=torch.Generator().manual_seed(0)
    )  # inputs: 2 + 3 · 2


def test_contract() -> None:
    check_network(decoder())


def test_a_level_sees_the_sum_of_the_levels_up_to_it() -> None:
    network = decoder()
    features = torch.tensor([[0.1, 0.2, 1.0, 2.0, 10.0, 20.0, 100.0, 200.0]])
    for level, sums in enumerate(([1.0, 2.0], [11.0, 22.0], [111.0, 222.0])):
        expected = network.decoders[level](torch.tensor([[0.1, 0.2, *sums]]))
        assert torch.allclose(network.outputs(features)[level], expected)


def test_coarse_outputs_do_not_know_finer_features() -> None:
    features = torch.rand(4, 8).requires_grad_()
    first = decoder().outputs(features)[0]
    (slope,) = torch.autograd.grad(first.sum(), features)
    assert not bool(slope[:, 4:].any())
    assert bool(slope[:, :4].any())
