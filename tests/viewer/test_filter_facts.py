"""What a page is told about a field's filter is what the library computes."""

from __future__ import annotations

import json

import pytest
import torch

from alfilter.analysis import filtered_encoding_of
from alfilter.core.filter import band_response
from alfilter.encodings import FilteredFourier
from alfilter.methods import build
from alfilter.viewer.filter_facts import filter_at, filter_facts


@pytest.fixture
def encoding() -> FilteredFourier:
    field = build("al-sine", in_dim=3, out_dim=1, levels=4, bandwidth=6.0, grid=5, width=8, depth=1)
    filtered = filtered_encoding_of(field)
    assert isinstance(filtered, FilteredFourier)
    with torch.no_grad():
        filtered.alpha.values.copy_(torch.linspace(2, 12, 125).view(5, 5, 5, 1) / filtered.alpha.unit)
    return filtered


def test_sizes_and_range(encoding: FilteredFourier) -> None:
    facts = filter_facts(encoding, [1, 2, 4, 8])
    assert (facts["channels"], facts["levels"], facts["grid"]) == (24, 4, [5, 5, 5])
    assert facts["range"] == pytest.approx([2.1, 11.9], abs=1e-4)  # the outermost hundredth at each end is left out
    assert json.loads(json.dumps(facts)) == facts


def test_the_response_at_a_place(encoding: FilteredFourier) -> None:
    place = [0.3, -0.2, 0.9]
    answer = filter_at(encoding, place)
    with torch.inference_mode():
        alpha = encoding.alpha(torch.tensor([place]))
        expected = band_response(alpha, 24, encoding.bandwidth, encoding.kappa)[0]
    assert answer["alpha"] == pytest.approx(float(alpha))
    assert answer["response"] == pytest.approx(expected.tolist())
    assert answer["scales"] == pytest.approx(expected.view(4, 6).mean(1).tolist(), abs=1e-5)
