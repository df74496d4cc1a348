"""`model.safetensors`: the numbers of a field and a versioned header that rebuilds it. No pickle, ever."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialise
from torch.overrides import TorchFunctionMode

from alfilter.errors import UserError
from alfilter.files import write_bytes
from alfilter.methods import METHODS, Field, build, preset

FORMAT = 1
_KEY = "alfilter"
# kinds of signals on a grid, and the numbers above 0 that each has of its own
_GRIDS: dict[str, tuple[str, ...]] = {"image": (), "audio": ("rate",), "volume": (), "video": ("rate",)}


def save(field: Field, path: str | Path) -> None:
    """Write a field: same field, same bytes."""
    if not field.spec:
        raise UserError("only a field made by alfilter.build can be saved, since its file must say how to rebuild it")
    header = {"format": FORMAT, **field.spec, "signal": field.signal}
    tensors = {name: value.detach().cpu().contiguous() for name, value in field.state_dict().items()}
    write_tensors(path, tensors, header)


def load(path: str | Path) -> Field:
    """Read a field back; what is not understood is refused in one line."""
    header, tensors = read_tensors(path)
    try:
        with _Bounded(max((tensor.numel() for tensor in tensors.values()), default=0)):
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
        if not torch.isfinite(value).all():
            raise UserError(f"{path}: tensor {name} holds NaN or infinity; fit it again with a smaller learning rate")
    field.load_state_dict(tensors)
    return field.eval()


class _Bounded(TorchFunctionMode):
    """Refuse tensors much larger than the file's: a damaged header could ask for any amount of memory."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self.limit = max(2 * largest, 1 << 20)

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func in (torch.empty, torch.full, torch.ones, torch.rand, torch.randn, torch.zeros) and args:
            size = args[0] if isinstance(args[0], tuple | list) else args
            if math.prod(n for n in size if isinstance(n, int)) > self.limit:
                raise UserError("it asks for more numbers than the file holds")
        return func(*args, **(kwargs or {}))


def write_tensors(path: str | Path, tensors: dict[str, torch.Tensor], header: dict[str, Any]) -> None:
    """Tensors and a JSON header in one safetensors file, whole or not at all."""
    # in memory first: the library's own way to a file leaves a temporary of its own behind when it is killed
    write_bytes(path, serialise(tensors, metadata={_KEY: json.dumps(header, sort_keys=True)}))


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


def _rebuild(header: dict[str, Any]) -> Field:
    name, options = header["method"], header["options"]
    if name not in METHODS:
        raise UserError(f"unknown method {name!r}")
    if not isinstance(options, dict) or not isinstance(header["signal"], dict):
        raise UserError("its options or its signal are not tables")
    if header.get("preset") is not None:
        preset(name, header["preset"])
    samples = tuple(int(n) for n in header["samples"]) if header.get("samples") else None
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in options.items()}
    field = build(name, in_dim=header["in_dim"], out_dim=header["out_dim"], samples=samples, **options)
    _check_signal(header["signal"], header["in_dim"], header["out_dim"])
    field.spec["preset"] = header.get("preset")
    field.signal = header["signal"]
    return field


def _check_signal(facts: dict[str, Any], in_dim: int, out_dim: int) -> None:
    """Refuse facts of a signal that a reader of the model would stumble over."""
    if facts.get("kind") == "points":
        _check_points(facts, in_dim, out_dim)
    if facts.get("kind") not in _GRIDS:
        return
    shape = facts.get("shape")
    numbers = [facts.get(name) for name in ("bits", "observe_seed", "low", "high", *_GRIDS[facts["kind"]])]
    if (
        not isinstance(shape, list)
        or len(shape) != in_dim
        or not all(isinstance(n, int) and n >= 1 for n in shape)
        or not all(isinstance(n, int | float) and math.isfinite(n) for n in numbers)
        or not isinstance(facts.get("observe"), str)
        or facts.get("channels") != out_dim
        or not all(facts[name] > 0 for name in _GRIDS[facts["kind"]])
    ):
        raise UserError("the facts of its signal contradict themselves")


def _check_points(facts: dict[str, Any], in_dim: int, out_dim: int) -> None:
    """The same for scattered points: names and bounds of every coordinate and value."""
    wrong = UserError("the facts of its points contradict themselves")
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
