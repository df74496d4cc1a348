"""Gradients that are added into preallocated buffers."""

from __future__ import annotations

import torch

from alfilter.core.hash_grid import Layout
from alfilter.ops.grad_buffers import grad_buffers, grad_target
from alfilter.ops.grid_lookup import lookup

LAYOUT = Layout.of([(4, 4), (8, 8)])


def table() -> torch.Tensor:
    return torch.randn(LAYOUT.total, 2, generator=torch.Generator().manual_seed(0)).requires_grad_()


def value(plain: torch.Tensor, seed: int) -> torch.Tensor:
    x = torch.rand(30, 2, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    return lookup(plain, x, LAYOUT).square().sum()


def test_several_micro_batches_end_up_in_the_buffer() -> None:
    expected, trained = table(), table()
    buffer = torch.full_like(trained, 7.0).detach()  # what was there before is no part of it
    with grad_buffers({trained.data_ptr(): buffer}):
        value(trained, 0).backward()
        targets = []
        for seed in (1, 2):
            targets.append(grad_target(trained)[0].data_ptr())
            value(trained, seed).backward()
    for seed in range(3):
        value(expected, seed).backward()
    assert trained.grad is not None
    assert trained.grad.data_ptr() == buffer.data_ptr()
    assert targets == [buffer.data_ptr()] * 2, "later micro-batches add to the sum so far"
    torch.testing.assert_close(trained.grad, expected.grad)


def test_two_uses_in_one_backward_pass() -> None:
    expected, trained = table(), table()
    buffer = torch.zeros_like(trained).detach()
    with grad_buffers({trained.data_ptr(): buffer}):
        (value(trained, 0) + value(trained, 1)).backward()
        (value(trained, 2) + value(trained, 3)).backward()
    for seed in range(4):
        value(expected, seed).backward()
    torch.testing.assert_close(trained.grad, expected.grad)


def test_only_inside() -> None:
    plain = table()
    buffer = torch.zeros_like(plain).detach()
    with grad_buffers({plain.data_ptr(): buffer}):
        pass
    place, out = grad_target(plain)
    assert out is place
    assert place.data_ptr() != buffer.data_ptr()


def test_a_derived_tensor_has_no_buffer() -> None:
    """`acorn` scatters into features that a network has derived: autograd must get that gradient."""
    plain = table()
    derived = plain * 2
    with grad_buffers({derived.data_ptr(): torch.zeros_like(plain).detach()}):
        value(derived, 0).backward()
    assert plain.grad is not None
    assert plain.grad.abs().sum() > 0
