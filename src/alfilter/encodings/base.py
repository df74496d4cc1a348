"""What every encoding is: coordinates (..., d) to features (..., C), and what else a trainer may ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn


class Encoding(nn.Module, ABC):
    """Maps coordinates in [-1, 1]^d to features.

    in_dim: the number of coordinates d. out_dim: the number of features C.
    """

    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__()
        self.in_dim = in_dim
        self.out_dim = out_dim

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_dim) → (..., out_dim)."""

    def first_bound(self) -> Tensor:
        """Half-width of the uniform start of a sine network's first weights, feature by feature: (out_dim,).

        SIREN's rule is 1/C for C inputs. An encoding whose features differ in kind may say otherwise.
        """
        return torch.full((self.out_dim,), 1 / self.out_dim)

    def smoothness(self, reduction: str = "sum") -> Tensor:
        """The total variation of the field the encoding owns; zero when it owns none."""
        del reduction
        return torch.zeros(())

    def constrain(self) -> None:
        """Bring the parameters back into their domain; called after every optimiser step."""
