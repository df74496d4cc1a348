"""Gradients that are added up where their owner wants them."""

from __future__ import annotations

import torch

from alfilter.core.hash_grid import Layout
from alfilter.ops.grid_lookup import lookup
from alfilter.runtime.grad_buffers import rooms, sum_place

LAYOUT = Layout.of([(4, 4), (8, 8)])


def table() -> torch.Tensor:
    return torch.randn(LAYOUT.total, 2, generator=torch.Generator().manual_seed(0)).requires_grad_()


def value(given: torch.Tensor, seed: int) -> torch.Tensor:
    x = torch.rand(30, 2, generator=torch.Generator().manual_seed(seed)) * 2 - 1
    return lookup(given, x, LAYOUT).square().sum()


def test_several_pieces_end_up_in_the_room() -> None:
    expected, found = table(), table()
    room = torch.full_like(found, 7.0).detach()  # what was there before is no part of it
    with rooms({found.data_ptr(): room}):
        value(found, 0).backward()
        places = []
        for seed in (1, 2):
            places.append(sum_place(found)[0].data_ptr())
            value(found, seed).backward()
    for seed in range(3):
        value(expected, seed).backward()
    assert found.grad is not None
    assert found.grad.data_ptr() == room.data_ptr()
    assert places == [room.data_ptr()] * 2, "later pieces add to what is there"
    torch.testing.assert_close(found.grad, expected.grad)


def test_two_uses_in_one_backward_pass() -> None:
    expected, found = table(), table()
    room = torch.zeros_like(found).detach()
    with rooms({found.data_ptr(): room}):
        (value(found, 0) + value(found, 1)).backward()
        (value(found, 2) + value(found, 3)).backward()
    for seed in range(4):
        value(expected, seed).backward()
    torch.testing.assert_close(found.grad, expected.grad)


def test_only_inside() -> None:
    given = table()
    room = torch.zeros_like(given).detach()
    with rooms({given.data_ptr(): room}):
        pass
    place, out = sum_place(given)
    assert out is place
    assert place.data_ptr() != room.data_ptr()


def test_a_derived_tensor_has_no_room() -> None:
    """`acorn` scatters into features that a network has made: autograd must get that gradient."""
    given = table()
    made = given * 2
    with rooms({made.data_ptr(): torch.zeros_like(given).detach()}):
        value(made, 0).backward()
    assert given.grad is not None
    assert given.grad.abs().sum() > 0
