"""A run that is extended beyond its original length, and one that starts from another model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypedDict

import torch

from alfilter.errors import UserError
from alfilter.methods import Field
from alfilter.ops import interpolate
from alfilter.runs.folder import RunFolder
from alfilter.runs.models import load, model_path
from alfilter.runs.request import FitRequest
from alfilter.signals import grid_coords

LENGTH = ("steps", "budget", "until")  # settings of a training that may change when it is resumed
_ALPHA = "alpha.values"  # how the names of α's nodes end
_RANGE = ("shift", "scale")  # a field's range, which is its signal's


def stored_length(request: FitRequest, folder: RunFolder) -> dict[str, Any]:
    """The length of the run that is resumed, for a request that names none."""
    if not request.resume or not folder.config.exists() or "steps" in request.training or "budget" in request.training:
        return {}
    training = folder.read_config().get("training")
    return {name: training[name] for name in LENGTH if name in training} if isinstance(training, dict) else {}


def continued(folder: RunFolder, request: FitRequest) -> FitRequest:
    """The request that continues the run in a folder, from its config.json; only its length may change."""
    config = folder.read_config()
    try:
        signal, training = config["signal"], dict(config["training"])
        _check_words(config, signal)
        _check_source(folder, signal["source"])
        if "steps" in request.training or "budget" in request.training:
            training |= {"steps": request.training.get("steps", training["steps"]), "budget": None}
        return replace(
            request,
            signal=signal["source"],
            method=config["method"],
            preset=config["preset"],
            options=config["options"],
            training={**training, **request.training},
            seed=config["seed"],
            observe=signal.get("observe", "all"),
            coords=tuple(signal.get("coords", ())),
            values=tuple(signal.get("values", ())),
            weight=signal.get("weight"),
            noise=signal.get("noise"),
            out=str(folder),
            resume=True,
        )
    except (KeyError, TypeError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise UserError(f"{folder.config} does not say how its run was made ({reason}); give the signal") from error


def _check_source(folder: RunFolder, source: str) -> None:
    """Refuse to continue where the signal is not found by the path that the run recorded."""
    file = Path(source).expanduser()
    if source.startswith("sample:") or file.exists():
        return
    where = "" if file.is_absolute() else ", relative to the folder it was started in"
    start = "" if file.is_absolute() else "continue it from that folder, or "
    raise UserError(
        f"the run in {folder} recorded its signal as {source}{where}, and from here there is no such file; "
        f"{start}give the signal where it is now with this folder and the run's settings",
        arguments=["out", "resume"],
    )


def _check_words(config: Mapping[str, Any], signal: Mapping[str, Any]) -> None:
    """Refuse a config whose entries are not of the types that they were written with."""
    words = [config["method"], signal["source"], signal.get("observe", "all")]
    words += [*signal.get("coords", ()), *signal.get("values", ())]
    maybe = [config["preset"], signal.get("weight"), signal.get("noise")]
    if not all(isinstance(word, str) for word in [*words, *(word for word in maybe if word is not None)]):
        raise TypeError("a name in it is not a word")
    if not isinstance(config["options"], dict) or type(config["seed"]) is not int:
        raise TypeError("its options or its seed are of another type")


class Position(TypedDict):
    """Where a run was."""

    steps: int
    seconds: float


def read_position(entry: Any, file: Path) -> Position:
    """Steps and seconds as a file of a run folder has them."""
    try:
        return {"steps": int(entry["steps"]), "seconds": float(entry["seconds"])}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UserError(
            f"{file} does not say how far its run is, it is damaged; overwrite the run", arguments=["overwrite"]
        ) from error


@dataclass(frozen=True)
class Extension:
    """What a run did before it was made longer: its positions, the last one being where it continues."""

    earlier: tuple[Position, ...] = ()
    is_new: bool = False  # just asked for: nothing of it is in the folder yet

    @property
    def done(self) -> tuple[int, float]:
        """Steps and seconds before the last extension."""
        return (self.earlier[-1]["steps"], self.earlier[-1]["seconds"]) if self.earlier else (0, 0.0)


def extension_of(folder: RunFolder, stored: Mapping[str, Any], config: Mapping[str, Any]) -> Extension:
    """What is extended when a run that is stored as `stored` is resumed as `config`, whose length may differ."""
    entries = stored.get("extended", [])
    earlier = tuple(read_position(entry, folder.config) for entry in (entries if isinstance(entries, list) else [None]))
    before, now = stored.get("training", {}), config["training"]
    if all(before.get(name) == now[name] for name in LENGTH):
        return Extension(earlier)
    line = folder.read_metrics() if folder.metrics.exists() else {}
    if folder.checkpoint.exists() or not folder.model.exists() or not line.get("steps"):
        raise UserError(
            f"the run in {folder} is not finished; resume it as it is, without a new length, then make it longer",
            arguments=["resume"],
        )
    position = read_position(line, folder.metrics)
    steps, seconds = position["steps"], position["seconds"]
    if (now["budget"] is not None and now["budget"] <= seconds) or (now["budget"] is None and now["steps"] <= steps):
        raise UserError(
            f"the run in {folder} has {steps} steps and {seconds:g} s behind it; "
            "steps and budget count from its start, give more than that",
            arguments=["steps", "budget"],
        )
    return Extension((*earlier, position), is_new=True)


def extension_line(extension: Extension, config: Mapping[str, Any]) -> str:
    """What an extension does, as text."""
    training, (steps, seconds) = config["training"], extension.done
    if training["budget"] is not None:
        more = f"{training['budget'] - seconds:g} s"
    else:
        more = f"{training['steps'] - steps:,} steps"
    falls = {
        "cosine": "the rates rise over the first 2 % and fall along a cosine of their own",
        "step": "the rates keep falling by steps",
    }.get(training["schedule"], "the rates stay as they are")
    return f"{more} after the {steps:,} steps that are done: the optimiser starts without memory, {falls}"


def begin_extension(folder: RunFolder) -> None:
    """Mark the run as not finished, before anything else of it changes."""
    folder.write_metrics({**folder.read_metrics(), "finished": False})


def model_digest(path: str) -> dict[str, str]:
    """How a run folder remembers the model that a run started from."""
    return {"model": path, "sha256": sha256(model_path(path).read_bytes()).hexdigest()}


def model_options(model: Field, request: FitRequest) -> dict[str, Any]:
    """The options of a model that a run starts from, under those of the request."""
    name = model.spec["method"]
    if name != request.method:
        raise UserError(
            f"the model to start from is {name}, the request says {request.method}; give method {name}",
            arguments=["method"],
        )
    return {**model.spec["options"], **request.options}


def take_over(field: Field, model: Field) -> str:
    """Copy the parameters of a model into a field, in place; returns what was copied, as text.

    α is interpolated where its grid has another size; any other tensor of another size keeps its initialisation.
    The field keeps the range of its own signal.
    """
    if (field.in_dim, field.out_dim) != (model.in_dim, model.out_dim):
        sizes = f"{model.in_dim} → {model.out_dim} numbers, the signal {field.in_dim} → {field.out_dim}"
        raise UserError(
            f"the model to start from maps {sizes}; start from a model of such a signal", arguments=["start"]
        )
    theirs = model.state_dict()
    state = {name: tensor for name, tensor in field.state_dict().items() if name not in _RANGE}
    fresh = []
    for name, tensor in state.items():
        other = theirs.get(name)
        if other is not None and other.shape == tensor.shape:
            tensor.copy_(other)
        elif other is not None and name.endswith(_ALPHA) and other.dim() == tensor.dim():
            nodes = grid_coords(tuple(tensor.shape[:-1])).to(other.device)
            with torch.no_grad():
                tensor.copy_(interpolate(other, nodes).view(tensor.shape))
        else:
            fresh.append(name)
    if len(fresh) == len(state):
        raise UserError(
            "the model to start from has no tensor of this field's sizes; give its own options", arguments=["options"]
        )
    names = f"{', '.join(fresh[:3])}{' …' if len(fresh) > 3 else ''}"
    starts = f"; {names} of another size start from their initial values" if fresh else ""
    return f"{len(state) - len(fresh)} of {len(state)} tensors come from the model{starts}"


def load_start(request: FitRequest) -> Field | None:
    """The model that a run should start from, if any."""
    return None if request.start is None else load(request.start)
