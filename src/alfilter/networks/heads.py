"""Several networks side by side on the same features, each trained by itself; their mean is the value."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from alfilter.networks.base import Network


class Heads(Network):
    """f(z) = (f_1(z) + … + f_M(z)) / M, every f_m fitted to the signal on its own.

    Networks from different starts agree on the samples and disagree between them, each in its own way: in the mean the
    disagreement falls as 1/M while what they share stays (the variance part of an ensemble's error). M networks of
    width w cost the products of one of width w√M.

    >>> from alfilter.networks import MLP
    >>> heads = Heads([MLP(4, 3, width=8, depth=1, activation="sine") for _ in range(2)])
    >>> heads(torch.zeros(5, 4)).shape, len(heads.outputs(torch.zeros(5, 4)))
    (torch.Size([5, 3]), 3)
    """

    def __init__(self, members: Sequence[Network]) -> None:
        super().__init__(members[0].in_dim, members[0].out_dim)
        self.members = nn.ModuleList(members)

    def forward(self, features: Tensor) -> Tensor:
        return torch.stack([member(features) for member in self.members]).mean(0)

    def scales(self, features: Tensor) -> Tensor:
        """Every member's value, which is what is trained, and last their mean, which only reports."""
        values = torch.stack([member(features) for member in self.members])
        return torch.cat((values, values.mean(0, keepdim=True).detach()))
