"""The paper's kernel view: K, Θ_AL, its local form and λ_j^AL as functions, and how an empirical kernel compares.

The view sums one cosine per dyadic scale. In d dimensions cos(2^j π(x-x')) is read as Σ_k cos(2^j π(x_k-x'_k)), the
inner product of the channels S_j of the encoding; for d = 1 it is the paper's term.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass

import torch
from torch import Tensor

from alfilter.analysis.field import Field
from alfilter.analysis.ntk import Part, empirical_ntk
from alfilter.core import band_response
from alfilter.encodings import FilteredFourier
from alfilter.errors import UserError

ALL_PASS = 1e4  # a band so wide that every channel passes


def scale_cosines(x: Tensor, y: Tensor, levels: int) -> Tensor:
    """Σ_k cos(2^j π(x_k - y_k)) of every scale j. x: (n, d), y: (m, d) → (L, n, m).

    >>> scale_cosines(torch.tensor([[0.0]]), torch.tensor([[1.0]]), 3).flatten().tolist()
    [-1.0, 1.0, 1.0]
    """
    lag = x.unsqueeze(1) - y.unsqueeze(0)  # (n, m, d)
    return torch.stack([torch.cos(2.0**j * math.pi * lag).sum(-1) for j in range(levels)])


def dyadic_kernel(x: Tensor, y: Tensor, levels: int) -> Tensor:
    """K(x, x') = Σ_j cos(2^j π(x - x')), the kernel of the encoding (Eq. ntk_fourier2). (n, d), (m, d) → (n, m).

    Exactly ⟨γ(x), γ(x')⟩. The paper says ≈ because a network follows.

    >>> dyadic_kernel(torch.zeros(1, 2), torch.zeros(1, 2), 8)
    tensor([[16.]])
    """
    return scale_cosines(x, y, levels).sum(0)


def filtered_kernel(x: Tensor, y: Tensor, responses: tuple[Tensor, Tensor], weights: Tensor) -> Tensor:
    """Θ_AL(x, x') ≈ Σ_j λ_j H̄_j(α(x)) H̄_j(α(x')) cos(2^j π(x - x')) (Eqs. kernel_filtered, A.6).

    responses: H̄_j at x (n, L) and at y (m, L). weights: λ_j (L,). (n, d), (m, d) → (n, m).
    """
    left, right = responses
    pairs = left.T.unsqueeze(-1) * right.T.unsqueeze(1)  # (L, n, m)
    return (weights.view(-1, 1, 1) * pairs * scale_cosines(x, y, len(weights))).sum(0)


def local_kernel(x: Tensor, y: Tensor, response: Tensor, weights: Tensor) -> Tensor:
    """Θ_AL near x_0 ≈ Σ_j λ_j H̄_j(α(x_0))² cos(2^j π(x - x')) (Eqs. kernel_local, A.11): `filtered_kernel` with one α.

    response: H̄_j(α(x_0)) (L,). weights: λ_j (L,).
    """
    return (local_eigenvalues(response, weights).view(-1, 1, 1) * scale_cosines(x, y, len(weights))).sum(0)


def local_eigenvalues(response: Tensor, weights: Tensor) -> Tensor:
    """λ_j^AL(x) ≈ H̄_j(α(x))² λ_j (Eqs. local_eig, A.13). response: (..., L), weights: (L,) → (..., L).

    >>> local_eigenvalues(torch.tensor([1.0, 0.5]), torch.tensor([2.0, 8.0]))
    tensor([2., 2.])
    """
    return response.square() * weights


def wave_packets(places: Tensor, centres: Tensor, levels: int, width: float = math.inf) -> Tensor:
    """Unit vectors exp(iπ 2^j t - (t-c)²/(4w²)) on places t (n,), for every centre c and scale j: (m, L, n), complex.

    |v|² is a Gaussian of standard deviation w around c; an infinite width is the plain Fourier vector of the line.
    """
    offset = places - centres.unsqueeze(-1)  # (m, n)
    envelope = torch.exp(-offset.square() / (4 * width**2))
    scales = math.pi * 2.0 ** torch.arange(levels, dtype=places.dtype)
    waves = torch.exp(1j * scales.unsqueeze(-1) * places)  # (L, n)
    packets = envelope.unsqueeze(1) * waves
    length: Tensor = torch.linalg.vector_norm(packets, dim=-1, keepdim=True)
    return packets / length


def packet_energies(kernel: Tensor, packets: Tensor) -> Tensor:
    """vᴴ Θ v of every wave packet v (m, L, n): how strongly the kernel acts on that scale at that place. → (m, L)."""
    return torch.einsum("mjn,nk,mjk->mj", packets.conj(), kernel.to(packets.dtype), packets).real


def unfiltered(field: Field) -> Field:
    """The same field, weight by weight, with every channel open: the paper's "unfiltered case"."""
    if not isinstance(field.encoding, FilteredFourier):
        raise UserError("only a field with an α has an unfiltered twin; give an al- method")
    twin = copy.deepcopy(field)
    assert isinstance(twin.encoding, FilteredFourier)
    twin.encoding.bandwidth = ALL_PASS
    return twin


@dataclass(frozen=True)
class Reweighting:
    """What the filter should do to every scale j at every centre, and what it does: (m, L) each.

    grouped: H̄_j(α)², the factor of Eq. local_eig. channels: the mean of H_B^c(α)² over the two channels of scale j that
    belong to the line's own axis, the same idea without the grouping. filtered, open: the energy of the empirical NTK
    on the wave packet, and that of the unfiltered twin, which is the λ_j of the equation.
    """

    grouped: Tensor
    channels: Tensor
    filtered: Tensor
    open: Tensor


def reweighting(
    field: Field, x: Tensor, centres: Tensor, axis: int, width: float = math.inf, parameters: Part = "network"
) -> Reweighting:
    """The filter's effect on a line x (n, d) along `axis`, at centres (m,) on it, through packets of that width."""
    encoding, twin = field.encoding, unfiltered(field)
    assert isinstance(encoding, FilteredFourier)
    scale, shift = encoding.placement.scale[axis % len(encoding.placement.scale)], encoding.placement.shift
    packets = wave_packets(x[:, axis] * scale + shift, centres * scale + shift, encoding.levels, width * scale)
    filtered, open_ = (packet_energies(empirical_ntk(each, x, parameters), packets) for each in (field, twin))
    places = x[:1].repeat(len(centres), 1)
    places[:, axis] = centres
    with torch.no_grad():
        alpha = encoding.alpha(places.to(encoding.alpha.values.dtype)).double()
    response = band_response(alpha, 2 * encoding.in_dim * encoding.levels, encoding.bandwidth, encoding.kappa)
    by_scale = response.view(len(centres), encoding.levels, encoding.in_dim, 2)
    return Reweighting(by_scale.mean((2, 3)).square(), by_scale[:, :, axis].square().mean(-1), filtered, open_)


def overlap(a: Tensor, b: Tensor) -> Tensor:
    """Σ_j min(p_j, q_j) of the shares p = a/Σa and q = b/Σb along the last axis: 1 where two spectra agree. → (...).

    >>> overlap(torch.tensor([1.0, 1.0, 0.0]), torch.tensor([0.0, 3.0, 3.0]))
    tensor(0.5000)
    """
    left, right = (v.clamp(min=0) / v.clamp(min=0).sum(-1, keepdim=True) for v in (a, b))
    return torch.minimum(left, right).sum(-1)
