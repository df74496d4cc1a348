"""What a kernel's eigenvalues and eigenvectors say: spectrum, retention, effective rank, order by frequency."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from alfilter.errors import UserError


def eigenvalues(kernel: Tensor) -> Tensor:
    """λ_1 ≥ λ_2 ≥ … of a symmetric kernel (n, n) → (n,); what rounding made negative is zero.

    >>> eigenvalues(torch.tensor([[2.0, 1.0], [1.0, 2.0]])).round(decimals=4)
    tensor([3., 1.], dtype=torch.float64)
    """
    values: Tensor = torch.linalg.eigvalsh(_symmetric(kernel))
    return values.flip(0).clamp(min=0)


def eigenvectors(kernel: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues as `eigenvalues`, and the unit eigenvectors as columns in the same order: (n,), (n, n)."""
    values, vectors = torch.linalg.eigh(_symmetric(kernel))
    return values.flip(0).clamp(min=0), vectors.flip(1)


def normalised(values: Tensor) -> Tensor:
    """λ̃_j = λ_j / λ_1, the spectrum of the paper's figure (a)."""
    if not float(values[0]) > 0:
        raise UserError("a kernel that is zero has no normalised spectrum; is any parameter in use?")
    return values / values[0]


def retention(values: Tensor, baseline: Tensor) -> Tensor:
    """λ̃_j of one kernel over λ̃_j of a baseline, the paper's figure (b): above 1, the direction is retained better.

    NaN where the baseline's λ̃_j is below what float64 resolves: there is no ratio of two roundings.

    >>> retention(torch.tensor([4.0, 2.0]), torch.tensor([8.0, 2.0]))
    tensor([1., 2.])
    """
    if values.shape != baseline.shape:
        raise UserError(f"two spectra of one length are compared, got {len(values)} and {len(baseline)} eigenvalues")
    ours, theirs = normalised(values), normalised(baseline)
    return torch.where(theirs > resolved(len(theirs)), ours / theirs, torch.nan)


def resolved(count: int) -> float:
    """n ε: eigenvalues below this share of the first are rounding."""
    return count * torch.finfo(torch.float64).eps


def effective_rank(values: Tensor) -> float:
    """exp(-Σ p_j log p_j), p_j = λ_j / Σλ: how many equal eigenvalues would be spread as wide (Roy, Vetterli 2007).

    >>> effective_rank(torch.tensor([1.0, 1.0, 0.0]))
    2.0
    """
    share = values.double() / values.double().sum()
    return float(torch.special.entr(share).sum().exp())


def mean_frequencies(vectors: Tensor) -> Tensor:
    """Σ_k k |v̂_k|² / Σ_k |v̂_k|² of every column on n even samples of one period: (n, m) → (m,), in cycles.

    >>> wave = torch.cos(2 * torch.pi * 3 * torch.arange(16) / 16)
    >>> mean_frequencies(wave[:, None]).round(decimals=4)
    tensor([3.])
    """
    power: Tensor = torch.fft.fft(vectors, dim=0).abs().square()  # (n, m)
    return (_cycles(len(vectors), power).unsqueeze(-1) * power).sum(0) / power.sum(0)


def energies(kernel: Tensor) -> Tensor:
    """u_kᴴ Θ u_k / tr Θ for the unit Fourier vector u_k, k = 0 … ⌊n/2⌋, both signs of k added: (⌊n/2⌋+1,), sum 1.

    How fast gradient descent moves along a frequency, as a share of all: the kernel on n even samples of one period.

    >>> energies(torch.eye(4))
    tensor([0.2500, 0.5000, 0.2500], dtype=torch.float64)
    """
    count = len(kernel)
    turned: Tensor = torch.fft.ifft(
        torch.fft.fft(_symmetric(kernel), dim=0), dim=1
    )  # F Θ Fᴴ: the diagonal is u_kᴴ Θ u_k
    share = turned.diagonal().real / _symmetric(kernel).trace()
    folded = share.new_zeros(count // 2 + 1)
    return folded.index_add_(0, _cycles(count, share).long(), share)


def octaves(energy: Tensor, levels: int) -> Tensor:
    """Energies of one frequency band per dyadic scale, 2^j/√2 ≤ k < 2^j √2 for j < levels: (levels,)."""
    cycles = torch.arange(len(energy), dtype=torch.float64)
    edges = 2.0 ** (torch.arange(levels + 1, dtype=torch.float64) - 0.5)
    sums = [energy[(cycles >= low) & (cycles < high)].sum() for low, high in pairwise(edges)]
    return torch.stack(sums)


def frequency_order(values: Tensor, vectors: Tensor) -> float:
    """Spearman's correlation of the rank j with the mean frequency of eigenvector j, over resolved eigenvalues.

    1: the larger the eigenvalue the lower the frequency, spectral bias in its purest form; 0: no order.
    """
    above_noise = normalised(values) > resolved(len(values))
    frequency = mean_frequencies(vectors[:, above_noise])
    return spearman(torch.arange(len(frequency), dtype=torch.float64), frequency)


def spearman(a: Tensor, b: Tensor) -> float:
    """Correlation of the ranks of two lists of numbers; ties share their mean rank. NaN when one is constant.

    >>> round(spearman(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([10.0, 100.0, 1000.0])), 6)
    1.0
    """
    return pearson(ranks(a), ranks(b))


def pearson(a: Tensor, b: Tensor) -> float:
    """Correlation of two lists of numbers; NaN when one is constant."""
    left, right = (v.double().flatten() - v.double().mean() for v in (a, b))
    return float((left @ right) / (left.norm() * right.norm()))


def ranks(values: Tensor) -> Tensor:
    """The place of every number among all, counted from one; equal numbers share their mean place. (...) → (n,).

    >>> ranks(torch.tensor([5.0, 1.0, 5.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, group, count = torch.unique(values.flatten(), return_inverse=True, return_counts=True)
    last = count.cumsum(0).double()
    mean_ranks: Tensor = (last - (count - 1) / 2)[group]
    return mean_ranks


def _cycles(count: int, like: Tensor) -> Tensor:
    """|k| of every bin of a transform of n samples."""
    places: Tensor = torch.fft.fftfreq(count, dtype=torch.float64, device=like.device)
    return (places * count).abs().round().to(like.dtype)


def _symmetric(kernel: Tensor) -> Tensor:
    if kernel.dim() != 2 or kernel.shape[0] != kernel.shape[1] or len(kernel) == 0:
        raise UserError(f"a kernel on n points has the shape (n, n), got {tuple(kernel.shape)}")
    return (kernel.double() + kernel.double().T) / 2
