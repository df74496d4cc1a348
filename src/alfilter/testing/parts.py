"""The contracts of an encoding and of a network."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from alfilter.encodings import Encoding
from alfilter.networks import Network
from alfilter.testing.properties import check_module, class_name, points, same_state


def check_encoding(encoding: Encoding | Callable[[int], Encoding], *, tolerance: float = 2e-3) -> None:
    """An encoding maps (..., in_dim) to (..., out_dim), differentiably, and keeps the promises of its hooks.

    encoding: an instance, or a class or function that makes one from in_dim, which is then checked for 1 to 4
    coordinates. tolerance: of float32 values against those of float64, relative to the largest.
    """
    if not isinstance(encoding, Encoding):
        for in_dim in (1, 2, 3, 4):
            check_encoding(_instance(encoding, Encoding, in_dim), tolerance=tolerance)
        return
    x = points(7, encoding.in_dim)
    check_module(encoding, x, tolerance=tolerance)
    bound = encoding.first_bound()
    assert bound.shape == (encoding.out_dim,), f"first_bound() must be ({encoding.out_dim},), got {tuple(bound.shape)}"
    assert bool((bound >= 0).all()), "first_bound() holds half-widths, which are not negative"
    check_smoothness(encoding)
    check_constrain(encoding, x)
    encoding.validate()


def check_network(network: Network | Callable[[int, int], Network], *, tolerance: float = 2e-3) -> None:
    """A network maps (..., in_dim) features to (..., out_dim) values, differentiably.

    network: an instance, or a class or function that makes one from (in_dim, out_dim), which is then checked for a few
    sizes. tolerance: as for `check_encoding`.
    """
    if not isinstance(network, Network):
        for sizes in ((1, 1), (3, 2), (8, 4)):
            check_network(_instance(network, Network, *sizes), tolerance=tolerance)
        return
    check_module(network, points(7, network.in_dim), tolerance=tolerance)


def check_smoothness(encoding: Encoding) -> None:
    """smoothness() is one number of at least zero, summed or averaged."""
    for reduction in ("sum", "mean"):
        value = encoding.smoothness(reduction)
        assert value.shape == (), f"smoothness({reduction!r}) must be a scalar, got shape {tuple(value.shape)}"
        assert value.item() >= 0, f"smoothness({reduction!r}) must not be negative, got {value.item()}"


def check_constrain(encoding: Encoding, x: Tensor) -> None:
    """constrain() changes nothing at the start, and a second call changes nothing after any step."""
    fresh = copy.deepcopy(encoding)
    fresh.constrain()
    name = class_name(encoding)
    assert same_state(fresh, encoding), f"constrain() changes a new {name}: it starts outside its own domain"
    for direction in (-1e6, 1e6):
        far = copy.deepcopy(encoding)
        with torch.no_grad():
            for parameter in far.parameters():
                parameter.add_(direction)
        far.constrain()
        once = copy.deepcopy(far)
        far.constrain()
        assert same_state(far, once), f"constrain() of {name} is not idempotent"
        values = far.double()(x.double())  # deep networks of far numbers leave the range of float32
        assert bool(values.isfinite().all()), f"{name} is not finite after a long step and constrain()"


def _instance(make: Callable[..., Any], kind: type[nn.Module], *sizes: int) -> Any:
    """What a class or a function makes of these sizes, if it is of that kind."""
    label = getattr(make, "__name__", repr(make))
    assert callable(make), f"expected an instance of {kind.__name__} or what makes one, got {type(make).__name__}"
    try:
        module = make(*sizes)
    except TypeError as error:
        raise AssertionError(f"{label} cannot be made from {sizes}: {error}; give an instance instead") from error
    assert isinstance(module, kind), f"{label} must make an instance of {kind.__name__}, got {type(module).__name__}"
    return module
