"""The kernel of one field in numbers, and two fields compared: what the paper's NTK figure shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from alfilter.analysis import spectrum
from alfilter.analysis.field import Field
from alfilter.analysis.ntk import Part, empirical_ntk, line_points, random_points

LINE = 512  # samples of the line: its transform reaches the 128 cycles of eight dyadic scales, and twice as far
OCTAVES = 9
# where a spectrum of n eigenvalues is looked at, as shares of n; the first eigenvalue is 1 by definition
RANGES = {"first": (0.0, 1 / 64), "low": (1 / 64, 1 / 8), "middle": (1 / 8, 1 / 2), "tail": (1 / 2, 1.0)}


@dataclass(frozen=True)
class KernelFacts:
    """Of one field: eigenvalues (n,) on random points; effective rank; on a line, energy by frequency and the order.

    energy: share of the kernel at 0 … n/2 cycles across the domain. order: 1 where large eigenvalues mean low
    frequencies, see `spectrum.frequency_order`.
    """

    eigenvalues: Tensor
    effective_rank: float
    energy: Tensor
    order: float

    def numbers(self) -> dict[str, Any]:
        """The facts as plain numbers, the spectrum as it is."""
        return {
            "effective_rank": self.effective_rank,
            "frequency_order": self.order,
            "octaves": spectrum.octaves(self.energy, OCTAVES).tolist(),
            "spectrum": spectrum.normalised(self.eigenvalues).tolist(),
        }


def kernel_facts(field: Field, points: int, parameters: Part = "both", seed: int = 0) -> KernelFacts:
    """The facts of a field's empirical NTK, summed over outputs, on `points` random points and on a line.

    >>> from alfilter.methods import build
    >>> facts = kernel_facts(build("siren", in_dim=2, out_dim=1, width=8), points=16)
    >>> 1 <= facts.effective_rank <= 16, len(facts.energy)
    (True, 257)
    """
    values = spectrum.eigenvalues(empirical_ntk(field, random_points(points, field.in_dim, seed), parameters))
    line = empirical_ntk(field, line_points(LINE, field.in_dim, seed), parameters)
    order = spectrum.frequency_order(*spectrum.eigenvectors(line))
    return KernelFacts(values, spectrum.effective_rank(values), spectrum.energies(line), order)


def retention_by_range(values: Tensor, baseline: Tensor) -> dict[str, float | None]:
    """The geometric mean of the retention over parts of the spectrum; None where the baseline has nothing left there.

    >>> flat, steep = torch.ones(64), 0.5 ** torch.arange(64)
    >>> round(retention_by_range(flat, steep)["low"])  # eigenvalues 2 to 8: of 2¹ … 2⁷
    16
    """
    ratio = spectrum.retention(values, baseline)
    means: dict[str, float | None] = {}
    for name, (low, high) in RANGES.items():
        part = ratio[max(1, int(low * len(ratio))) : max(2, int(high * len(ratio)))]
        part = part[torch.isfinite(part) & (part > 0)]
        means[name] = float(part.log().mean().exp()) if len(part) else None
    return means
