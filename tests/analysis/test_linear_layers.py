"""Linear layers are found while a network runs."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from alfilter.analysis.linear_layers import Linears


def test_both_layers_of_a_small_network() -> None:
    network = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1, bias=False))
    x = torch.randn(5, 2)
    with Linears(list(network.parameters()), points=5) as watched:
        network(x)
    first, second = watched.layers()
    assert first.weight is network[0].weight
    assert first.bias is network[0].bias
    assert second.bias is None
    torch.testing.assert_close(first.inputs_kernel(), x @ x.T + 1)
    hidden = torch.tanh(network[0](x)).detach()
    torch.testing.assert_close(second.inputs_kernel(), hidden @ hidden.T)


def test_a_weight_that_is_used_twice_is_no_layers_own() -> None:
    weight, bias = torch.randn(3, 3, requires_grad=True), torch.randn(3, requires_grad=True)
    with Linears([weight, bias], points=4) as watched:
        F.linear(F.linear(torch.randn(4, 3), weight, bias), weight)
    (layer,) = watched.layers()
    assert layer.weight is None
    assert layer.bias is bias


def test_rows_that_are_not_points_are_left_out() -> None:
    weight = torch.randn(3, 3, requires_grad=True)
    with Linears([weight], points=4) as watched:
        F.linear(torch.randn(7, 3), weight)
    assert watched.layers() == []
