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
    facts = filter_facts(encoding, 10.0)
    assert (facts["channels"], facts["levels"], facts["grid"]) == (24, 4, [5, 5, 5])
    assert facts["range"] == pytest.approx([2.1, 11.9], abs=1e-4)  # the outermost hundredth at each end is left out
    assert facts["cycles"] == pytest.approx([0.1, 0.2, 0.4, 0.8])
    ends = [float(encoding.frequency(torch.tensor(each))) / 10 for each in facts["range"]]
    assert facts["cut_off"] == pytest.approx(ends)
    assert json.loads(json.dumps(facts)) == facts


def test_the_response_at_a_place(encoding: FilteredFourier) -> None:
    place = [0.3, -0.2, 0.9]
    answer = filter_at(encoding, place)
    with torch.inference_mode():
        alpha = encoding.alpha(torch.tensor([place]))
        expected = band_response(alpha, 24, encoding.bandwidth, encoding.kappa)[0]
    assert answer["alpha"] == pytest.approx(float(alpha))
    assert answer["frequency"] == pytest.approx(float(encoding.local_frequency(torch.tensor([place])).detach()))
    assert answer["response"] == pytest.approx(expected.tolist())
    assert answer["scales"] == pytest.approx(expected.view(4, 6).mean(1).tolist(), abs=1e-5)


def test_a_grid_has_levels_instead_of_channels() -> None:
    grid = filtered_encoding_of(build("al-grid", in_dim=2, out_dim=1, samples=(33, 33), levels=4, base=4, finest=32))
    assert grid is not None
    facts, answer = filter_facts(grid, 32.0), filter_at(grid, [0.0, 0.0], 32.0)
    assert (facts["unit"], facts["channels"], facts["levels"]) == ("levels", 4, 4)
    assert facts["cycles"] == [2 / 32, 4 / 32, 8 / 32, 16 / 32]
    assert answer["frequency"] == 0.5, "all levels pass at the start, and 32 cells carry Nyquist's on 33 samples"
    assert answer["response"] == answer["scales"]
