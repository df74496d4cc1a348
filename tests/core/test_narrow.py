"""Turned products are the products."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from alfilter.core.narrow import outer, through

SIZES = st.integers(1, 70)


@given(SIZES, SIZES, st.integers(1, 60), st.booleans())
def test_whatever_the_sizes(rows: int, wide: int, narrow: int, sliced: bool) -> None:
    generator = torch.Generator().manual_seed(rows * 5000 + wide * 70 + narrow)
    g = torch.randn(rows, wide, generator=generator, dtype=torch.float64)
    x = torch.randn(rows, narrow + 3, generator=generator, dtype=torch.float64)
    x = x[:, 1 : narrow + 1] if sliced else x[:, :narrow].contiguous()
    weight = torch.randn(wide, narrow, generator=generator, dtype=torch.float64)
    found = outer(g, x)
    torch.testing.assert_close(found, torch.einsum("nw,nk->wk", g, x))
    assert found.is_contiguous(), "an optimiser reads it as one row of numbers"
    expected = torch.einsum("nw,wk->nk", g, weight)
    torch.testing.assert_close(through(g, weight), expected)
    room = torch.zeros(rows, narrow + 4, dtype=torch.float64)
    through(g, weight, out=room[:, 2 : narrow + 2])
    torch.testing.assert_close(room[:, 2 : narrow + 2], expected)
    assert float(room[:, :2].abs().sum() + room[:, narrow + 2 :].abs().sum()) == 0
