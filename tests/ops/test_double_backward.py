"""Second derivatives of what kernels compute."""

from __future__ import annotations

import torch

from alfilter.ops.double_backward import double_backward


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
