"""Adam with a learning rate per group of parameters, whose whole state a checkpoint can save."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.runtime.flat_params import coalesce, flat_zeros
from alfilter.runtime.fused_adam import can_fuse, fused_update
from alfilter.runtime.thread_pool import flushed_denormals


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


Work = tuple[list[tuple[NDArray[np.float32], ...]], list[tuple[Tensor, Moments]]]  # runs for the kernel, and the rest


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
    _known: tuple[list[tuple[int, int]], list[Work]] | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.moments:
            params = self.parameters()
            peaks = flat_zeros(params) if self.amsgrad else [None] * len(params)
            self.moments = [Moments(*m) for m in zip(flat_zeros(params), flat_zeros(params), peaks, strict=True)]

    def parameters(self) -> list[Tensor]:
        """All parameters, in the order of their moments."""
        return [p for group in self.groups for p in group.params]

    def adds_up(self) -> bool:
        """Whether `step` can add up the gradients of several workers itself: nothing of it needs to see their sum."""
        return self.clip is None and not self.amsgrad and all(can_fuse(p) for p in self.parameters())

    @flushed_denormals()
    @torch.no_grad()
    def step(self, factor: float = 1.0, sums: Tensor | None = None) -> None:
        """Move every parameter that has a gradient; both rates are multiplied with `factor`.

        sums: (workers, total), where every parameter's gradient is a part of the first row: those of the other rows are
        added to it, and all of them are zero afterwards, in the sweep of the update itself. Only if `adds_up`.
        """
        self.steps += 1
        if self.clip is not None:
            self.shorten(self.clip)
        fade = math.sqrt(1 - self.beta2**self.steps)
        for group, (runs, alone) in zip(self.groups, self._work(), strict=True):
            rate = group.lr * factor
            keep, scale = 1 - rate * group.weight_decay, rate / (1 - self.beta1**self.steps)
            numbers = (1 - self.beta1, self.beta2, 1 - self.beta2, fade, self.epsilon, scale, keep)
            for arrays in runs:
                fused_update(arrays, numbers, sums)
            for p, m in alone:
                assert p.grad is not None
                p.mul_(keep)
                m.mean.lerp_(p.grad, 1 - self.beta1)
                m.square.mul_(self.beta2).addcmul_(p.grad, p.grad, value=1 - self.beta2)
                square = m.square if m.peak is None else torch.maximum(m.peak, m.square, out=m.peak)
                p.addcdiv_(m.mean, square.sqrt().div_(fade).add_(self.epsilon), value=-scale)

    def _work(self) -> list[Work]:
        """The work of each group; the same as before while everything is where it was."""
        params = self.parameters()
        places = [(p.data_ptr(), 0 if p.grad is None else p.grad.data_ptr()) for p in params]
        if self._known is None or self._known[0] != places:
            moments, updates = iter(self.moments), []
            for group in self.groups:
                moved = [(p, m) for p, m in zip(group.params, moments, strict=False) if p.grad is not None]
                fused = [m.peak is None and can_fuse(p) for p, m in moved]
                rows = [(p, _grad(p), m.mean, m.square) for (p, m), one in zip(moved, fused, strict=True) if one]
                runs = [tuple(t.numpy() for t in run) for run in coalesce(rows)]
                updates.append((runs, [pair for pair, one in zip(moved, fused, strict=True) if not one]))
            self._known = places, updates
        return self._known[1]

    @torch.no_grad()
    def shorten(self, longest: float) -> None:
        """Scale the gradient of all parameters together down to a length."""
        grads = [p.grad for p in self.parameters() if p.grad is not None]
        length = math.sqrt(sum(float(g.square().sum()) for g in grads))
        if length > longest:
            for g in grads:
                g.mul_(longest / length)


def _grad(p: Tensor) -> Tensor:
    assert p.grad is not None
    return p.grad
