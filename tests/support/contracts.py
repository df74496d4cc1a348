"""What every encoding, network and method must keep: run these on your own.

    from tests.support.contracts import check_encoding
    check_encoding(MyEncoding(in_dim=2))

Each function returns None or raises an AssertionError that says which promise was broken and by how much. Give small
instances: everything is differentiated twice in float64.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck

import alfilter
from alfilter.encodings import Encoding
from alfilter.errors import UserError
from alfilter.methods import METHODS, Field, parameter_count
from alfilter.networks import Network
from alfilter.signals import GridSignal
from alfilter.tasks import GridTask

BATCHES: tuple[tuple[int, ...], ...] = ((), (5,), (2, 3), (0,), (2, 0))


# ── what may be checked by itself ────────────────────────────────────────────────────────────────────────────────────


def check_encoding(encoding: Encoding, *, tolerance: float = 2e-3) -> None:
    """An encoding maps (..., in_dim) to (..., out_dim), differentiably, and answers a trainer's questions."""
    x = points(7, encoding.in_dim)
    check_module(encoding, x, tolerance=tolerance)
    bound = encoding.first_bound()
    assert bound.shape == (encoding.out_dim,), f"first_bound() must be ({encoding.out_dim},), got {tuple(bound.shape)}"
    assert bool((bound >= 0).all()), "first_bound() holds half-widths, which are not negative"
    check_smoothness(encoding)
    check_constrain(encoding, x)


def check_network(network: Network, *, tolerance: float = 2e-3) -> None:
    """A network maps (..., in_dim) features to (..., out_dim) values, differentiably."""
    check_module(network, points(7, network.in_dim), tolerance=tolerance)


def check_method(name: str, **options: Any) -> None:
    """A row of METHODS builds, keeps the contracts of its parts, saves, loads, trains and resumes.

    options: of the method, small ones.
    """
    for in_dim in (1, 2, 3, 4):
        field = _small(name, in_dim, 2, options)
        x = points(5, in_dim)
        check_shapes(field, in_dim, 2)
        check_gradients(field, x)
        check_precision(field, x, tolerance=5e-3)
    field = _small(name, 2, 3, options)
    check_encoding(field.encoding)
    check_network(field.network)
    check_module(field, points(7, 2), tolerance=5e-3)
    check_seeds(lambda seed: _small(name, 2, 3, options, seed))
    check_parameter_count(field)
    check_unknown_option(name)
    with TemporaryDirectory() as folder:
        check_model_file(field, Path(folder) / "model.safetensors")
        check_trains(lambda: _small(name, 2, 3, options))
        check_resumes(lambda: _small(name, 2, 3, options), Path(folder))


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


# ── single promises ──────────────────────────────────────────────────────────────────────────────────────────────────


def check_shapes(module: nn.Module, in_dim: int, out_dim: int) -> None:
    """Any batch shape goes in front of the declared sizes, none and empty ones too, in float32 and float64."""
    for dtype in (torch.float32, torch.float64):
        cast = copy.deepcopy(module).to(dtype)
        for batch in BATCHES:
            x = torch.rand(*batch, in_dim, dtype=dtype) * 2 - 1
            out = cast(x)
            assert out.shape == (*batch, out_dim), (
                f"{_name(module)} declares out_dim {out_dim}: for {tuple(x.shape)} expected {(*batch, out_dim)}, "
                f"got {tuple(out.shape)}"
            )
            assert out.dtype == dtype, f"{_name(module)} answers {dtype} with {out.dtype}"


def check_rows(module: nn.Module, x: Tensor) -> None:
    """A value depends on its own coordinates only: not on the batch, its shape or its order in memory."""
    together = module(x)
    tight = {"rtol": 1e-4, "atol": 1e-5}
    apart = torch.stack([module(row) for row in x])
    _close(apart, together, f"{_name(module)} gives other values one by one than in a batch", **tight)
    folded = module(x[:6].view(2, 3, -1)).view(6, -1)
    _close(folded, together[:6], f"{_name(module)} gives other values for a folded batch", **tight)
    strided = module(x.t().contiguous().t())
    _close(strided, together, f"{_name(module)} gives other values for a strided input", **tight)


def check_copies(module: nn.Module, x: Tensor) -> None:
    """Repeating, deep-copying and a state_dict round trip change no bit of the output."""
    first = module(x)
    assert torch.equal(first, module(x)), f"{_name(module)} gives another result the second time"
    twin = copy.deepcopy(module)
    assert torch.equal(first, twin(x)), f"a deep copy of {_name(module)} gives another result"
    with torch.no_grad():
        for tensor in twin.state_dict().values():
            tensor.add_(1)
    twin.load_state_dict(module.state_dict())
    assert torch.equal(first, twin(x)), f"{_name(module)} has state that is not in its state_dict"


def check_gradients(module: nn.Module, x: Tensor) -> None:
    """Gradients in all parameters and in the coordinates exist and are finite, in float32 and float64."""
    for dtype in (torch.float32, torch.float64):
        cast = copy.deepcopy(module).to(dtype)
        place = x.to(dtype).requires_grad_()
        wanted = {"its input": place, **dict(cast.named_parameters())}
        out = _everything(cast, place)
        found = torch.autograd.grad((out * _weights(out)).sum(), list(wanted.values()), allow_unused=True)
        for label, gradient in zip(wanted, found, strict=True):
            assert gradient is not None, f"{_name(module)} has no gradient in {label} ({dtype})"
            assert bool(gradient.isfinite().all()), (
                f"{_name(module)} has an infinite or NaN gradient in {label} ({dtype})"
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
            assert bool(double.isfinite().all()), f"{_name(module)} has an infinite or NaN second derivative"
            _close(
                single.double(),
                double,
                f"second derivatives of {_name(module)} differ between float32 and float64",
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
            raise AssertionError(f"the {order} derivatives of {_name(module)} are wrong: {error}") from error


def check_precision(module: nn.Module, x: Tensor, *, tolerance: float) -> None:
    """The float32 values, compiled kernels included, are those of float64 up to rounding."""
    exact = copy.deepcopy(module).double()(x.double())
    scale = max(1.0, exact.abs().max().item())
    what = f"{_name(module)} in float32 is far from itself in float64"
    _close(module(x).double(), exact, what, rtol=0, atol=tolerance * scale)


def check_device(module: nn.Module) -> None:
    """Parameters and buffers move together, and the output is where the input is (shapes alone, on `meta`)."""
    moved = copy.deepcopy(module).to("meta")
    out = moved(torch.empty(4, _size(module, "in_dim"), device="meta"))
    assert out.device.type == "meta", f"{_name(module)} answers an input on another device on {out.device}"


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
    assert _same(fresh, encoding), f"constrain() changes a new {_name(encoding)}: it starts outside its own domain"
    for direction in (-1e6, 1e6):
        far = copy.deepcopy(encoding)
        with torch.no_grad():
            for parameter in far.parameters():
                parameter.add_(direction)
        far.constrain()
        once = copy.deepcopy(far)
        far.constrain()
        assert _same(far, once), f"constrain() of {_name(encoding)} is not idempotent"
        assert bool(far(x).isfinite().all()), f"{_name(encoding)} is not finite after a long step and constrain()"


def check_seeds(make: Callable[[int], nn.Module]) -> None:
    """One seed, one start; another seed, another; and nobody's global random state is touched."""
    state = torch.get_rng_state()
    first, again, other = make(0), make(0), make(1)
    assert torch.equal(state, torch.get_rng_state()), f"{_name(first)} draws from torch's global random numbers"
    assert _same(first, again), f"{_name(first)} starts differently for the same seed"
    assert not _same(first, other), f"{_name(first)} starts the same for two seeds"


def check_parameter_count(field: Field) -> None:
    """parameter_count is the number of trained numbers."""
    counted = sum(p.numel() for p in field.encoding.parameters()) + sum(p.numel() for p in field.network.parameters())
    assert parameter_count(field) == counted, f"expected {counted} parameters, got {parameter_count(field)}"


def check_unknown_option(name: str) -> None:
    """A misspelt option is refused with the nearest name."""
    known = fields(METHODS[name].options)[0].name
    misspelt: dict[str, Any] = {f"{known}s_": 1}
    said = ""
    try:
        alfilter.build(name, in_dim=2, out_dim=1, **misspelt)
    except UserError as error:
        said = str(error)
    assert said, f"{name} takes an option that it does not have"
    assert f"did you mean {known!r}?" in said, f"the error of {name} does not name {known!r}: {said}"


def check_model_file(field: Field, path: Path) -> None:
    """A saved field comes back with the same outputs bit for bit, and is written to the same bytes again."""
    field = copy.deepcopy(field)
    with torch.no_grad():
        for number, parameter in enumerate(field.parameters()):
            parameter.add_(0.01 * (number + 1))  # a start could be rebuilt from its seed; these numbers cannot
    field.set_range(torch.full((field.out_dim,), -0.5), torch.full((field.out_dim,), 2.0))
    alfilter.save(field, path)
    loaded = alfilter.load(path)
    x = points(9, field.in_dim)
    assert torch.equal(field(x), loaded(x)), f"{_name(field)} changes its outputs through its model file"
    assert loaded.spec == field.spec, f"the model file changes {field.spec} into {loaded.spec}"
    again = path.with_name("again.safetensors")
    alfilter.save(loaded, again)
    assert path.read_bytes() == again.read_bytes(), "saving a loaded field writes other bytes"


def check_trains(make: Callable[[], Field], steps: int = 12) -> None:
    """A few steps on a small picture lower the loss."""
    field, task = make(), tiny_task()
    history = alfilter.fit(field, task, steps=steps, batch=None, schedule="constant").history
    before, after = history[0]["loss"], history[-1]["loss"]
    assert after < before, f"{steps} steps did not lower the loss: {before:.4g} before, {after:.4g} after"
    assert not field.training, "fit leaves the field in training mode"


def check_resumes(make: Callable[[], Field], folder: Path, steps: int = 6, stop: int = 3) -> None:
    """A run that is stopped and resumed from its checkpoint ends bit-identical to one that never stopped."""
    straight, stopped, resumed = make(), make(), make()
    setting: dict[str, Any] = {"steps": steps, "batch": 40, "micro": 16, "jitter": 0.1, "seed": 3}
    alfilter.fit(straight, tiny_task(), **setting)
    path = folder / "checkpoint.safetensors"
    done: list[int] = []
    first = alfilter.fit(
        stopped, tiny_task(), **setting, checkpoint=path, on_progress=lambda p: done.append(p.step),
        should_stop=lambda: len(done) >= stop,
    )  # fmt: skip
    assert (first.steps, first.finished) == (stop, False), f"asked to stop after step {stop}, got {first.steps}"
    began: list[int] = []
    second = alfilter.fit(resumed, tiny_task(), **setting, checkpoint=path, on_start=began.append)
    assert began == [stop], f"the run should go on at step {stop}, it began at {began}"
    assert (second.steps, second.finished) == (steps, True), f"expected {steps} steps, got {second.steps}"
    assert _same(straight, resumed), "the resumed run ends elsewhere than the uninterrupted one"


# ── what the checks are made of ──────────────────────────────────────────────────────────────────────────────────────


def points(count: int, dims: int, seed: int = 5) -> Tensor:
    """Coordinates (count, dims) inside [-1, 1], the same every time."""
    return torch.rand(count, dims, generator=torch.Generator().manual_seed(seed)) * 1.9 - 0.95


def tiny_task() -> GridTask:
    """Fitting a made picture of 8 × 12: a ramp, a stripe, a checkerboard."""
    i, j = np.meshgrid(np.arange(8), np.arange(12), indexing="ij")
    picture = np.stack((i * 30, (j == 4) * 200, (i + j) % 2 * 255), axis=-1).astype(np.uint8)
    return GridTask(GridSignal(picture))


def _small(name: str, in_dim: int, out_dim: int, options: dict[str, Any], seed: int = 0) -> Field:
    return alfilter.build(name, in_dim=in_dim, out_dim=out_dim, samples=(4,) * in_dim, seed=seed, **options)


def _everything(module: nn.Module, x: Tensor) -> Tensor:
    """What a module puts out, at every scale if it has several: (..., c · scales)."""
    outputs = module.outputs(x) if isinstance(module, Field | Network) else (module(x),)
    assert torch.equal(outputs[-1], module(x)), f"the last of the outputs of {_name(module)} is not what it returns"
    return torch.cat(outputs, dim=-1)


def _weights(like: Tensor) -> Tensor:
    """Fixed numbers of mixed sign, so that no two terms cancel by symmetry."""
    return (torch.arange(like.numel(), dtype=torch.float64) * 0.7 + 0.3).sin().view(like.shape).to(like)


def _same(a: nn.Module, b: nn.Module) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True))


def _close(got: Tensor, expected: Tensor, what: str, *, rtol: float, atol: float) -> None:
    worst = (got - expected).abs().max().item() if got.numel() else 0.0
    assert torch.allclose(got, expected, rtol=rtol, atol=atol), f"{what}: up to {worst:.3g} apart"


def _size(module: nn.Module, which: str) -> int:
    size = getattr(module, which)
    assert isinstance(size, int), f"{_name(module)}.{which} must be an int, got {size!r}"
    assert size >= 1, f"{_name(module)}.{which} must be at least 1, got {size}"
    return size


def _name(module: nn.Module) -> str:
    return type(module).__name__
