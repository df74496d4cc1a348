"""Local frequency of every filter in one unit, and fields whose frequency is capped."""

from __future__ import annotations

import pytest
import torch

import alfilter as al
from alfilter.analysis import capped, filter_of, samples_across
from alfilter.methods import Field

METHODS = ["al-grid", "al-sine", "al-relu"]


def made(method: str) -> Field:
    """A field whose α goes from below the filter's axis to above it."""
    own = {"base": 4, "finest": 32} if method == "al-grid" else {}
    field = al.build(method, in_dim=2, out_dim=3, samples=(24, 32), levels=4, width=16, depth=1, **own)
    encoding = filter_of(field)
    with torch.no_grad():
        values = encoding.alpha.values
        values.copy_(torch.linspace(-1, encoding.axis + 1, values.numel()).view_as(values) / encoding.alpha.unit)
        encoding.constrain()
    return field


@pytest.mark.parametrize("method", METHODS)
def test_it_is_a_cut_off_between_the_levels(method: str) -> None:
    """It grows with α, stays below the finest level's frequency, and the α it came from gives it back."""
    field, x = made(method), torch.rand(200, 2) * 2 - 1
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
    field, x = made(method), torch.rand(300, 2) * 2 - 1
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
        al.local_frequency(made("al-grid"), torch.zeros(1, 3))


def test_samples_across_by_hand() -> None:
    assert [samples_across(shape) for shape in ((512, 768), (5,), (1, 1))] == [767, 4, 1]
