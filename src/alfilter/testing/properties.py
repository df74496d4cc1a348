"""Single properties of any differentiable map (..., in_dim) → (..., out_dim): shapes, rows, gradients, precision."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck

from alfilter.methods import Field
from alfilter.networks import Network

BATCHES: tuple[tuple[int, ...], ...] = ((), (5,), (2, 3), (0,), (2, 0))


def points(count: int, dims: int, seed: int = 5) -> Tensor:
    """Coordinates (count, dims) inside [-1, 1], the same every time."""
    return torch.rand(count, dims, generator=torch.Generator().manual_seed(seed)) * 1.9 - 0.95


def check_module(module: nn.Module, x: Tensor, *, tolerance: float) -> None:
    """Everything that is asked of any map from (..., in_dim) to (..., out_dim). x: (n, in_dim), float32."""
    check_shapes(module, _size(module, "in_dim"), _size(module, "out_dim"))
    check_rows(module, x)
    check_copies(module, x)
    check_gradients(module, x)
    check_double_backward(module, x, tolerance=tolerance)
    check_gradcheck(module, x)
    check_precision(module, x, tolerance=tolerance)
    check_device(module)


def check_shapes(module: nn.Module, in_dim: int, out_dim: int) -> None:
    """Any batch shape goes in front of the declared sizes, none and empty ones too, in float32 and float64."""
    for dtype in (torch.float32, torch.float64):
        cast = copy.deepcopy(module).to(dtype)
        for batch in BATCHES:
            x = torch.rand(*batch, in_dim, dtype=dtype) * 2 - 1
            out = _call(cast, x)
            assert out.shape == (*batch, out_dim), (
                f"{class_name(module)} declares out_dim {out_dim}: for {tuple(x.shape)} expected {(*batch, out_dim)}, "
                f"got {tuple(out.shape)}"
            )
            assert out.dtype == dtype, f"{class_name(module)} answers {dtype} with {out.dtype}"


def check_rows(module: nn.Module, x: Tensor) -> None:
    """A value depends on its own coordinates only: not on the batch, its shape or its order in memory."""
    batched = module(x)
    tight = {"rtol": 1e-4, "atol": 1e-5}
    apart = torch.stack([module(row) for row in x])
    _close(apart, batched, f"{class_name(module)} gives other values one by one than in a batch", **tight)
    folded = module(x[:6].view(2, 3, -1)).view(6, -1)
    _close(folded, batched[:6], f"{class_name(module)} gives other values for a folded batch", **tight)
    strided = module(x.t().contiguous().t())
    _close(strided, batched, f"{class_name(module)} gives other values for a strided input", **tight)


def check_copies(module: nn.Module, x: Tensor) -> None:
    """Repeating, deep-copying and a state_dict round trip change no bit of the output."""
    first = module(x)
    assert torch.equal(first, module(x)), f"{class_name(module)} gives another result the second time"
    twin = copy.deepcopy(module)
    assert torch.equal(first, twin(x)), f"a deep copy of {class_name(module)} gives another result"
    with torch.no_grad():
        for tensor in twin.state_dict().values():
            tensor.add_(1)
    twin.load_state_dict(module.state_dict())
    assert torch.equal(first, twin(x)), f"{class_name(module)} has state that is not in its state_dict"


def check_gradients(module: nn.Module, x: Tensor) -> None:
    """Gradients in all parameters and in the coordinates exist and are finite, in float32 and float64."""
    for dtype in (torch.float32, torch.float64):
        cast = copy.deepcopy(module).to(dtype)
        place = x.to(dtype).requires_grad_()
        wanted = {"its input": place, **dict(cast.named_parameters())}
        out = _everything(cast, place)
        gradients = torch.autograd.grad((out * _weights(out)).sum(), list(wanted.values()), allow_unused=True)
        for label, gradient in zip(wanted, gradients, strict=True):
            assert gradient is not None, f"{class_name(module)} has no gradient in {label} ({dtype})"
            assert bool(gradient.isfinite().all()), (
                f"{class_name(module)} has an infinite or NaN gradient in {label} ({dtype})"
            )


def check_double_backward(module: nn.Module, x: Tensor, *, tolerance: float) -> None:
    """A gradient can be differentiated again, with and without coordinates in play, alike in float32 and float64."""
    if not list(module.parameters()):
        return
    for in_x in (False, True):
        results = []
        for dtype in (torch.float32, torch.float64):
            cast = copy.deepcopy(module).to(dtype)
            place = x.to(dtype).requires_grad_(in_x)
            out = _everything(cast, place)
            wanted = [*cast.parameters(), *([place] if in_x else [])]
            first = torch.autograd.grad((out.square() * _weights(out)).sum(), wanted, create_graph=True)
            penalty = torch.stack([(g * _weights(g)).sum() for g in first]).sum()
            second = torch.autograd.grad(penalty, wanted, allow_unused=True)
            results.append([torch.zeros_like(w) if g is None else g for g, w in zip(second, wanted, strict=True)])
        for single, double in zip(*results, strict=True):
            assert bool(double.isfinite().all()), f"{class_name(module)} has an infinite or NaN second derivative"
            _close(
                single.double(),
                double,
                f"second derivatives of {class_name(module)} differ between float32 and float64",
                rtol=10 * tolerance,
                atol=10 * tolerance * max(1.0, double.abs().max().item()),
            )


def check_gradcheck(module: nn.Module, x: Tensor) -> None:
    """Finite differences agree with the gradients in coordinates and parameters, and with the second ones (float64)."""
    wide = copy.deepcopy(module).double()
    names = [name for name, _ in wide.named_parameters()]

    def function(place: Tensor, *values: Tensor) -> Tensor:
        out: Tensor = torch.func.functional_call(wide, dict(zip(names, values, strict=True)), (place,))
        return out

    inputs = [x[:3].double(), *(value.detach().clone() for value in wide.parameters())]
    for tensor in inputs:
        tensor.requires_grad_()
    steps: dict[str, Any] = {"eps": 1e-7, "atol": 1e-3, "rtol": 1e-3, "fast_mode": True}
    for order, check in (("first", gradcheck), ("second", gradgradcheck)):
        try:
            assert check(function, inputs, **steps)
        except GradcheckError as error:
            raise AssertionError(f"the {order} derivatives of {class_name(module)} are wrong: {error}") from error


def check_precision(module: nn.Module, x: Tensor, *, tolerance: float) -> None:
    """The float32 values, compiled kernels included, are those of float64 up to rounding."""
    exact = copy.deepcopy(module).double()(x.double())
    scale = max(1.0, exact.abs().max().item())
    what = f"{class_name(module)} in float32 is far from itself in float64"
    _close(module(x).double(), exact, what, rtol=0, atol=tolerance * scale)


def check_device(module: nn.Module) -> None:
    """Parameters and buffers move together, and the output is where the input is (shapes alone, on `meta`)."""
    moved = copy.deepcopy(module).to("meta")
    out = moved(torch.empty(4, _size(module, "in_dim"), device="meta"))
    assert out.device.type == "meta", f"{class_name(module)} answers an input on another device on {out.device}"


def same_state(a: nn.Module, b: nn.Module) -> bool:
    """Whether two modules hold the same numbers, bit for bit."""
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True))


def class_name(module: nn.Module) -> str:
    """What the messages call a module."""
    return type(module).__name__


def _call(module: nn.Module, x: Tensor) -> Tensor:
    """The output for x; an error in it names the input's shape."""
    try:
        out = module(x)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise AssertionError(f"{class_name(module)} fails for an input of shape {tuple(x.shape)}: {reason}") from error
    assert isinstance(out, Tensor), f"{class_name(module)} must return a tensor, got {type(out).__name__}"
    return out


def _everything(module: nn.Module, x: Tensor) -> Tensor:
    """What a module puts out, at every scale if it has several: (..., c · scales)."""
    outputs = module.outputs(x) if isinstance(module, Field | Network) else (module(x),)
    assert torch.equal(outputs[-1], module(x)), (
        f"the last of the outputs of {class_name(module)} is not what it returns"
    )
    return torch.cat(outputs, dim=-1)


def _weights(like: Tensor) -> Tensor:
    """Fixed numbers of mixed sign, so that no two terms cancel by symmetry."""
    return (torch.arange(like.numel(), dtype=torch.float64) * 0.7 + 0.3).sin().view(like.shape).to(like)


def _close(got: Tensor, expected: Tensor, what: str, *, rtol: float, atol: float) -> None:
    worst = (got - expected).abs().max().item() if got.numel() else 0.0
    assert torch.allclose(got, expected, rtol=rtol, atol=atol), f"{what}: up to {worst:.3g} apart"


def _size(module: nn.Module, which: str) -> int:
    size = getattr(module, which)
    assert isinstance(size, int), f"{class_name(module)}.{which} must be an int, got {size!r}"
    assert size >= 1, f"{class_name(module)}.{which} must be at least 1, got {size}"
    return size
