"""Fine detail of pictures whose spectrum is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from alfilter.experiments.paper.detail import detail, fine_part, smooth_places


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
    assert detail(stripes(3 / 8), stripes(3 / 8)) == {"kept": 1.0, "added": 0.0}
    assert np.abs(fine_part(stripes(1 / 8)[..., 0])).max() < 1e-12


def test_what_smooth_places_gain_is_an_artefact_and_what_is_missing_is_none() -> None:
    truth = half_smooth(0.0)
    smooth = smooth_places(truth.mean(-1))
    assert smooth[:, 24:].all()
    assert not smooth[:, :8].any()
    noisy, blurred = detail(half_smooth(0.1), truth), detail(np.full((32, 32, 3), 0.5), truth)
    assert noisy["added"] > 0.05 * 255
    assert blurred["added"] <= 0
    assert blurred["kept"] < 1e-12
