"""Activations beyond sine and ReLU as pure functions of z = W x + b: the shapes that other systems are known by.

Every function takes (z, ω, s): a frequency and a second number, each read only by the shapes that have it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Activation = Callable[[Tensor, float, "float | Tensor"], Tensor]


def gauss(z: Tensor, omega: float, scale: float | Tensor) -> Tensor:
    """exp(-(s z)²), a bump (Ramasinghe & Lucey 2022); s = 1/(σ√2) in the source's exp(-z²/2σ²). (...) → (...).

    >>> gauss(torch.tensor([0.0, 0.5]), 0.0, 2.0)
    tensor([1.0000, 0.3679])
    """
    del omega
    return torch.exp(-(scale * z).square())


def wavelet(z: Tensor, omega: float, scale: float | Tensor) -> Tensor:
    """cos(ω z) exp(-(s z)²), the real Gabor wavelet of WIRE (Saragadam et al. 2023). (...) → (...)."""
    return torch.cos(omega * z) * torch.exp(-(scale * z).square())


def complex_wavelet(z: Tensor, omega: float, scale: float | Tensor) -> Tensor:
    """exp(jω z - |s z|²) of complex z, WIRE's activation. z: (..., 2w), all real parts then all imaginary ones.

    With z = a + jb it is e^(-ωb - s²(a²+b²)) (cos ωa + j sin ωa): real arithmetic, half the memory traffic of torch's
    complex numbers.

    >>> complex_wavelet(torch.tensor([0.5, 0.0]), 3.0, 1.0)  # e^-0.25 (cos 1.5, sin 1.5)
    tensor([0.0551, 0.7768])
    """
    real, imaginary = z.chunk(2, dim=-1)
    size = torch.exp(-omega * imaginary - scale * scale * (real.square() + imaginary.square()))
    return torch.cat((size * torch.cos(omega * real), size * torch.sin(omega * real)), dim=-1)


def sinc(z: Tensor, omega: float, scale: float | Tensor) -> Tensor:
    """sin(ω z)/(ω z), 1 at zero (Saratchandran et al. 2024). (...) → (...).

    Near zero its series, whose derivatives keep their digits.

    >>> sinc(torch.tensor([0.0, 0.5]), 3.0, 0.0)
    tensor([1.0000, 0.6650])
    """
    del scale
    u = omega * z
    near = u.abs() < 1
    square = torch.where(near, u.square(), 0)
    series = 1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110))))
    away = torch.where(near, 1, u)
    return torch.where(near, series, torch.sin(away) / away)


def hosc(z: Tensor, omega: float, beta: float | Tensor) -> Tensor:
    """tanh(β sin(ω z)): from a sine (β → 0) to a square wave (β → ∞) (Serrano et al. 2024). (...) → (...).

    >>> hosc(torch.tensor([0.5]), 3.0, 2.0)  # tanh(2 sin 1.5)
    tensor([0.9637])
    """
    return torch.tanh(beta * torch.sin(omega * z))


def finer(z: Tensor, omega: float, scale: float | Tensor) -> Tensor:
    """sin(ω(|z|+1) z) with |z|+1 held fixed in the gradient, as FINER's code has it (Liu et al. 2024). (...) → (...).

    >>> finer(torch.tensor([0.5]), 2.0, 0.0)  # sin(2 · 1.5 · 0.5)
    tensor([0.9975])
    """
    del scale
    return torch.sin(omega * (z.abs() + 1).detach() * z)


def finer_full(z: Tensor, omega: float, scale: float | Tensor) -> Tensor:
    """sin(ω(|z|+1) z) with its whole gradient. (...) → (...)."""
    del scale
    return torch.sin(omega * (z.abs() + 1) * z)


ACTIVATIONS: dict[str, Activation] = {
    "gauss": gauss,
    "wavelet": wavelet,
    "complex-wavelet": complex_wavelet,
    "sinc": sinc,
    "hosc": hosc,
    "finer": finer,
    "finer-full": finer_full,
}
