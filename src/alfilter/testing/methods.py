"""The contract of a named method: its parts, its presets, its model file, its training."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import nn

from alfilter.config import Density
from alfilter.errors import UserError
from alfilter.evaluate import LAYOUTS
from alfilter.methods import Field, build, method, parameter_count, training
from alfilter.signals import GridSignal
from alfilter.tasks import GridTask
from alfilter.testing.parts import check_encoding, check_network
from alfilter.testing.properties import (
    check_gradients,
    check_module,
    check_precision,
    check_shapes,
    class_name,
    points,
    same_state,
)
from alfilter.training import fit, load, save

# kind of signal: its coordinates, of points as many as a map has
_DIMENSIONS = {**{kind: len(layout.axes) for kind, layout in LAYOUTS.items()}, "audio": 1, "shape": 3, "points": 2}
_SIDE = 8  # samples along each axis of a signal that a preset is tried on


def check_method(name: str, **options: Any) -> None:
    """A method of METHODS, your own included, builds, keeps the contracts of its parts, saves, loads, trains, resumes.

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
    check_presets(name)
    check_unknown_option(name)
    with TemporaryDirectory() as folder:
        check_model_file(field, Path(folder) / "model.safetensors")
        check_trains(lambda: _small(name, 2, 3, options))
        check_resumes(lambda: _small(name, 2, 3, options), Path(folder))


def check_seeds(make: Callable[[int], nn.Module]) -> None:
    """One seed gives one initialisation, another seed another; the global random state is untouched."""
    state = torch.get_rng_state()
    first, again, other = make(0), make(0), make(1)
    assert torch.equal(state, torch.get_rng_state()), f"{class_name(first)} draws from torch's global random numbers"
    assert same_state(first, again), f"{class_name(first)} starts differently for the same seed"
    assert not same_state(first, other), f"{class_name(first)} starts the same for two seeds"


def check_parameter_count(field: Field) -> None:
    """parameter_count is the number of trained numbers."""
    counted = sum(p.numel() for p in field.encoding.parameters()) + sum(p.numel() for p in field.network.parameters())
    assert parameter_count(field) == counted, f"expected {counted} parameters, got {parameter_count(field)}"


def check_presets(name: str) -> None:
    """There is a preset `default`, and every preset's options and training are known and within their ranges.

    A preset WHICH-KIND is built with as many coordinates as that kind of signal has, any other with two. What follows
    the density is tried where every sample is seen and where a quarter of them are.
    """
    presets = method(name).presets
    assert "default" in presets, f"{name} has no preset 'default', only {', '.join(presets) or 'none'}"
    for which in presets:
        kind = _kind_of(which)
        dims, on_grid = _DIMENSIONS[kind], kind not in ("shape", "points")
        samples, count = (_SIDE,) * dims if on_grid else None, _SIDE**dims
        try:
            for seen in (Density.of(dims, count, count), Density.of(dims, count // 4, count)):
                build(name, in_dim=dims, out_dim=1, preset=which, samples=samples, seen=seen)
                training(name, which, seen)
        except UserError as error:
            raise AssertionError(f"preset {which!r} of {name} cannot be used: {error}") from error


def _kind_of(which: str) -> str:
    """The kind of signal that a preset is for; a picture where its name says nothing else.

    >>> _kind_of("default-audio"), _kind_of("reconstruct"), _kind_of("my-own")
    ('audio', 'image', 'image')
    """
    suffix = which.rpartition("-")[2]
    return suffix if "-" in which and suffix in _DIMENSIONS else "image"


def check_unknown_option(name: str) -> None:
    """A misspelt option is refused with the nearest name."""
    known = next((option.name for option in fields(method(name).options)), None)
    misspelt: dict[str, Any] = {f"{known}s_": 1}
    message = ""
    try:
        build(name, in_dim=2, out_dim=1, **misspelt)
    except UserError as error:
        message = str(error)
    assert message, f"{name} takes an option that it does not have"
    assert known is None or f"did you mean {known!r}?" in message, (
        f"the error of {name} does not name {known!r}: {message}"
    )


def check_model_file(field: Field, path: Path) -> None:
    """A saved field comes back with the same outputs bit for bit, and is written to the same bytes again."""
    field = copy.deepcopy(field)
    with torch.no_grad():
        for number, parameter in enumerate(field.parameters()):
            parameter.add_(0.01 * (number + 1))  # a start could be rebuilt from its seed; these numbers cannot
    field.set_range(torch.full((field.out_dim,), -0.5), torch.full((field.out_dim,), 2.0))
    save(field, path)
    loaded = load(path)
    x = points(9, field.in_dim)
    assert torch.equal(field(x), loaded(x)), f"{class_name(field)} changes its outputs through its model file"
    assert loaded.spec == field.spec, f"the model file changes {field.spec} into {loaded.spec}"
    again = path.with_name("again.safetensors")
    save(loaded, again)
    assert path.read_bytes() == again.read_bytes(), "saving a loaded field writes other bytes"


def check_trains(make: Callable[[], Field], steps: int = 12) -> None:
    """A few steps on a small picture lower the loss."""
    field, task = make(), tiny_task()
    history = fit(field, task, steps=steps, batch=None, schedule="constant").history
    before, after = history[0]["loss"], history[-1]["loss"]
    assert after < before, f"{steps} steps did not lower the loss: {before:.4g} before, {after:.4g} after"
    assert not field.training, "fit leaves the field in training mode"


def check_resumes(make: Callable[[], Field], folder: Path, steps: int = 6, stop: int = 3) -> None:
    """A run that is stopped and resumed from its checkpoint ends bit-identical to one that never stopped."""
    straight, stopped, resumed = make(), make(), make()
    setting: dict[str, Any] = {"steps": steps, "batch": 40, "micro": 16, "seed": 3}
    fit(straight, tiny_task(), **setting)
    path = folder / "checkpoint.safetensors"
    done: list[int] = []
    first = fit(
        stopped, tiny_task(), **setting, checkpoint=path, on_progress=lambda progress: done.append(progress.step),
        should_stop=lambda: len(done) >= stop,
    )  # fmt: skip
    assert (first.steps, first.finished) == (stop, False), f"asked to stop after step {stop}, got {first.steps}"
    starts: list[int] = []
    second = fit(resumed, tiny_task(), **setting, checkpoint=path, on_start=starts.append)
    assert starts == [stop], f"the run should continue at step {stop}, it started at {starts}"
    assert (second.steps, second.finished) == (steps, True), f"expected {steps} steps, got {second.steps}"
    assert same_state(straight, resumed), "the resumed run ends elsewhere than the uninterrupted one"


def tiny_task() -> GridTask:
    """Fitting a made picture of 8 × 12: a ramp, a stripe, a checkerboard."""
    i, j = np.meshgrid(np.arange(8), np.arange(12), indexing="ij")
    picture = np.stack((i * 30, (j == 4) * 200, (i + j) % 2 * 255), axis=-1).astype(np.uint8)
    return GridTask(GridSignal(picture))


def _small(name: str, in_dim: int, out_dim: int, options: dict[str, Any], seed: int = 0) -> Field:
    return build(name, in_dim=in_dim, out_dim=out_dim, samples=(4,) * in_dim, seed=seed, **options)
