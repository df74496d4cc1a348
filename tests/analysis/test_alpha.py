"""Maps of α and of what the filter lets pass."""

from __future__ import annotations

import pytest
import torch

from alfilter.analysis import alpha_map, filtered_encoding_of, response_maps
from alfilter.encodings import FilteredFourier
from alfilter.methods import METHODS, build


def encoding(start: float = 3.0) -> FilteredFourier:
    return FilteredFourier(2, levels=3, bandwidth=4.0, kappa=10.0, resolution=(3, 5), start=start)


def test_alpha_at_the_nodes_is_the_grid() -> None:
    it = encoding()
    with torch.no_grad():
        it.alpha.values.copy_(torch.arange(15.0).view(3, 5, 1) / 2)
    assert torch.allclose(alpha_map(it, (3, 5)), torch.arange(15.0).view(3, 5) / 2, atol=1e-5)
    between = alpha_map(it, (5, 9))
    assert torch.allclose(between[1, 0], torch.tensor((0 + 2.5) / 2), atol=1e-5)
    assert torch.allclose(between[0, 1], torch.tensor(0.25), atol=1e-5)


def test_alpha_in_the_unit_of_the_axis_is_still_shown_in_channels() -> None:
    it = FilteredFourier(2, levels=3, bandwidth=4.0, kappa=10.0, resolution=(4, 4), start=3.0, unit="axis")
    assert torch.allclose(alpha_map(it, (6, 6)), torch.full((6, 6), 3.0))


def test_responses_follow_alpha() -> None:
    """Channel order is scale-major with 2d = 4 channels a scale: α at 0 passes the first scale, at the end the last."""
    for start, passed in ((0.0, 0), (11.0, 2)):
        maps = response_maps(encoding(start), (4, 6))
        assert maps.shape == (3, 4, 6)
        assert float(maps.min()) >= 0
        assert float(maps.max()) <= 1
        assert int(maps[:, 0, 0].argmax()) == passed
        assert torch.allclose(maps, maps[:, :1, :1].expand_as(maps), atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_alpha_is_defined_for_al_methods_only(name: str) -> None:
    field = build(name, in_dim=2, out_dim=1, samples=(8, 8))
    assert (filtered_encoding_of(field) is not None) == name.startswith("al-")
    assert filtered_encoding_of(torch.nn.Linear(1, 1)) is None
