"""When kernels may run, and second derivatives of what they compute."""

from __future__ import annotations

import pytest
import torch

from alfilter.ops import dispatch
from alfilter.ops.dispatch import can_use_kernels, double_backward, has_nan, load_kernels


def test_when_kernels_may_run() -> None:
    pytest.importorskip("numba")
    batch = torch.zeros(4, 2)
    assert can_use_kernels(batch, torch.zeros(3))
    assert not can_use_kernels(batch.double())
    assert not can_use_kernels(batch, torch.zeros(3, dtype=torch.float64))
    assert not can_use_kernels(torch.zeros(4)), "a single point is no batch"
    assert not can_use_kernels(torch.zeros(0, 2))
    assert not can_use_kernels(torch.zeros(4, 2, device="meta"))
    seen = []
    torch.func.vmap(lambda row: seen.append(can_use_kernels(row[None])) or row)(batch)
    assert seen == [False]


def test_without_numba_everything_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "kernels_available", lambda: False)
    assert not can_use_kernels(torch.zeros(4, 2))


def test_kernels_are_loaded_by_name() -> None:
    pytest.importorskip("numba")
    assert load_kernels("adam") is load_kernels("adam")
    with pytest.raises(ImportError):
        load_kernels("none")


def test_nan_is_noticed() -> None:
    assert not has_nan(torch.ones(3))
    assert has_nan(torch.tensor([1.0, float("nan")]))


def test_gradients_have_a_graph_of_their_own() -> None:
    """f = x² y: ∂f/∂x = 2xy, and its derivatives 2y and 2x; y' is given none."""
    x, y = torch.tensor(3.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    by_x, none = double_backward(lambda x, y: x**2 * y.detach(), [x, torch.tensor(5.0)], torch.tensor(1.0))
    assert none is None
    assert by_x is not None
    by_x, by_y = double_backward(lambda x, y: x**2 * y, [x, y], torch.tensor(1.0))
    assert by_x is not None
    assert by_y is not None
    assert (by_x.item(), by_y.item()) == (30, 9)
    assert [g.item() for g in torch.autograd.grad(by_x, [x, y])] == [10, 6]
