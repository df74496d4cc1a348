"""Local structure by hand, and a test that is not fooled by smoothness."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.analysis import pass_band
from alfilter.analysis.spectrum import spearman
from alfilter.analysis.structure import block_means, busiest_square, gradient_energy, shift_test, spectral_centroid
from alfilter.errors import UserError


def smooth(seed: int, size: int = 12) -> torch.Tensor:
    """A smooth random map on a torus."""
    noise = torch.randn(size, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    radius = torch.hypot(*torch.meshgrid(*(torch.fft.fftfreq(size).double(),) * 2, indexing="ij"))
    result: torch.Tensor = torch.fft.ifft2(torch.fft.fft2(noise) * torch.exp(-((radius * 8) ** 2))).real
    return result


def test_gradient_energy_of_a_ramp() -> None:
    rows, columns = torch.meshgrid(torch.arange(8.0), torch.arange(12.0), indexing="ij")
    energy = block_means(gradient_energy(2 * rows + columns), 4)
    assert energy.shape == (2, 3)
    torch.testing.assert_close(energy, torch.full((2, 3), 5.0, dtype=torch.float64))


def test_gradient_energy_by_hand() -> None:
    image = torch.tensor([[0.0, 3.0], [4.0, 4.0]])
    assert gradient_energy(image).tolist() == [[16 + 9, 1 + 9], [16, 1]]  # down 4, 1; right 3, 0; both repeat
    assert gradient_energy(torch.ones(1, 1)).tolist() == [[0.0]]


def test_gradient_energy_sees_the_finest_stripes() -> None:
    stripes = (torch.arange(16) % 2).double().expand(16, 16)
    assert bool((gradient_energy(stripes) == 1).all())
    assert float(torch.gradient(stripes)[1][:, 1:-1].abs().max()) == 0  # central differences do not


def test_the_busiest_square() -> None:
    target = torch.zeros(20, 30)
    target[12:18:2, 20:26] = 1.0
    top, left = busiest_square(target, 8)
    assert 8 <= top <= 12
    assert 17 <= left <= 22
    assert busiest_square(target, 40) == (0, 0)


def test_the_centroid_follows_the_frequency() -> None:
    columns = torch.arange(64.0)
    slow, fast = (torch.cos(2 * math.pi * f * columns).expand(32, 64) for f in (1 / 16, 3 / 8))
    picture = torch.cat((slow, fast))
    centroid = spectral_centroid(picture, 8)
    assert centroid.shape == (8, 8)
    assert float(centroid[1, 3]) == pytest.approx(1 / 16, abs=0.03)
    assert float(centroid[6, 3]) == pytest.approx(3 / 8, abs=0.02)
    assert float(spectral_centroid(torch.full((16, 16), 0.7), 8).abs().max()) == 0.0


def test_blocks() -> None:
    assert block_means(torch.ones(9, 11), 4).shape == (2, 2)
    with pytest.raises(UserError, match="blocks of 8 do not fit"):
        block_means(torch.ones(4, 9), 8)


def test_related_maps_are_found() -> None:
    base = smooth(0)
    value, p, others = shift_test(base, base + 0.1 * smooth(1))
    assert value > 0.9
    assert p == 1 / 144
    assert others.shape == (12, 12)
    assert float(others[3, 5]) == pytest.approx(spearman(base.roll((3, 5), (0, 1)), base + 0.1 * smooth(1)), abs=1e-9)
    value, p, _ = shift_test(base, -base)
    assert value == pytest.approx(-1.0)
    assert p <= 0.05


def test_smooth_maps_that_have_nothing_to_do_with_each_other_are_not() -> None:
    """Over independent pairs a test at 5 % fires in about 5 %; with a plain shuffle these maps fire in most cases."""
    pairs = [(smooth(2 * i), smooth(2 * i + 1)) for i in range(60)]
    fired = sum(shift_test(a, b)[1] <= 0.05 for a, b in pairs)
    assert fired <= 9  # of 60: expected 3, ten or more have a chance of 1e-3
    naive = 1.96 / math.sqrt(143)  # what independent pixels would allow
    assert sum(abs(shift_test(a, b)[0]) > naive for a, b in pairs) > 20


def test_maps_of_one_shape() -> None:
    with pytest.raises(UserError, match=r"got \(2, 3\) and \(3, 2\)"):
        shift_test(torch.ones(2, 3), torch.ones(3, 2))


def test_pass_band() -> None:
    """B = 4 around 6: channels 4 … 8 pass at least half; beyond the ends none does."""
    first, last, width = pass_band(torch.tensor([6.0, -3.0, 14.5]), 12, 4.0, 10.0)
    assert (int(first[0]), int(last[0])) == (4, 8)
    assert float(width[0]) == pytest.approx(4.0)
    assert all(int(a) > int(b) for a, b in zip(first[1:], last[1:], strict=True))
