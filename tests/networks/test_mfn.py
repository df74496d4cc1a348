"""Networks of multiplied filters: by hand, as the finite sums they are, their start, BACON's band limits by FFT."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.networks import MFN, Bacon
from alfilter.testing import check_network
from alfilter.testing.methods import check_seeds
from alfilter.testing.properties import points


def mfn(gabor: bool, *, in_dim: int = 2, width: int = 6, depth: int = 2, scale: float = 5.0, seed: int = 0) -> MFN:
    generator = torch.Generator().manual_seed(seed)
    sizes = {"width": width, "depth": depth}
    return MFN(in_dim, 3, scale=scale, gabor=gabor, generator=generator, **sizes)  # type: ignore[arg-type]


def bacon(*, in_dim: int = 2, width: int = 6, shares: tuple[int, ...] = (1, 2, 1), seed: int = 0) -> Bacon:
    generator = torch.Generator().manual_seed(seed)
    return Bacon(in_dim, 3, width=width, resolution=(16,) * in_dim, shares=shares, generator=generator)


@pytest.mark.parametrize("in_dim", [1, 2, 3, 4])
@pytest.mark.parametrize("gabor", [False, True])
def test_contract(gabor: bool, in_dim: int) -> None:
    check_network(mfn(gabor, in_dim=in_dim))


@pytest.mark.parametrize("in_dim", [1, 2, 3, 4])
def test_contract_of_bacon(in_dim: int) -> None:
    check_network(bacon(in_dim=in_dim))


def test_seeds() -> None:
    for gabor in (False, True):
        check_seeds(lambda seed, gabor=gabor: mfn(gabor, seed=seed))  # type: ignore[misc]
    check_seeds(lambda seed: bacon(seed=seed))


def test_mfn_is_a_finite_sum_of_sines() -> None:
    """Two filters: sin(a) sin(b) = (cos(a-b) - cos(a+b))/2, so the output is Σ c cos(ωx + p) over frequencies that are
    the filters' own, their sums and their differences.
    """
    network, x = mfn(False, width=4, depth=1).double(), points(20, 2).double()
    angle = [x @ network.omegas[i].t() + network.phases[i] for i in range(2)]  # (n, w)
    weight, bias, head, shift = network.weights[0], network.biases[0], network.weights[1], network.biases[1]
    expected = shift.expand(20, 3).clone()
    for k in range(4):
        for j in range(4):
            pair = (torch.cos(angle[0][:, j] - angle[1][:, k]) - torch.cos(angle[0][:, j] + angle[1][:, k])) / 2
            expected = expected + head[:, k] * weight[k, j] * pair[:, None]
        expected = expected + head[:, k] * bias[k] * torch.sin(angle[1][:, k])[:, None]
    torch.testing.assert_close(network(x), expected)


def test_gabor_filters_are_local() -> None:
    """Far from its centre a wide-γ filter lets nothing through, so the network is its last bias there."""
    network = mfn(True)
    with torch.no_grad():
        for gamma, centre in zip(network.gammas, network.centres, strict=True):
            gamma.fill_(200.0)
            centre.fill_(-0.9)
    torch.testing.assert_close(network(torch.tensor([[0.9, 0.9]]))[0], network.biases[-1])


def test_the_start_is_the_sources() -> None:
    network = mfn(True, width=4000, depth=3, scale=256.0)
    for omega, phase, centre, gamma in zip(
        network.omegas, network.phases, network.centres, network.gammas, strict=True
    ):
        assert gamma.mean().item() == pytest.approx(6 / 4, rel=0.1)  # Gamma(6/(n+1), 1): mean and variance alike
        assert gamma.var().item() == pytest.approx(6 / 4, rel=0.2)
        assert centre.std().item() == pytest.approx(1 / math.sqrt(3), rel=0.05)
        assert phase.abs().max().item() == pytest.approx(math.pi, rel=0.01)
        relative = omega / gamma.sqrt()[:, None]
        assert relative.abs().max().item() == pytest.approx(256 / 2 / math.sqrt(2), rel=0.01)
    for weight in list(mfn(False, width=256).weights)[:-1]:
        assert weight.abs().max().item() == pytest.approx(1 / 16, rel=0.01)


# ── BACON ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def spectrum(values: torch.Tensor) -> torch.Tensor:
    """|FFT| over the first axis, largest over the outputs, by whole cycles: (n//2 + 1,)."""
    return torch.fft.rfft(values, dim=0).abs().amax(-1) / len(values)


def test_bacon_spectrum_ends_where_declared() -> None:
    """Each output, sampled over one period, has energy up to its limit and none above."""
    network = bacon(in_dim=1, width=64, shares=(1, 1, 2, 2, 2)).double()
    count = 256
    u = torch.arange(count, dtype=torch.float64)[:, None] / count - 0.5  # one period, whatever the samples
    outputs = network.outputs(u / network.stretch)
    assert network.limits == [(2,), (4,), (6,), (8,)]
    for (limit,), values in zip(network.limits, outputs, strict=True):
        result = spectrum(values.detach())
        assert result[limit + 1 :].max().item() < 1e-12 * result.max().item() + 1e-12
        assert result[limit].item() > 1e-4 * result.max().item()


def test_bacon_limits_hold_along_every_axis() -> None:
    generator = torch.Generator().manual_seed(3)
    network = Bacon(2, 3, width=32, resolution=(16, 32), shares=(1, 2, 1), generator=generator).double()
    assert network.limits == [(6, 12), (8, 16)]
    places = torch.arange(64, dtype=torch.float64) / 64 - 0.5
    grid = torch.stack(torch.meshgrid(places, places, indexing="ij"), dim=-1)
    for limits, values in zip(network.limits, network.outputs(grid / network.stretch), strict=True):
        result = torch.fft.fft2(values.detach(), dim=(0, 1)).abs().amax(-1) / 64**2
        cycles = torch.fft.fftfreq(64, 1 / 64).abs()
        outside = (cycles[:, None] > limits[0]) | (cycles[None, :] > limits[1])
        assert result[outside].max().item() < 1e-12
        assert result[~outside].max().item() > 1e-3


def test_bacon_frequencies_are_frozen_whole_cycles() -> None:
    network = bacon(width=500, shares=(2, 1, 1))
    cycles = network.get_buffer("cycles0")
    assert torch.equal(cycles, cycles.round())
    assert sorted(set(cycles.round().int().flatten().tolist())) == list(range(-4, 5))
    assert not any("cycles" in name for name, _ in network.named_parameters())


def test_bacon_puts_samples_on_pixel_centres() -> None:
    """The ends of the domain, first and last of 16 samples, are at ∓15/32 of the period."""
    assert bacon().stretch.tolist() == pytest.approx([15 / 32, 15 / 32])


def test_bacon_training_start() -> None:
    network = bacon(width=600)
    assert network.weights[0].abs().max().item() == pytest.approx(math.sqrt(6 / 600), rel=0.01)
    assert network.head_weights[0].abs().max().item() == pytest.approx(math.sqrt(6 / 600), rel=0.02)
