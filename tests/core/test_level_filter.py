"""Grid features behind the filter: by hand, open, closed, and differentiated."""

from __future__ import annotations

import torch

from alfilter.core.hash_grid import Layout, lookup
from alfilter.core.level_filter import filtered_lookup


def test_by_hand() -> None:
    """Half way between 1 and 3 on the first level, of which σ(2 · ½) passes; 5 on the second, of which σ(-2 · ½)."""
    table = torch.tensor([[1.0], [3.0], [5.0], [5.0], [5.0]])
    result = filtered_lookup(table, torch.zeros(1, 1), torch.zeros(1), Layout.of([(1,), (2,)]), 2.0)
    passing = torch.sigmoid(torch.tensor([1.0, -1.0]))
    torch.testing.assert_close(result, torch.tensor([[2.0, 5.0]]) * passing)


def test_open_it_is_the_lookup_and_closed_nothing() -> None:
    layout = Layout.of([(2, 2), (7, 5)], 16)
    table, x = torch.randn(layout.total, 3), torch.rand(20, 2) * 2 - 1
    plain = lookup(table, x, layout, None, 0.0, True)
    torch.testing.assert_close(filtered_lookup(table, x, torch.full((20,), 99.0), layout, 2.0, True), plain)
    closed = filtered_lookup(table, x, torch.full((20,), -99.0), layout, 2.0, True)
    assert torch.equal(closed[:, :2], x)
    assert closed[:, 2:].abs().max() < 1e-30


def test_gradients() -> None:
    layout = Layout.of([(2, 3), (7, 5)], 16)
    table, x = torch.randn(layout.total, 2, dtype=torch.float64), torch.rand(6, 2, dtype=torch.float64) * 2 - 1
    inputs = [t.requires_grad_() for t in (table, x, torch.linspace(-1, 3, 6, dtype=torch.float64))]
    assert torch.autograd.gradcheck(lambda t, x, a: filtered_lookup(t, x, a, layout, 3.0), inputs)
    assert torch.autograd.gradgradcheck(lambda t, x, a: filtered_lookup(t, x, a, layout, 3.0), inputs)
