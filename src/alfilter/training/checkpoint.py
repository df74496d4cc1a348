"""Everything a run needs to continue as if it had never stopped."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from alfilter.config import without_removed
from alfilter.errors import UserError
from alfilter.methods import Field
from alfilter.runtime.ways import WAYS
from alfilter.training.adam import Adam
from alfilter.training.modelfile import FORMAT, load_state, read_tensors, write_tensors


@dataclass
class Position:
    """Where a run stands: optimiser steps done, seconds spent.

    first_step, first_seconds: where the last extension of a run started. smoothed, look_at,
    reached: the running mean of the loss, the step from which on it may be looked at closer, and whether the quality
    that the run should reach is there (`goal`). way: how its steps are computed (`runtime.ways`), chosen once.
    """

    step: int = 0
    seconds: float = 0.0
    first_step: int = 0
    first_seconds: float = 0.0
    smoothed: float | None = None
    look_at: int = 0
    reached: bool = False
    way: str | None = None


def write_checkpoint(path: Path, field: Field, optimiser: Adam, position: Position, identity: dict[str, Any]) -> None:
    """Parameters, the optimiser's moments, the random state, the position, and what the run is, in one file."""
    tensors: dict[str, Tensor] = {f"field.{name}": value for name, value in field.state_dict().items()}
    for index, moments in enumerate(optimiser.moments):
        tensors[f"optimiser.{index}.mean"], tensors[f"optimiser.{index}.square"] = moments.mean, moments.square
        if moments.peak is not None:
            tensors[f"optimiser.{index}.peak"] = moments.peak
    tensors["random"] = torch.get_rng_state()
    write_tensors(path, tensors, {"format": FORMAT, **asdict(position), "run": identity})


def read_checkpoint(path: Path, field: Field, optimiser: Adam, identity: dict[str, Any]) -> Position:
    """Put a run back where it stood; refuse a checkpoint of a run with other settings."""
    header, tensors = read_tensors(path)
    _check_identity(path, header.get("run"), identity)
    try:
        position = _position(header)
        if not 0 <= position.first_step <= position.step or not 0 <= position.seconds < math.inf:
            raise ValueError(f"step {position.step} after {position.seconds} seconds")
        if position.way not in (None, *WAYS):
            raise ValueError(f"unknown kernels {position.way!r}")
        state = {n.removeprefix("field."): t for n, t in tensors.items() if n.startswith("field.")}
        load_state(field, state, path)
        for index, moments in enumerate(optimiser.moments):
            _restore(moments.mean, tensors[f"optimiser.{index}.mean"])
            _restore(moments.square, tensors[f"optimiser.{index}.square"])
            if moments.peak is not None:
                _restore(moments.peak, tensors[f"optimiser.{index}.peak"])
        optimiser.steps = position.step - position.first_step
        torch.set_rng_state(tensors["random"])
        return position
    except UserError:
        raise
    except (RuntimeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
        reason = " ".join(str(error).split())[:120]
        raise UserError(
            f"{path} does not fit this run ({reason}); start again without it", arguments=["overwrite"]
        ) from error


def _restore(target: Tensor, stored: Tensor) -> None:
    if target.shape != stored.shape:
        raise ValueError(f"expected moments of shape {tuple(target.shape)}, got {tuple(stored.shape)}")
    if not torch.isfinite(stored).all():
        raise ValueError("its moments hold NaN or infinity")
    target.copy_(stored)


def _position(header: dict[str, Any]) -> Position:
    """The position of a header; what a file written before lacks had no effect then."""
    smoothed = header.get("smoothed")
    return Position(
        int(header["step"]), float(header["seconds"]), int(header.get("first_step", 0)),
        float(header.get("first_seconds", 0.0)), None if smoothed is None else float(smoothed),
        int(header.get("look_at", 0)), bool(header.get("reached", False)), header.get("way", WAYS[0]),
    )  # fmt: skip


def _check_identity(path: Path, stored: Any, identity: dict[str, Any]) -> None:
    if not isinstance(stored, dict):
        raise UserError(f"{path} does not say which run it belongs to; start again without it", arguments=["overwrite"])
    for key, value in identity.items():
        before = without_removed(stored.get(key), value)
        if before != value:
            old, new = first_difference(before, value)
            raise UserError(
                f"the run to resume has {key} {old}, this one {new}; give the same settings, or start again",
                arguments=["overwrite"],
            )


def first_difference(old: Any, new: Any) -> tuple[Any, Any]:
    """The first differing entries of two tables, so that a message stays short.

    >>> first_difference({"lr": 1, "steps": 5}, {"lr": 1, "steps": 6})
    ('steps=5', 'steps=6')
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            if old.get(key) != new.get(key):
                return f"{key}={old.get(key)}", f"{key}={new.get(key)}"
    return old, new
