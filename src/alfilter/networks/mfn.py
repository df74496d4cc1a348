"""Networks that multiply filters of the coordinates: MFN with sine or Gabor filters, and band-limited BACON."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from alfilter.networks.base import Network, linears, uniform
from alfilter.ops.gabor import gabor_product
from alfilter.ops.matmul import linear
from alfilter.ops.multiplicative import sine_filters


class MFN(Network):
    """z ← g_0(x), then z ← (W z + b) ⊙ g_i(x) for `depth` filters, then a linear output (Fathony et al. 2021).

    sine filters g = sin(Ωx + φ); Gabor ones g = sin(Ωx + φ) exp(-γ|x-μ|²/2). A product of sines is a sum of sines: the
    output is a sum of sines with a known, finite set of frequencies, those of the filters added and subtracted.

    The start is the source's. W: U(±√(1/w)). Ω: U(±1/√d) · scale/√(depth+1), for Gabor filters times √γ. φ: U(±π).
    μ: U(±1) in every coordinate. γ: Gamma(6/(depth+1), 1).

    gabor: which filters. scale: the frequencies' range, 256 in the source.

    >>> MFN(2, 3, width=8, depth=3, scale=256.0, gabor=True)(torch.zeros(5, 2)).shape
    torch.Size([5, 3])
    """

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        width: int,
        depth: int,
        scale: float,
        gabor: bool,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_dim, out_dim)
        self.gabor = gabor
        self.omegas, self.phases = nn.ParameterList(), nn.ParameterList()
        self.centres, self.gammas = nn.ParameterList(), nn.ParameterList()
        for _ in range(depth + 1):
            omega = uniform((width, in_dim), 1 / math.sqrt(in_dim), generator) * (scale / math.sqrt(depth + 1))
            if gabor:
                shape = torch.full((width,), 6 / (depth + 1))
                gamma = torch._standard_gamma(shape, generator=generator)
                self.gammas.append(nn.Parameter(gamma))
                self.centres.append(nn.Parameter(uniform((width, in_dim), 1.0, generator)))
                omega = omega * gamma.sqrt()[:, None]
            self.omegas.append(nn.Parameter(omega))
            self.phases.append(nn.Parameter(uniform((width,), math.pi, generator)))
        self.weights, self.biases = linears([width] * (depth + 1) + [out_dim], 1.0, generator)

    def forward(self, features: Tensor) -> Tensor:
        *hidden, head = zip(self.weights, self.biases, strict=True)
        filters = list(zip(self.omegas, self.phases, strict=True))
        if not self.gabor:
            return sine_filters(features, filters, hidden, [head])[0]
        envelopes = list(zip(self.centres, self.gammas, strict=True))
        z = gabor_product(*_nothing(features, len(self.phases[0])), features, *filters[0], *envelopes[0])
        for (w, b), omega, envelope in zip(hidden, filters[1:], envelopes[1:], strict=True):
            z = gabor_product(linear(z, w), b, features, *omega, *envelope)  # (..., width)
        return F.linear(z, *head)


class Bacon(Network):
    """A multiplicative network of frozen, quantised frequencies, an output after every filter (Lindell et al. 2022).

    z ← sin(Ω_0 u + φ_0); z ← (W_i z + b_i) ⊙ sin(Ω_i u + φ_i), y_i = V_i z + c_i for i = 1 … depth. u are the
    coordinates in periods of the domain, Ω_i holds whole numbers of cycles times 2π, drawn evenly from {-B_i, …, B_i}
    per axis and never trained. Frequencies of a product add, so y_i holds no frequency above B_0 + … + B_i in any axis:
    `limits`.

    resolution: samples per axis, N. The domain is one period: sample k of an axis sits at u = (k + ½)/N - ½, the
    source's pixel centres, so that the first and the last sample are neighbours and not the same place.

    shares: relative bands of the filters; B_i = reach · N/2 · share/total, at least 1, so that with reach 1 the last
    output ends at the Nyquist frequency.

    >>> Bacon(2, 3, width=8, resolution=(256, 256), shares=(1, 1, 2, 2, 2)).limits
    [(32, 32), (64, 64), (96, 96), (128, 128)]
    """

    stretch: Tensor

    def __init__(
        self,
        in_dim: int,
        out_dim: int,
        *,
        width: int,
        resolution: Sequence[int],
        shares: Sequence[int],
        reach: float = 1.0,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(in_dim, out_dim)
        whole = reach / 2 / sum(shares)
        self.bands = [tuple(max(1, round(n * whole * share)) for n in resolution) for share in shares]
        self.register_buffer("stretch", torch.tensor([(n - 1) / (2 * n) for n in resolution]))
        self.phases = nn.ParameterList()
        for i, band in enumerate(self.bands):
            cycles = [torch.randint(-b, b + 1, (width,), generator=generator) for b in band]
            self.register_buffer(f"cycles{i}", torch.stack(cycles, dim=-1).float())
            self.phases.append(nn.Parameter(uniform((width,), math.pi, generator)))
        depth = len(shares) - 1
        self.weights, self.biases = linears([width] * (depth + 1), 6.0, generator)
        heads = [linears([width, out_dim], 6.0, generator) for _ in range(depth)]
        self.head_weights = nn.ParameterList([weights[0] for weights, _ in heads])
        self.head_biases = nn.ParameterList([biases[0] for _, biases in heads])

    @property
    def limits(self) -> list[tuple[int, ...]]:
        """The highest frequency of every output along every axis, in cycles across the domain."""
        axes = list(zip(*self.bands, strict=True))
        return [tuple(sum(bands[: i + 2]) for bands in axes) for i in range(len(self.head_weights))]

    def forward(self, features: Tensor) -> Tensor:
        return self._outputs(features, 1)[0]

    def scales(self, features: Tensor) -> Tensor:
        return self._outputs(features, len(self.head_weights))

    def _outputs(self, x: Tensor, count: int) -> Tensor:
        """The last outputs, (count, ..., c)."""
        u = x * self.stretch * (2 * math.pi)  # 2π here and whole numbers in the filters: exact cycles in any precision
        filters = [(self.get_buffer(f"cycles{i}"), phase) for i, phase in enumerate(self.phases)]
        heads = list(zip(self.head_weights, self.head_biases, strict=True))[-count:]
        return sine_filters(u, filters, list(zip(self.weights, self.biases, strict=True)), heads)


def _nothing(x: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """What makes a product layer its filter alone: (0 + 1) ⊙ g."""
    return x.new_zeros(*x.shape[:-1], width), x.new_ones(width)
