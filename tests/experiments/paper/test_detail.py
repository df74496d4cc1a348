"""Fine detail of pictures whose spectrum is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from alfilter.experiments.artifacts import png
from alfilter.experiments.paper.detail import detail_kept, fine_share_of_error


def stripes(frequency: float, size: float = 0.4) -> Any:
    """A wave of that many cycles per pixel around gray: (32, 32, 3)."""
    wave = 0.5 + size * np.cos(2 * np.pi * frequency * np.arange(32))
    return np.broadcast_to(wave[None, :, None], (32, 32, 3))


def line(reference: Any, reconstruction: Any) -> dict[str, Any]:
    return {"pictures": {"reference": png(reference), "reconstruction": png(reconstruction)}}


def test_half_the_height_is_a_quarter_of_the_power() -> None:
    assert detail_kept(line(stripes(3 / 8), stripes(3 / 8, 0.2))) == pytest.approx(0.25, abs=0.01)
    assert detail_kept(line(stripes(3 / 8), stripes(3 / 8))) == 1.0


def test_the_error_is_fine_or_coarse() -> None:
    flat = np.full((32, 32, 3), 0.5)
    assert fine_share_of_error(line(flat, stripes(3 / 8))) == pytest.approx(1, abs=0.01)
    assert fine_share_of_error(line(flat, stripes(1 / 16))) == pytest.approx(0, abs=0.01)


def test_lines_without_pictures_say_nothing() -> None:
    assert detail_kept({}) is None
    assert fine_share_of_error({"pictures": {"reference": png(stripes(0.1))}}) is None
