"""`model.safetensors`: the numbers of a field and a versioned header that rebuilds it. No pickle, ever."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch.overrides import TorchFunctionMode

from alfilter.config import without_removed
from alfilter.errors import UserError
from alfilter.files import replacing
from alfilter.methods import METHODS, Field, build, preset
from alfilter.training.tensor_stream import write_stream

FORMAT = 1
_KEY = "alfilter"
# kinds of signals on a grid, and the numbers above 0 that each has of its own
_GRIDS: dict[str, tuple[str, ...]] = {
    "image": (), "audio": ("rate",), "volume": (), "video": ("rate",), "lightfield": (),
}  # fmt: skip
_MOST_SAMPLES, _MOST_FRAMES, _MOST_VIDEO = 1 << 40, 1 << 20, 1 << 32  # of a grid; frames and samples of a video
_LONGEST, _LONGEST_SOUND, _MOST_VIEWS = 1 << 24, 1 << 28, 1 << 16  # samples along an axis; views of a light field
_MAKERS = {
    *(torch.arange, torch.empty, torch.full, torch.linspace, torch.ones, torch.rand, torch.randint, torch.randn),
    torch.zeros,
}


def save(field: Field, path: str | Path, *, method: str | None = None, **settings: Any) -> None:
    """Write a field: same field, same bytes.

    method, settings: how `build` makes a field like this one, for a `Field` that was put together by hand from an
    encoding and a network; the method may be one of your own that is registered.
    """
    if method is not None:
        field = _named(field, method, settings)
    elif settings:
        raise UserError(f"{next(iter(settings))!r} is a setting of a method; name it too, with method=…")
    if not field.spec:
        raise UserError(
            "a model file says which method rebuilds the field, and this one was made by hand; "
            "register its method and give its name: save(field, path, method=NAME, …), or make it with alfilter.build"
        )
    header = {"format": FORMAT, **field.spec, "signal": field.signal}
    write_tensors(path, field.state_dict(), header)


def _named(field: Field, method: str, settings: dict[str, Any]) -> Field:
    """The same field as one that `build` made by that name and with these settings."""
    rebuilt = build(method, in_dim=field.in_dim, out_dim=field.out_dim, **settings)
    tensors, expected = field.state_dict(), rebuilt.state_dict()
    for name in [*expected, *tensors]:
        shapes = [tuple(state[name].shape) if name in state else None for state in (expected, tensors)]
        if shapes[0] != shapes[1]:
            want, got = ("no such tensor" if shape is None else f"shape {shape}" for shape in shapes)
            raise UserError(
                f"{method} builds another field with these settings: for {name} it has {want}, this field {got}; "
                "give the settings that the field was made with"
            )
    rebuilt.load_state_dict(tensors)
    rebuilt.signal = field.signal
    return rebuilt


def load(path: str | Path) -> Field:
    """Read a field back; what is not understood is refused in one line."""
    header, tensors = read_tensors(path)
    _check_known(path, header)
    try:
        with _Bounded(sum(tensor.numel() for tensor in tensors.values())):
            field = _rebuild(header)
    except (KeyError, TypeError, ValueError, ArithmeticError, RuntimeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())[:160]
        raise UserError(f"{path} describes a field that cannot be built: {reason}; fit it again") from error
    expected = field.state_dict()
    if set(expected) != set(tensors):
        odd = sorted(set(expected) ^ set(tensors))[0]
        raise UserError(f"{path} does not hold the tensors of its own method ({odd} is missing or extra); fit it again")
    for name, value in tensors.items():
        if value.shape != expected[name].shape or value.dtype != expected[name].dtype:
            want, got = (f"{t.dtype} {tuple(t.shape)}" for t in (expected[name], value))
            raise UserError(f"{path}: tensor {name} should be {want}, got {got}; fit it again")
    load_state(field, tensors, path)
    return field.eval()


def load_state(field: Field, tensors: dict[str, torch.Tensor], path: str | Path) -> None:
    """Give a field the numbers of a file, and refuse what its compiled code must not see."""
    for name, value in tensors.items():
        if not torch.isfinite(value).all():
            raise UserError(f"{path}: tensor {name} holds NaN or infinity; fit it again with a smaller learning rate")
    field.load_state_dict(tensors)
    try:
        field.encoding.validate()
    except UserError as error:
        raise UserError(f"{path} is damaged: {error}; fit it again") from error


class _Bounded(TorchFunctionMode):
    """Refuse to make many more numbers, in all, than the file holds: a header could ask for any amount of memory."""

    def __init__(self, stored: int) -> None:
        super().__init__()
        self.left = 4 * stored + (1 << 20)  # a start is drawn, scaled and copied

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func in _MAKERS and args:
            size = next((word for word in args if isinstance(word, tuple | list)), args)
            self.left -= math.prod(n for n in size if isinstance(n, int))
            if self.left < 0:
                raise UserError("it asks for more numbers than the file holds")
        return func(*args, **(kwargs or {}))


def write_tensors(path: str | Path, tensors: dict[str, torch.Tensor], header: dict[str, Any]) -> None:
    """Tensors and a JSON header in one safetensors file, whole or not at all."""
    with replacing(path) as temporary, temporary.open("wb") as file:
        write_stream(file, tensors, {_KEY: json.dumps(header, sort_keys=True)})


def read_tensors(path: str | Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """The header and the tensors of a file written by `write_tensors`."""
    file = Path(path)
    if not file.is_file():
        what = "a folder" if file.is_dir() else "no such file"
        raise UserError(f"a model file was expected at {file}, got {what}; give the model.safetensors of a run")
    try:
        with safe_open(file, framework="pt") as opened:
            metadata = opened.metadata() or {}
            header = json.loads(metadata[_KEY])
            check_format(file, header)
            return header, {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except UserError:
        raise
    except KeyError:
        raise UserError(
            f"{file} is a safetensors file of another program; give the model.safetensors of a run"
        ) from None
    except (SafetensorError, ValueError, TypeError, OSError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:120]
        raise UserError(f"{file} is not a readable model file ({reason}); it is damaged or of another kind") from error


def check_format(file: Path, header: Any) -> None:
    """Refuse a header of another shape or of a newer version."""
    number = header.get("format") if isinstance(header, dict) else None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise UserError(f"{file} has no format number in its header; it is damaged or of another kind")
    if number > FORMAT:
        raise UserError(f"{file} has format {number}, this version reads up to {FORMAT}; upgrade alfilter")


def _check_known(path: str | Path, header: dict[str, Any]) -> None:
    """Refuse a field whose method is not here, and say where to get it."""
    name, provider = header.get("method"), header.get("provider")
    if not isinstance(name, str) or name in METHODS:
        return
    where, _, source = provider.partition(" ") if isinstance(provider, str) else ("", "", "")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", source):  # users paste it into their shells
        where = ""
    if where == "package":
        remedy = (
            f"the file says that the package {source} provides it, which is not installed here; "
            f"if you trust that package, pip install {source}"
        )
    elif where == "module":
        remedy = f"it was registered by the module {source}; import that first ('alfilter --import {source} …')"
    else:
        remedy = "upgrade alfilter, or fit it again"
    raise UserError(f"{path} describes a field that cannot be built: unknown method {name!r}; {remedy}")


def _rebuild(header: dict[str, Any]) -> Field:
    name, options = header["method"], header["options"]
    if not isinstance(options, dict) or not isinstance(header["signal"], dict):
        raise UserError("its options or its signal are not tables")
    if not isinstance(name, str) or not isinstance(header.get("preset"), str | None):
        raise UserError("its method or its preset is not a word")
    if header.get("preset") is not None:
        preset(name, header["preset"])
    samples = tuple(int(n) for n in header["samples"]) if header.get("samples") else None
    options = without_removed(options, {item.name: item.default for item in fields(METHODS[name].options)})
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    field = build(name, in_dim=header["in_dim"], out_dim=header["out_dim"], samples=samples, **options)
    _check_signal(header["signal"], header["in_dim"], header["out_dim"])
    field.spec["preset"] = header.get("preset")
    field.signal = header["signal"]
    return field


def _check_signal(facts: dict[str, Any], in_dim: int, out_dim: int) -> None:
    """Refuse facts of a signal that a reader of the model could not use."""
    if facts.get("kind") == "points":
        _check_points(facts, in_dim, out_dim)
    if facts.get("kind") not in _GRIDS:
        return
    shape = facts.get("shape")
    numbers = [facts.get(name) for name in ("low", "high", *_GRIDS[facts["kind"]])]
    counts = [facts.get(name) for name in ("bits", "observe_seed")]
    if (
        not isinstance(shape, list)
        or len(shape) != in_dim
        or not all(isinstance(n, int) and n >= 1 for n in shape)
        or not all(isinstance(n, int) and 0 <= n < 1 << 63 for n in counts)
        or math.prod(shape) > _MOST_SAMPLES
        or max(shape) > (_LONGEST_SOUND if facts["kind"] == "audio" else _LONGEST)
        or (facts["kind"] == "video" and (shape[0] > _MOST_FRAMES or math.prod(shape) > _MOST_VIDEO))
        or (facts["kind"] == "lightfield" and math.prod(shape[:2]) > _MOST_VIEWS)
        or not all(isinstance(n, int | float) and math.isfinite(n) for n in numbers)
        or not isinstance(facts.get("observe"), str)
        or facts.get("channels") != out_dim
        or not all(facts[name] > 0 for name in _GRIDS[facts["kind"]])
    ):
        raise UserError("the facts of its signal contradict themselves")


def _check_points(facts: dict[str, Any], in_dim: int, out_dim: int) -> None:
    """The same for scattered points: names and bounds of every coordinate and value."""
    wrong = UserError("the facts of its points contradict themselves")
    seed, words = facts.get("observe_seed", 0), [facts.get("observe", "all")]
    words += [name for name in (facts.get("weight"), facts.get("noise")) if name is not None]
    if not all(isinstance(word, str) for word in words) or not isinstance(seed, int) or not 0 <= seed < 1 << 63:
        raise wrong
    for names, low, high, size in (("coords", "low", "high", in_dim), ("values", "value_low", "value_high", out_dim)):
        lists = [facts.get(name) for name in (names, low, high)]
        if not all(isinstance(entry, list) and len(entry) == size for entry in lists):
            raise wrong
        bounds = [*facts[low], *facts[high], *(facts.get("support") or [None])]
        if not all(isinstance(name, str) for name in facts[names]):
            raise wrong
        if not all(isinstance(number, int | float) and math.isfinite(number) for number in bounds):
            raise wrong
        if not all(first < last for first, last in zip(facts[low], facts[high], strict=True)):
            raise wrong
