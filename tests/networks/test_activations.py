"""Activations as rows: every layer is the activation of an affine map, and how it starts."""

from __future__ import annotations

import math

import pytest
import torch

from alfilter.core.activations import ACTIVATIONS as FUNCTIONS
from alfilter.networks.activations import ACTIVATIONS


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_layer_is_the_activation_of_an_affine_map(name: str) -> None:
    draw = torch.Generator().manual_seed(0)
    x, weight, bias = (torch.randn(s, generator=draw, dtype=torch.float64) for s in ((5, 3), (4, 3), (4,)))
    z = x @ weight.T + bias
    known = {"relu": z.clamp(min=0), "sine": torch.sin(2.0 * z)}
    expected = known[name] if name in known else FUNCTIONS[name](z, 2.0, 0.5)
    torch.testing.assert_close(ACTIVATIONS[name].layer(x, weight, bias, 2.0, 0.5), expected)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_periodic_activations_start_as_siren_and_the_others_as_torch(name: str) -> None:
    row = ACTIVATIONS[name]
    if name in ("sine", "hosc", "finer", "finer-full"):
        assert row.first is None, "the encoding says how its features start"
        assert row.hidden(24, 5.0) == row.last(24, 5.0) == pytest.approx(0.1)
    else:
        assert row.first is not None
        assert row.first(16, 5.0) == row.hidden(16, 5.0) == row.last(16, 5.0) == pytest.approx(1 / math.sqrt(16))
