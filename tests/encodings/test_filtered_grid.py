"""The filter on the levels of a grid: a case by hand, the plain grid as its limit, frequencies, gradients."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from alfilter.encodings import FilteredGrid, HashGrid
from alfilter.errors import UserError

SIZES = {"levels": 4, "features": 2, "base": 4, "finest": 32, "table": 256}


def grid(dims: int = 2, **options: object) -> FilteredGrid:
    settings: dict = {**SIZES, "resolution": (5,) * dims, "bound": 1.0, **options}
    return FilteredGrid(dims, generator=torch.Generator().manual_seed(0), **settings)


def test_by_hand() -> None:
    """One level of two cells, α = 0 everywhere: H_0 = σ(κ/2)."""
    encoding = FilteredGrid(1, levels=1, features=1, base=2, finest=2, table=8, resolution=(2,), kappa=2.0, start=0.0)
    with torch.no_grad():
        encoding.table.copy_(torch.tensor([[1.0], [3.0], [9.0]]))
    value = encoding(torch.tensor([[-0.5]])).item()
    assert value == pytest.approx(2.0 / (1 + math.exp(-1.0)))


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
def test_wide_open_it_is_the_hash_grid(dims: int) -> None:
    encoding = grid(dims, kappa=50.0)
    plain = HashGrid(dims, **SIZES, bound=1.0, generator=torch.Generator().manual_seed(0))
    x = torch.rand(40, dims, generator=torch.Generator().manual_seed(1)) * 2 - 1
    torch.testing.assert_close(encoding(x), plain(x))


def test_a_level_below_alpha_passes_and_one_above_does_not() -> None:
    encoding = grid(start=1.0, kappa=20.0)
    response = encoding.responses(torch.zeros(1, 2))[0]
    assert response[:2].min() > 0.99
    assert response[2:].max() < 0.01


def test_a_band_holds_coarse_levels_back_again() -> None:
    response = grid(start=3.0, kappa=20.0, bandwidth=2.0).responses(torch.zeros(1, 2))[0]
    assert response.round().tolist() == [0, 0, 1, 1]


def test_frequencies_are_those_of_the_levels() -> None:
    """N_j = 4, 8, 16, 32 cells carry 2, 4, 8, 16 cycles; a place above the finest level is the finest."""
    encoding = grid()
    assert encoding.level_frequencies().tolist() == [2, 4, 8, 16]
    torch.testing.assert_close(encoding.frequency(torch.arange(4.0)), encoding.level_frequencies())
    assert encoding.frequency(torch.tensor(4.5)).item() == pytest.approx(16)


@given(st.floats(1.1, 15.9))
def test_alpha_at_is_the_inverse_of_frequency(cycles: float) -> None:
    encoding = grid()
    assert encoding.frequency(encoding.alpha_at(torch.tensor(cycles))).item() == pytest.approx(cycles, rel=1e-4)


def test_a_cap_above_the_finest_level_changes_nothing_and_a_low_one_closes_levels() -> None:
    encoding = grid()
    x = torch.rand(9, 2) * 2 - 1
    torch.testing.assert_close(encoding.limited(x, torch.tensor(16.0)), encoding(x))
    capped = encoding.limited(x, torch.tensor(4.0)).view(9, 4, 2)
    share = encoding.response(encoding.alpha_at(torch.tensor(4.0)))
    torch.testing.assert_close(capped, encoding.by_level(x) * share.unsqueeze(-1))
    assert share[-1] < 0.05


def test_gradients_of_table_and_alpha_against_differences() -> None:
    encoding = grid(levels=3, finest=8, start=1.3).double()
    x = torch.rand(6, 2, dtype=torch.float64) * 1.9 - 0.95

    def values(table: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(encoding, {"table": table, "alpha.values": alpha}, (x,))

    inputs = (encoding.table.detach().requires_grad_(), encoding.alpha.values.detach().requires_grad_())
    assert torch.autograd.gradcheck(values, inputs)


def test_parsimony_is_the_mean_share_of_the_axis() -> None:
    encoding = grid(start=1.0)
    assert encoding.parsimony().item() == pytest.approx(1 / 4)
    encoding.parsimony().backward()
    assert encoding.alpha.values.grad is not None
    # α is stored in units of the axis: the mean over 25 nodes
    torch.testing.assert_close(encoding.alpha.values.grad, torch.full((5, 5, 1), 1 / 25))


def test_alpha_stays_where_its_gradient_lives() -> None:
    encoding = grid()
    with torch.no_grad():
        encoding.alpha.values.fill_(99.0)
    encoding.constrain()
    assert encoding.alpha(torch.zeros(1, 2)).item() == pytest.approx(4.5)


def test_alpha_from_a_file_is_checked() -> None:
    encoding = FilteredGrid(2, levels=3, features=2, base=2, finest=8, table=64, resolution=(4, 4))
    encoding.validate()
    with torch.no_grad():
        encoding.alpha.values[1, 2] = 1e30
    with pytest.raises(UserError, match=r"α lies between -1 and 3\.5 here"):
        encoding.validate()
