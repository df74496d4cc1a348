"""Σ_i w_i |v_i - y_i|^p: losses of a field's values against targets that compiled steps differentiate themselves."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class ResidualLoss:
    """factor Σ_i w_i Σ_c |v_ic - y_ic|^power. weighted: w_i stands in a last column of the targets; else it is 1.

    >>> import torch
    >>> ResidualLoss(power=2, factor=0.5)(torch.tensor([[1.0, 3.0]]), torch.tensor([[0.0, 1.0]]))
    tensor(2.5000)
    """

    power: int = 2
    factor: float = 1.0
    weighted: bool = False

    def __call__(self, prediction: Tensor, target: Tensor) -> Tensor:
        """prediction: (..., n, c). target: (n, c), or (n, c + 1) if weighted → ()."""
        values, weight = (target[..., :-1], target[..., -1:]) if self.weighted else (target, 1.0)
        return ((prediction - values).abs().pow(self.power) * weight).sum() * self.factor
