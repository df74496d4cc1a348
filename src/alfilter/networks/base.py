"""What every network is: features (..., C) to values (..., c)."""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn


class Network(nn.Module, ABC):
    """Maps features to values. in_dim: features C. out_dim: values c."""

    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__()
        self.in_dim = in_dim
        self.out_dim = out_dim

    @abstractmethod
    def forward(self, features: Tensor) -> Tensor:
        """features: (..., in_dim) → (..., out_dim)."""

    def outputs(self, features: Tensor) -> tuple[Tensor, ...]:
        """All outputs of a network that has several, coarse to fine, each (..., c); the last is what a call returns.

        Training fits every one of them to the signal.
        """
        return (self(features),)
