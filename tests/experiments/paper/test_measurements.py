"""What the paper's claims are judged by: pictures whose spectrum is known, fields whose α is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from alfilter.experiments.paper import measurements
from alfilter.experiments.paper.measurements import (
    detail,
    fine_part,
    kernel_numbers,
    meaning,
    smooth_places,
    structure,
)
from alfilter.methods import Field, build


def stripes(frequency: float, size: float = 0.4, side: int = 32) -> Any:
    """A wave of that many cycles per pixel around gray, whose mirror image continues it: (side, side, 3)."""
    wave = 0.5 + size * np.cos(2 * np.pi * frequency * (np.arange(side) + 0.5))
    return np.broadcast_to(wave[None, :, None], (side, side, 3))


def half_smooth(added: float) -> Any:
    """Fine stripes on the left, flat gray on the right, there with fine stripes of a given height: (32, 32, 3)."""
    picture = np.array(stripes(3 / 8))
    picture[:, 16:] = stripes(7 / 16, added)[:, 16:]
    return picture


def test_half_the_height_is_a_quarter_of_the_power() -> None:
    assert detail(stripes(3 / 8, 0.2), stripes(3 / 8))["kept"] == pytest.approx(0.25)
    assert detail(stripes(3 / 8), stripes(3 / 8)) == pytest.approx({"kept": 1.0, "artefacts": 0.0}, abs=1e-9)
    assert np.abs(fine_part(stripes(1 / 8)[..., 0])).max() < 1e-12


def test_what_smooth_places_gain_is_an_artefact_and_what_is_missing_is_none() -> None:
    truth = half_smooth(0.0)
    smooth = smooth_places(truth.mean(-1))
    assert smooth[:, 24:].all()
    assert not smooth[:, :8].any()
    noisy, blurred = detail(half_smooth(0.1), truth), detail(np.full((32, 32, 3), 0.5), truth)
    assert noisy["artefacts"] > 0.05 * 255
    assert blurred["artefacts"] < 1
    assert blurred["kept"] < 1e-12


def test_detail_that_is_partly_missing_is_no_artefact() -> None:
    """Nor does it make up for detail that is not the picture's."""
    truth, weak = half_smooth(0.1), half_smooth(0.05)
    assert detail(weak, truth)["artefacts"] < 0.5  # of 9 that are missing
    assert detail(half_smooth(-0.1), truth)["artefacts"] > 255 * 0.1 / np.sqrt(2)


def scene() -> torch.Tensor:
    rows, columns = torch.meshgrid(torch.linspace(0, 6, 48), torch.linspace(0, 6, 48), indexing="ij")
    return (0.5 + 0.4 * torch.sin(rows) * torch.cos(columns)).unsqueeze(-1)


def test_the_same_picture_has_the_same_structure() -> None:
    assert structure(scene(), scene(), "random:0.05") == pytest.approx(1.0)


def test_fine_noise_costs_less_than_a_shift() -> None:
    noise = 0.2 * torch.randn(scene().shape, generator=torch.Generator().manual_seed(0))
    noisy, shifted = (structure(each, scene(), "random:0.05") for each in (scene() + noise, scene().roll(16, 0)))
    assert noisy > 0.8 > shifted
    assert structure(scene() + noise, scene(), "random:0.35") < noisy, "with more pixels seen, finer detail counts"


def half_striped() -> torch.Tensor:
    """Flat on the left, stripes on the right: (64, 64, 1)."""
    picture = np.full((64, 64, 1), 0.5, np.float32)
    picture[:, 32::2] = 1.0
    return torch.from_numpy(picture)


def field() -> Field:
    return build("al-sine", in_dim=2, out_dim=1, width=4, depth=1, levels=3, grid=64, start=0.0)


def test_alpha_that_follows_the_picture_correlates_with_it() -> None:
    model = field()
    with torch.no_grad():
        values = model.encoding.get_parameter("alpha.values")
        values[:, 32:] += 3.0
    numbers = meaning(model, half_striped())["meaning"]
    assert set(numbers) == {"gradient", "p_gradient", "centroid", "p_centroid"}
    assert numbers["gradient"] > 0.8


def test_what_says_nothing_has_no_meaning() -> None:
    assert meaning(field(), half_striped()) == {}, "α is the same everywhere"
    assert meaning(build("siren", in_dim=2, out_dim=1, width=4), half_striped()) == {}
    assert meaning(field(), half_striped()[:16, :16]) == {}, "too few blocks"


def test_the_kernel_of_networks_on_fourier_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "POINTS", 32)
    numbers = kernel_numbers(field(), 0)["kernel"]
    assert 1 <= numbers["effective_rank"] <= 32
    assert 0 < numbers["first"] <= 1
    assert numbers["spectrum"][0] == 1
    assert kernel_numbers(build("siren", in_dim=2, out_dim=1, width=4), 0) == {}
