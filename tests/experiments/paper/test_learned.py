"""What a fitted field has learned: only fields with a filter that moved have a meaning, only some a kernel."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alfilter.experiments.paper import learned
from alfilter.experiments.paper.learned import kernel_numbers, meaning
from alfilter.methods import Field, build


def stripes() -> torch.Tensor:
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
    numbers = meaning(model, stripes())["meaning"]
    assert set(numbers) == {"gradient", "p_gradient", "centroid", "p_centroid"}
    assert numbers["gradient"] > 0.8


def test_what_says_nothing_has_no_meaning() -> None:
    assert meaning(field(), stripes()) == {}, "α is the same everywhere"
    assert meaning(build("siren", in_dim=2, out_dim=1, width=4), stripes()) == {}
    assert meaning(field(), stripes()[:16, :16]) == {}, "too few blocks"


def test_the_kernel_of_networks_on_fourier_channels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned, "POINTS", 32)
    numbers = kernel_numbers(field(), 0)["kernel"]
    assert 1 <= numbers["effective_rank"] <= 32
    assert 0 < numbers["first"] <= 1
    assert numbers["spectrum"][0] == 1
    assert kernel_numbers(build("siren", in_dim=2, out_dim=1, width=4), 0) == {}
