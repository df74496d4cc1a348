"""Analysis takes any module that has an encoding and a network: here one that is no `methods.Field`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from alfilter.analysis import capped, empirical_ntk, kernel_facts, local_frequency, random_points, simple_ntk
from alfilter.encodings import Encoding, FilteredGrid
from alfilter.networks import MLP


class Doubled(nn.Module):
    """v(x) = 2 · network(encoding(x)), written by somebody else."""

    def __init__(self, encoding: Encoding, network: nn.Module) -> None:
        super().__init__()
        self.encoding, self.network = encoding, network
        self.scale, self.spec = torch.full((1,), 2.0), dict[str, Any]()
        self.in_dim, self.out_dim = encoding.in_dim, 1

    def forward(self, x: Tensor) -> Tensor:
        return self.scale * self.network(self.encoding(x))  # type: ignore[no-any-return]

    def limited(self, x: Tensor, cycles: Tensor) -> Tensor:
        return self.scale * self.network(self.encoding.limited(x, cycles))  # type: ignore[no-any-return]


def field() -> Doubled:
    generator = torch.Generator().manual_seed(0)
    encoding = FilteredGrid(2, levels=3, features=2, base=4, finest=16, table=64, resolution=(4, 4), bound=0.1,
                            start=3.0, generator=generator)  # fmt: skip
    return Doubled(encoding, MLP(6, 1, width=8, depth=1, activation="relu", generator=generator))


def test_its_kernel_is_that_of_the_jacobian() -> None:
    x = random_points(6, 2)
    torch.testing.assert_close(empirical_ntk(field(), x), simple_ntk(field(), x))
    assert 1 <= kernel_facts(field(), points=8).effective_rank <= 8


def test_its_local_frequency_and_its_values_below_a_cap() -> None:
    x = torch.rand(5, 2) * 2 - 1
    torch.testing.assert_close(local_frequency(field(), x), torch.full((5,), 8.0))  # 16 cells carry 8 cycles
    torch.testing.assert_close(capped(field(), 8.0)(x), field()(x))
