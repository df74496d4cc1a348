"""Adam in a page: two groups of parameters, each with its rate, every number in reach of a checkpoint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from alfilter.core.fused import compiled_update, fusible
from alfilter.core.parallel import in_slices


@dataclass
class Group:
    """Parameters that share a learning rate and a decoupled weight decay."""

    params: list[Tensor]
    lr: float
    weight_decay: float = 0.0


@dataclass
class Moments:
    """Running means of a parameter's gradient and of its square; for AMSGrad the greatest of the latter so far."""

    mean: Tensor
    square: Tensor
    peak: Tensor | None = None


@dataclass
class Adam:
    """m ← β₁m + (1-β₁)g, v ← β₂v + (1-β₂)g², p ← p - lr m̂ / (√v̂ + ε), with m̂, v̂ freed of their start at zero.

    The same numbers as `torch.optim.AdamW`, which costs two seconds to import and hides its state.

    amsgrad: v̂ from the greatest v so far (Reddi et al. 2018), so that the rate of a parameter never rises again.
    clip: a gradient longer than this, all parameters together, is shortened to it; none leaves it as it is.
    """

    groups: Sequence[Group]
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    amsgrad: bool = False
    clip: float | None = None
    steps: int = 0
    moments: list[Moments] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.moments:
            self.moments = [
                Moments(torch.zeros_like(p), torch.zeros_like(p), torch.zeros_like(p) if self.amsgrad else None)
                for p in self.parameters()
            ]

    def parameters(self) -> list[Tensor]:
        """All parameters, in the order of their moments."""
        return [p for group in self.groups for p in group.params]

    @torch.no_grad()
    def step(self, factor: float = 1.0) -> None:
        """Move every parameter that has a gradient; both rates are multiplied with `factor`."""
        self.steps += 1
        if self.clip is not None:
            self.shorten(self.clip)
        fade = math.sqrt(1 - self.beta2**self.steps)
        moments = iter(self.moments)
        for group in self.groups:
            rate = group.lr * factor
            for p in group.params:
                m = next(moments)
                if p.grad is None:
                    continue
                keep, scale = 1 - rate * group.weight_decay, rate / (1 - self.beta1**self.steps)
                if m.peak is None and _fusible(p, p.grad):
                    numbers = (1 - self.beta1, self.beta2, 1 - self.beta2, fade, self.epsilon, scale, keep)
                    _update((p, p.grad, m.mean, m.square), numbers)
                    continue
                p.mul_(keep)
                m.mean.lerp_(p.grad, 1 - self.beta1)
                m.square.mul_(self.beta2).addcmul_(p.grad, p.grad, value=1 - self.beta2)
                square = m.square if m.peak is None else torch.maximum(m.peak, m.square, out=m.peak)
                p.addcdiv_(m.mean, square.sqrt().div_(fade).add_(self.epsilon), value=-scale)

    @torch.no_grad()
    def shorten(self, longest: float) -> None:
        """Scale the gradient of all parameters together down to a length."""
        grads = [p.grad for p in self.parameters() if p.grad is not None]
        length = math.sqrt(sum(float(g.square().sum()) for g in grads))
        if length > longest:
            for g in grads:
                g.mul_(longest / length)


def _update(tensors: tuple[Tensor, ...], numbers: tuple[float, ...]) -> None:
    """The compiled update; a table's on all cores, which each take a slice of it."""
    arrays = [t.detach().numpy().reshape(-1) for t in tensors]
    constants = [np.float32(number) for number in numbers]
    kernel = compiled_update()
    in_slices(lambda part: kernel(*(array[part] for array in arrays), *constants), len(arrays[0]))


def _fusible(p: Tensor, grad: Tensor) -> bool:
    """Whether the compiled update may run: numbers in one piece, as the moments' are then, and as `fused` says."""
    return p.is_contiguous() and grad.is_contiguous() and fusible(p if p.dim() > 1 else p.view(1, -1))
