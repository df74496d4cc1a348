"""Options as frozen dataclasses: named, typed, bounded, documented field by field."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from alfilter.errors import UserError, nearest

T = TypeVar("T")
_CARRIED = (int, float, str, bool, type(None), tuple[int, ...])  # types that words and JSON can hold


def option(
    default: Any, doc: str, *, low: float | None = None, high: float | None = None, choices: Sequence[str] = ()
) -> Any:
    """A dataclass field with a one-line doc and the range or the words it may take."""
    return field(default=default, metadata={"doc": doc, "low": low, "high": high, "choices": tuple(choices)})


def configure(kind: type[T], options: Mapping[str, Any], owner: str) -> T:
    """`kind(**options)` after checking every option by name, type and range.

    >>> @dataclass(frozen=True)
    ... class Demo:
    ...     levels: int = option(8, "number of scales", low=1)
    >>> configure(Demo, {"levels": 4}, "demo").levels
    4
    >>> configure(Demo, {"level": 4}, "demo")
    Traceback (most recent call last):
    alfilter.errors.UserError: demo has no option 'level'; did you mean 'levels'?
    """
    hints = get_type_hints(kind)
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    checked = {}
    for name, value in options.items():
        if name not in known:
            raise UserError(f"{owner} has no option {name!r}; {nearest(name, known)}")
        checked[name] = _check(value, hints[name], known[name].metadata, f"{owner} option {name!r}")
    return kind(**checked)


def check_declaration(kind: type, owner: str) -> None:
    """Refuse a class of options that a command line and a model file could not carry.

    It is a dataclass; every field has a default, and is a number, a string, a bool, a tuple of integers, or one of
    these or None.

    >>> @dataclass(frozen=True)
    ... class Demo:
    ...     levels: list[int] = field(default_factory=list)
    >>> check_declaration(Demo, "demo")
    Traceback (most recent call last):
    alfilter.errors.UserError: demo option 'levels' must be int, float, str, bool or tuple[int, ...], got list[int]
    """
    if not (isinstance(kind, type) and is_dataclass(kind)):
        raise UserError(f"the options of {owner} must be a dataclass, got {kind!r}")
    hints = get_type_hints(kind)
    for item in fields(kind):
        if item.default is MISSING and item.default_factory is MISSING:
            raise UserError(f"{owner} option {item.name!r} must have a default")
        if not all(a in _CARRIED for a in _alternatives(hints[item.name])):
            names = "int, float, str, bool or tuple[int, ...]"
            raise UserError(f"{owner} option {item.name!r} must be {names}, got {hints[item.name]}")


def override(options: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A training's options with some of them changed; a rate that is named is used as it is, whatever the network.

    >>> override({"lr": 1e-3, "neurons": 480}, {"lr": 2e-3})
    {'lr': 0.002, 'neurons': None}
    """
    as_given = {"neurons": None} if "lr" in changes and options.get("neurons") else {}
    return {**options, **as_given, **changes}


def option_names(kind: type) -> tuple[str, ...]:
    """The names of a kind's options."""
    return tuple(get_type_hints(kind))


def parse_options(kind: type, pairs: Sequence[str], owner: str) -> dict[str, Any]:
    """Options from the command line's `name=value` words, read by the type of their field.

    >>> parse_options(Training, ["steps=20", "schedule=cosine"], "training")
    {'steps': 20, 'schedule': 'cosine'}
    """
    hints = get_type_hints(kind)
    parsed = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise UserError(f"an option is written name=value, got {pair!r}; for example {next(iter(hints))}=…")
        if name not in hints:
            raise UserError(f"{owner} has no option {name!r}; {nearest(name, hints)}")
        parsed[name] = _parse(text, hints[name], f"{owner} option {name!r}")
    return parsed


def _check(value: Any, hint: Any, limits: Mapping[str, Any], where: str) -> Any:
    alternatives = _alternatives(hint)
    if value is None and type(None) in alternatives:
        return None
    if isinstance(value, list | tuple) and any(get_origin(a) is tuple for a in alternatives):
        return tuple(_check(item, int, limits, where) for item in value)
    if isinstance(value, Real) and not isinstance(value, bool):  # numpy's numbers become Python's, which JSON can write
        value = int(value) if isinstance(value, Integral) and float not in alternatives else float(value)
    plain = tuple(a for a in alternatives if isinstance(a, type))
    if not isinstance(value, plain) or (isinstance(value, bool) and bool not in plain):
        raise UserError(f"{where} must be {_spell(hint)}, got {value!r} ({type(value).__name__})")
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{where} must be a finite number, got {value}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = limits.get("low"), limits.get("high")
        if (low is not None and value < low) or (high is not None and value > high):
            raise UserError(f"{where} must be {_range(low, high)}, got {value}")
    if limits.get("choices") and value not in limits["choices"]:
        raise UserError(f"{where} must be one of {', '.join(limits['choices'])}, got {value!r}")
    return value


def _parse(text: str, hint: Any, where: str) -> Any:
    alternatives = _alternatives(hint)
    if type(None) in alternatives and text.lower() in ("none", "auto"):
        return None
    if bool in alternatives and text.lower() in ("true", "false", "yes", "no"):
        return text.lower() in ("true", "yes")
    try:
        if "x" in text and any(get_origin(a) is tuple for a in alternatives):
            return tuple(int(part) for part in text.split("x"))
        if int in alternatives:
            return int(text)
        if float in alternatives:
            return float(text)
    except ValueError:
        raise UserError(f"{where} must be {_spell(hint)}, got {text!r}") from None
    return text


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _spell(hint: Any) -> str:
    words = {int: "a whole number", float: "a number", str: "a word", bool: "true or false", type(None): "none"}
    return " or ".join(words.get(a, "sizes like 64x64") for a in _alternatives(hint))


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"between {low:g} and {high:g}"
    return f"at least {low:g}" if low is not None else f"at most {high:g}"


@dataclass(frozen=True)
class Density:
    """How densely a signal is seen: `seen` samples per axis of `dims`, and `gap` ≥ 1, the distance between seen samples
    in units of the signal's own spacing."""

    dims: int
    seen: float
    gap: float = 1.0

    @classmethod
    def of(cls, dims: int, seen: int, total: int) -> Density:
        """Of `seen` samples out of `total`, spread evenly.

        >>> Density.of(2, 4096, 16384)
        Density(dims=2, seen=64.0, gap=2.0)
        """
        return cls(dims, seen ** (1 / dims), (total / seen) ** (1 / dims))

    @property
    def lattice(self) -> int:
        """Nodes per axis of a lattice with 16 for every seen point, and at most 65,536: gaps are filled there.

        >>> Density(2, 10.0).lattice, Density(2, 1000.0).lattice
        (40, 256)
        """
        count = float(min(16 * self.seen**self.dims, 1 << 16))
        return max(2, int(count ** (1 / self.dims) + 0.5))


# options that no longer exist, with the values that changed nothing: files written before may hold them
REMOVED: Mapping[str, Any] = {"bend": 0.0, "bend_power": 1.0, "jitter": 0.0, "average": 0.0, "warmup": 0.0, "heads": 1}

# options that files written before do not hold, with the values that change nothing
ADDED: Mapping[str, Any] = {
    "until": None, "settle": 1.0, "filter_loss": "error", "kernels": "auto", "activation": "relu", "omega": 5.0,
}  # fmt: skip


def without_removed(stored: Any, current: Any) -> Any:
    """A stored table of options without those that the current table no longer has and that had no effect.

    Options that were not there when it was written are added with the value that changes nothing.

    >>> without_removed({"steps": 5, "bend": 0.0}, {"steps": 7}), without_removed({"bend": 0.1}, {"steps": 7})
    ({'steps': 5}, {'bend': 0.1})
    >>> without_removed({"steps": 5}, {"steps": 5, "until": 40.0})
    {'steps': 5, 'until': None}
    """
    if not (isinstance(stored, dict) and isinstance(current, dict)):
        return stored
    known = {k: v for k, v in stored.items() if k in current or k not in REMOVED or REMOVED[k] != v}
    return {**known, **{k: v for k, v in ADDED.items() if k in current and k not in stored}}


@dataclass(frozen=True)
class Training:
    """How a field is trained; the defaults are the paper's recipe for images."""

    steps: int = option(5000, "optimiser steps", low=1)
    budget: float | None = option(None, "seconds of training instead of a number of steps", low=0.1)
    until: float | None = option(None, "quality in dB at which the training ends early")
    clock: str = option(
        "wall",
        "what a budget counts; cpu: time on the cores by thread, fair when they are shared",
        choices=("wall", "cpu"),
    )
    batch: int | None = option(None, "samples per step; none takes all of them", low=1)
    micro: int = option(
        4096,
        "samples per pass, 16 times as many in a compiled step; a batch is split so that activations stay in cache",
        low=1,
    )
    kernels: str = option(
        "auto",
        "how a network is computed; auto: the fastest on this machine, measured once",
        choices=("auto", "blocks", "layers", "plain"),
    )
    lr: float = option(1e-3, "learning rate of the network", low=0, high=1e37)
    neurons: int | None = option(
        None, "width times depth that the preset's lr was tuned for; a larger network takes smaller steps", low=1
    )
    lr_encoding: float = option(3e-3, "learning rate of the encoding's own parameters (the α grid)", low=0, high=1e37)
    schedule: str = option("step", "how the rates fall", choices=("step", "cosine", "constant"))
    decay: float = option(
        0.6, "step: factor every `every` steps; cosine: final rate relative to the first", low=0, high=1
    )
    every: int = option(1250, "step schedule: steps between two decays", low=1)
    weight_decay: float = option(0.0, "decoupled weight decay of the network", low=0)
    beta2: float = option(0.999, "Adam's β₂, the decay of its mean of squared gradients", low=0.5, high=0.999999)
    epsilon: float = option(1e-8, "Adam's ε, added to the root of the squared gradients", low=1e-30, high=1)
    amsgrad: bool = option(False, "divide by the largest mean of squared gradients so far (AMSGrad)")
    clip: float | None = option(None, "norm to which the gradient is clipped; none: no clipping", low=0)
    sampling: str = option(
        "source",
        "a shape's samples; source: far and near, squares; graded: also between, absolute errors",
        choices=("source", "graded"),
    )
    tv: float = option(0.0, "weight λ of the total variation of the α grid", low=0)
    tv_reduction: str = option("sum", "whether the total variation is summed or averaged", choices=("sum", "mean"))
    parsimony: float = option(0.0, "λ, the price of all levels, relative to the error", low=0)
    filter_loss: str = option(
        "error", "what α descends; log: the error's logarithm, a gradient that does not fade", choices=("error", "log")
    )
    settle: float = option(1.0, "share of the run after which α is frozen and its price ends", low=0, high=1)
    detail: float = option(
        0.0, "weight of the area means at 1/2, 1/4, 1/8, learned with α capped there; it falls with the rates", low=0
    )
    fill: float = option(
        0.0, "weight of the values that are filled in between the samples of a grid or between points", low=0
    )
