"""Spectra: by hand, against direct sums, and their limits."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from alfilter.analysis import kernel_facts, retention_by_range, spectrum
from alfilter.errors import UserError
from alfilter.methods import build


def stationary(weights: dict[int, float], count: int = 32) -> torch.Tensor:
    """Σ_k w_k cos(2πk(i-j)/n): eigenvalue w_k n/2 twice at frequency k."""
    place = torch.arange(count, dtype=torch.float64)
    lag = 2 * math.pi * (place[:, None] - place) / count
    return sum((w * torch.cos(k * lag) for k, w in weights.items()), start=torch.zeros(count, count))


def test_a_stationary_kernel_has_its_weights_as_eigenvalues() -> None:
    kernel = stationary({1: 4.0, 5: 1.0})
    values = spectrum.eigenvalues(kernel)
    torch.testing.assert_close(values[:4], torch.tensor([64.0, 64.0, 16.0, 16.0], dtype=torch.float64))
    assert float(values[4:].max()) < 1e-10
    assert spectrum.effective_rank(torch.tensor([1.0, 1.0, 1.0, 0.0])) == pytest.approx(3.0)


def test_energies_are_the_share_of_every_frequency() -> None:
    energy = spectrum.energies(stationary({1: 4.0, 5: 1.0}))
    assert energy[1] == pytest.approx(0.8)
    assert energy[5] == pytest.approx(0.2)
    assert float(energy.sum()) == pytest.approx(1.0)
    octave = spectrum.octaves(energy, 5)  # 5 lies between 4/√2 and 4√2
    assert octave.tolist() == pytest.approx([0.8, 0.0, 0.2, 0.0, 0.0], abs=1e-12)


def test_energies_against_fourier_vectors() -> None:
    half = torch.randn(9, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    kernel = half @ half.T
    place = torch.arange(9, dtype=torch.float64)
    for k, energy in enumerate(spectrum.energies(kernel)):
        parts = [f(2 * math.pi * k * place / 9) / 3 for f in (torch.cos, torch.sin)]
        direct = sum(float(u @ kernel @ u) for u in parts) * (1 if k == 0 else 2)  # k and -k
        assert float(energy) == pytest.approx(direct / float(kernel.trace()))


def test_order_of_frequencies() -> None:
    falling = {k: 1.0 / k for k in range(1, 15)}
    rising = {k: float(k) for k in range(1, 15)}
    orders = [spectrum.frequency_order(*spectrum.eigenvectors(stationary(w))) for w in (falling, rising)]
    assert orders[0] == pytest.approx(1.0, abs=0.01)
    assert orders[1] == pytest.approx(-1.0, abs=0.01)


def test_retention_by_hand_and_where_there_is_none() -> None:
    ours, theirs = torch.tensor([2.0, 1.0, 1.0, 1e-3]), torch.tensor([8.0, 2.0, 8.0, 0.0])
    ratio = spectrum.retention(ours, theirs)
    assert ratio[:3].tolist() == pytest.approx([1.0, 2.0, 0.5])
    assert math.isnan(float(ratio[3]))
    parts = retention_by_range(ours, theirs)
    assert parts["middle"] == pytest.approx(2.0)  # of four eigenvalues, the second
    assert parts["tail"] == pytest.approx(0.5)
    with pytest.raises(UserError, match="got 4 and 3 eigenvalues"):
        spectrum.retention(ours, theirs[:3])
    with pytest.raises(UserError, match="a kernel that is zero"):
        spectrum.normalised(torch.zeros(3))
    with pytest.raises(UserError, match=r"the shape \(n, n\), got \(2, 3\)"):
        spectrum.eigenvalues(torch.zeros(2, 3))


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=3, max_size=20))
def test_spearman_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    a, b = (torch.tensor(column, dtype=torch.float64) for column in zip(*pairs, strict=True))
    ours = spectrum.spearman(a, b)
    if len(a.unique()) == 1 or len(b.unique()) == 1:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(float(spearmanr(a, b).statistic), abs=1e-9)


def test_facts_of_a_filter_that_is_open_low_or_high() -> None:
    """The band decides which frequencies the kernel serves: α at the low end, at the high end."""
    sizes = {"in_dim": 1, "out_dim": 1, "levels": 6, "bandwidth": 4.0, "grid": 4, "width": 64}
    low, high = (
        kernel_facts(build("al-relu", start=start, **sizes), 32, "network")
        for start in (0.0, 11.0)  # type: ignore[arg-type]
    )
    middle = [float((torch.arange(257) * facts.energy)[1:].sum() / facts.energy[1:].sum()) for facts in (low, high)]
    assert middle[0] * 3 < middle[1]
    assert len(low.numbers()["spectrum"]) == 32
    assert low.numbers()["spectrum"][0] == 1.0
