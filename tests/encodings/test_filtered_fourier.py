"""The α grid and the filtered encoding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests import references

from alfilter.encodings import AlphaGrid, FilteredFourier, Fourier
from alfilter.errors import UserError
from alfilter.testing import check_encoding
from alfilter.testing.properties import points


def make(in_dim: int = 2, **changes: Any) -> FilteredFourier:
    setting: dict[str, Any] = {
        "levels": 3, "bandwidth": 4.0, "kappa": 3.0, "resolution": (4,) * in_dim, "start": 3.0, **changes,
    }  # fmt: skip
    return FilteredFourier(in_dim, **setting)


def roughened(encoding: FilteredFourier) -> FilteredFourier:
    """With an α grid of different numbers."""
    with torch.no_grad():
        values = encoding.alpha.values
        values.add_(torch.rand(values.shape, generator=torch.Generator().manual_seed(2)) * 4 / encoding.alpha.unit)
    return encoding


@pytest.mark.parametrize("in_dim", [1, 2, 3, 4])
@pytest.mark.parametrize("changes", [{}, {"unit": "axis"}, {"coordinates": True, "gain": 3.0}], ids=str)
def test_contract(in_dim: int, changes: dict[str, Any]) -> None:
    check_encoding(make(in_dim, **changes))
    check_encoding(roughened(make(in_dim, **changes)))


def test_by_loops() -> None:
    """α by the corners of its cell, the channels by the equation."""
    encoding, x = roughened(make()), points(8, 2)
    grid = encoding.alpha.values.detach().double().tolist()
    expected = []
    for row in x.tolist():
        (alpha,) = references.interpolate(grid, row)
        expected.append(references.filtered_encoding(row, alpha, 3, 4.0, 3.0))
    torch.testing.assert_close(encoding(x), torch.tensor(expected), rtol=0, atol=1e-5)


def test_responses_by_loops() -> None:
    encoding, x = roughened(make()), points(8, 2)
    alphas = encoding.alpha(x).tolist()
    expected = [references.scale_response(alpha, 2, 3, 4.0, 3.0) for alpha in alphas]
    torch.testing.assert_close(encoding.responses(x), torch.tensor(expected), rtol=0, atol=1e-5)


def test_a_band_wider_than_the_axis_is_the_plain_encoding() -> None:
    x = points(8, 2)
    torch.testing.assert_close(make(bandwidth=1000.0, start=6.0)(x), Fourier(2, 3)(x), rtol=0, atol=1e-5)


def test_coordinates_come_first() -> None:
    x = points(8, 2)
    beside, alone = make(coordinates=True)(x), make()(x)
    assert torch.equal(beside[:, :2], x)
    assert torch.equal(beside[:, 2:], alone)


@pytest.mark.parametrize(("unit", "stored"), [("channel", 3.0), ("axis", 3.0 / 12)])
def test_unit_changes_what_is_stored_not_what_is_read(unit: str, stored: float) -> None:
    encoding = make(unit=unit)
    assert encoding.alpha.values.flatten().tolist() == pytest.approx([stored] * 16)
    assert encoding.alpha(points(5, 2)).tolist() == pytest.approx([3.0] * 5)


def test_unit_multiplies_the_step() -> None:
    """One step of the same size moves α C_N times as far in axis units."""
    moved = []
    for unit in ("channel", "axis"):
        encoding = make(unit=unit)
        with torch.no_grad():
            encoding.alpha.values.add_(0.01)
        moved.append(encoding.alpha(torch.zeros(2)).item() - 3.0)
    assert moved[1] / moved[0] == pytest.approx(12, rel=1e-3)


@pytest.mark.parametrize("unit", ["channel", "axis"])
def test_alpha_stays_where_gradients_live(unit: str) -> None:
    """[-B/2, C_N-1+B/2] = [-2, 13]."""
    for far, end in ((-1e5, -2.0), (1e5, 13.0)):
        encoding = make(unit=unit)
        with torch.no_grad():
            encoding.alpha.values.add_(far)
        encoding.constrain()
        alpha = encoding.alpha(points(5, 2))
        assert alpha.tolist() == pytest.approx([end] * 5)
        (slope,) = torch.autograd.grad(encoding(points(5, 2)).square().sum(), encoding.alpha.values)
        assert slope.abs().max().item() > 1e-3, "α at the end of its range can never come back"


def test_a_start_outside_is_brought_in() -> None:
    assert make(start=99.0).alpha(torch.zeros(2)).item() == 13


def test_smoothness_is_in_channels_by_hand() -> None:
    """Two nodes, 1 and 4 channels, in both units."""
    for unit, values in (("channel", [1.0, 4.0]), ("axis", [1 / 6, 4 / 6])):
        encoding = make(1, resolution=(2,), unit=unit)
        with torch.no_grad():
            encoding.alpha.values.copy_(torch.tensor(values).view(2, 1))
        assert encoding.smoothness("sum").item() == pytest.approx(3.0)
        assert encoding.smoothness("mean").item() == pytest.approx(3.0)


def test_unknown_reduction_is_refused() -> None:
    with pytest.raises(UserError, match="sum or mean"):
        make().smoothness("median")


def test_first_bound_per_kind_of_feature() -> None:
    bound = make(coordinates=True, gain=3.0).first_bound().tolist()
    assert bound == pytest.approx([1 / 2] * 2 + [3 / 12] * 12)


def test_alpha_is_local() -> None:
    """Changing one corner node of a 4 × 4 grid changes nothing beyond its cells."""
    encoding, x = make(), torch.tensor([[-0.9, -0.9], [0.5, 0.5]])
    before = encoding(x).detach()
    with torch.no_grad():
        encoding.alpha.values[0, 0] += 1
    changed = (encoding(x) != before).any(-1)
    assert changed.tolist() == [True, False]


def test_alpha_grid_alone() -> None:
    grid = AlphaGrid((3,), start=1.0, unit=2.0, low=-4.0, high=4.0)
    with torch.no_grad():
        grid.values.copy_(torch.tensor([[0.0], [1.0], [5.0]]))
    assert grid(torch.tensor([[-0.5], [1.0]])).tolist() == [1.0, 10.0]
    grid.constrain()
    assert grid(torch.tensor([[1.0]])).tolist() == [4.0]


def test_bounds_can_be_left_out() -> None:
    sizes: dict[str, Any] = {"levels": 2, "bandwidth": 2.0, "kappa": 10.0, "resolution": (3, 3), "start": 0.0}
    for bounded, expected in ((True, 8 - 1 + 1.0), (False, 50.0)):
        encoding = FilteredFourier(2, bounded=bounded, **sizes)
        with torch.no_grad():
            encoding.alpha.values.fill_(50.0)
        encoding.constrain()
        assert encoding.alpha.values.max().item() == expected
