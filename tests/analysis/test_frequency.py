"""Local frequency of every filter in one unit, its maps, and fields whose frequency is capped."""

from __future__ import annotations

import pytest
import torch

import alfilter as al
from alfilter.analysis import alpha_map, capped, filter_of, filtered_encoding_of, response_maps, samples_across
from alfilter.encodings import FilteredFourier
from alfilter.methods import Field

METHODS = ["al-grid", "al-sine", "al-relu"]


def ramp_field(method: str) -> Field:
    """A field whose α goes from below the filter's axis to above it."""
    sizes = {"base": 4, "finest": 32} if method == "al-grid" else {}
    field = al.build(method, in_dim=2, out_dim=3, samples=(24, 32), levels=4, width=16, depth=1, **sizes)
    encoding = filter_of(field)
    with torch.no_grad():
        values = encoding.alpha.values
        values.copy_(torch.linspace(-1, encoding.axis + 1, values.numel()).view_as(values) / encoding.alpha.unit)
        encoding.constrain()
    return field


@pytest.mark.parametrize("method", METHODS)
def test_it_is_a_cut_off_between_the_levels(method: str) -> None:
    """It grows with α, stays below the finest level's frequency, and the α it came from gives it back."""
    field, x = ramp_field(method), torch.rand(200, 2) * 2 - 1
    encoding = filter_of(field)
    with torch.no_grad():
        frequency, alpha = al.local_frequency(field, x), encoding.alpha(x)
    order = alpha.argsort()
    assert frequency.shape == (200,)
    assert (frequency[order].diff() >= 0).all()
    assert float(frequency.max()) <= float(encoding.level_frequencies()[-1]) * (1 + 1e-5)
    inner = frequency < 0.99 * encoding.level_frequencies()[-1]
    assert torch.allclose(encoding.alpha_at(frequency[inner]), alpha[inner], atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_cap_changes_the_field_only_where_the_filter_is_above_it(method: str) -> None:
    field, x = ramp_field(method), torch.rand(300, 2) * 2 - 1
    with torch.no_grad():
        frequency, whole = al.local_frequency(field, x), field(x)
        limit = float((frequency.min() * frequency.max()).sqrt())
        limited = capped(field, limit)(x)
        below, above = frequency < 0.99 * limit, frequency > 1.2 * limit
        assert torch.allclose(limited[below], whole[below], atol=1e-5)
        assert bool(above.any())
        assert not torch.equal(limited[above], whole[above])
        assert torch.allclose(capped(field, 1e9)(x), whole, atol=1e-6)


def test_other_methods_and_other_shapes_are_refused() -> None:
    siren = al.build("siren", in_dim=2, out_dim=1, width=8)
    with pytest.raises(al.UserError, match="siren has no filter and no local frequency; fit with al-grid, al-sine"):
        al.local_frequency(siren, torch.zeros(1, 2))
    with pytest.raises(al.UserError, match="siren has no filter"):
        capped(siren, 4.0)
    with pytest.raises(al.UserError, match=r"takes 2 coordinates in the last axis, got shape \(1, 3\)"):
        al.local_frequency(ramp_field("al-grid"), torch.zeros(1, 3))


def test_samples_across_by_hand() -> None:
    assert [samples_across(shape) for shape in ((512, 768), (5,), (1, 1))] == [767, 4, 1]


def fourier(start: float = 3.0) -> FilteredFourier:
    return FilteredFourier(2, levels=3, bandwidth=4.0, kappa=10.0, resolution=(3, 5), start=start)


def test_alpha_at_the_nodes_is_the_grid() -> None:
    it = fourier()
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
    """Channel order is scale-major, 2d = 4 channels per scale: α at 0 passes the first scale, at the end the last."""
    for start, passed in ((0.0, 0), (11.0, 2)):
        maps = response_maps(fourier(start), (4, 6))
        assert maps.shape == (3, 4, 6)
        assert float(maps.min()) >= 0
        assert float(maps.max()) <= 1
        assert int(maps[:, 0, 0].argmax()) == passed
        assert torch.allclose(maps, maps[:, :1, :1].expand_as(maps), atol=1e-6)


@pytest.mark.parametrize("name", al.METHODS)
def test_alpha_is_defined_for_al_methods_only(name: str) -> None:
    field = al.build(name, in_dim=2, out_dim=1, samples=(8, 8))
    assert (filtered_encoding_of(field) is not None) == name.startswith("al-")
    assert filtered_encoding_of(torch.nn.Linear(1, 1)) is None
