"""A penalty between the samples: how much a field bends at places where nobody looked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from alfilter.methods import Field

_SHORTEST, _LONGEST = 0.5, 4.0  # lengths of h, in distances between seen samples
_ROUGHNESS = 0.5  # H: differences of natural signals grow as |h|^H, a spectrum of 1/f^(d + 2H) in power
_FLAT = 0.01  # of the values' range, below which a difference counts as none, so that p < 2 has a gradient


def second_differences(x: Tensor, h: Tensor, field: Field) -> list[Tensor]:
    """f(x-h) - 2f(x) + f(x+h) of every output of a field that is trained. x, h: (n, d) → (n, c) each."""
    outputs = field.outputs(torch.cat((x - h, x, x + h)))
    return [before - 2 * at + after for before, at, after in (out.chunk(3) for out in outputs if out.requires_grad)]


def bending(field: Field, gap: Sequence[float], count: int, power: float, generator: torch.Generator) -> Tensor:
    """The mean over places x, directions and lengths (log-uniform) of h of |Δ²_h f(x)|^p / |h|^(d + pH), h in gaps.

    For p = 2 and H = 1/2 this is the squared norm of the Sobolev space whose reproducing kernel is the exponential one,
    exp(-|x-y|), in d = 1 and 2; for p near 1 a Besov norm, which lets edges be edges. Three evaluations a place
    instead of second derivatives.

    gap: distance between seen samples along each axis. count: places.
    """
    dims = len(gap)
    draw = torch.rand(count, dims + 1, generator=generator)
    direction = torch.randn(count, dims, generator=generator)
    length = _SHORTEST * (_LONGEST / _SHORTEST) ** draw[:, :1]  # (n, 1)
    step = direction / direction.norm(dim=1, keepdim=True) * length * torch.tensor(gap)
    step = step.clamp(-0.5, 0.5)
    place = (2 * draw[:, 1:] - 1) * (1 - step.abs())  # so that x ± h stays inside
    device = field.shift.device
    span = field.scale.abs().mean() * 2
    weight = length.squeeze(1).pow(-(dims + power * _ROUGHNESS)).to(device)
    differences = second_differences(place.to(device), step.to(device), field)
    sizes = [((d / span).square().sum(-1) + _FLAT**2).pow(power / 2) for d in differences]
    return torch.stack([(weight * size).mean() for size in sizes]).mean()
