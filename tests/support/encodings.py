"""An encoding that keeps every promise of `alfilter.testing`, for tests that break one."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from alfilter.encodings import Encoding


class Sound(Encoding):
    """A learned line through every coordinate; keeps all promises."""

    def __init__(self, in_dim: int = 2) -> None:
        super().__init__(in_dim, in_dim)
        self.slope = nn.Parameter(torch.linspace(0.5, 1.0, in_dim))

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(x * self.slope)

    def constrain(self) -> None:
        with torch.no_grad():
            self.slope.clamp_(-2, 2)
