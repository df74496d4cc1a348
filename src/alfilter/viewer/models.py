"""The models a page was given: each with its file, its history, its snapshots, and how far it was steered."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import torch
from torch import Tensor

from alfilter.analysis import filtered_encoding_of
from alfilter.encodings import Octree
from alfilter.errors import UserError
from alfilter.methods import METHODS, Field, parameter_count
from alfilter.networks import Bacon, Heads, LevelDecoder
from alfilter.signals import GridSignal, open_signal
from alfilter.training import load
from alfilter.training.snapshots import list_snapshots
from alfilter.viewer.steering import Box, Brush, alpha_of, paint, refine, with_alpha
from alfilter.viewer.tiles import Evaluate, Shape, in_float64

_UNDO = 24  # gestures that can be taken back
_LOADED = 6  # snapshots kept in memory
_DRAWN = 500  # points of a convergence curve


@dataclass
class Model:
    """One model of the page. `original` never changes; `current` is what the brush made of it."""

    name: str
    file: Path
    original: Field
    snapshots: dict[int, Path]
    current: Field
    version: int = 0
    undo: list[tuple[str, Tensor]] = field(default_factory=list)  # gesture, the grid before it
    lock: Lock = field(default_factory=Lock)
    levels: list[str] = field(default_factory=list)  # names of the levels of detail, coarse to fine; none for most
    _loaded: OrderedDict[int, Field] = field(default_factory=OrderedDict)
    _deep: OrderedDict[int, tuple[Field, Field]] = field(default_factory=OrderedDict)

    @property
    def shape(self) -> Shape:
        rows, columns = self.original.signal["shape"]
        return int(rows), int(columns)

    def variant(self, moment: int | None, original: bool) -> Field:
        """The field to draw: a snapshot, the model as given, or as steered."""
        if moment is None:
            return self.original if original else self.current
        if moment not in self.snapshots:
            raise UserError(f"there is no snapshot of step {moment}")
        with self.lock:
            if moment not in self._loaded:
                self._loaded[moment] = _checked(self.snapshots[moment], load(self.snapshots[moment]), self.original)
                while len(self._loaded) > _LOADED:
                    self._loaded.popitem(last=False)
            self._loaded.move_to_end(moment)
            return self._loaded[moment]

    def deep(self, drawn: Field) -> Field:
        """The float64 copy of a field that is drawn, kept for a few of them."""
        with self.lock:
            key = id(drawn)
            if key not in self._deep or self._deep[key][0] is not drawn:
                self._deep[key] = drawn, in_float64(drawn)
                while len(self._deep) > 2:
                    self._deep.popitem(last=False)
            return self._deep[key][1]

    def steer(self, gesture: str, dabs: Tensor, radius: float, amount: float, kind: Any) -> Box:
        """Paint on α; dabs of one gesture are taken back together. amount: in channels."""
        with self.lock:
            encoding = alpha_of(self.original)
            learned = refine(encoding.alpha.values.detach(), self.shape)
            before = alpha_of(self.current).alpha.values.detach() if self.version else learned
            brush = Brush(radius, amount / encoding.alpha.unit, kind)
            after, box = paint(before, learned, dabs, brush, self.shape)
            if not self.undo or self.undo[-1][0] != gesture:
                self.undo = [*self.undo, (gesture, before)][-_UNDO:]
            self._put(after)
            return box

    def take_back(self) -> bool:
        """Undo the last gesture; whether there was one."""
        with self.lock:
            if not self.undo:
                return False
            before = self.undo.pop()[1]
            self._put(before)
            if torch.equal(before, refine(alpha_of(self.original).alpha.values.detach(), self.shape)):
                self.current = self.original
            return True

    def reset(self) -> None:
        """Back to what was learned."""
        with self.lock:
            self.undo, self.current, self.version = [], self.original, self.version + 1

    @property
    def is_steered(self) -> bool:
        return self.current is not self.original

    def _put(self, grid: Tensor) -> None:
        self.current, self.version = with_alpha(self.original, grid), self.version + 1

    def about(self) -> dict[str, Any]:
        """What the page says about the model."""
        facts = self.original.signal
        found = _objects(self.file.parent / "metrics.json", whole=True)
        metrics = found[0].get("metrics") if found else None
        return {
            "name": self.name,
            "file": self.file.name,
            "method": self.original.spec["method"],
            "title": METHODS[self.original.spec["method"]].title,
            "params": parameter_count(self.original),
            "shape": list(self.shape),
            "channels": self.original.out_dim,
            "low": facts["low"],
            "high": facts["high"],
            "bits": facts["bits"],
            "metrics": metrics if isinstance(metrics, dict) else {},
            "alpha": alpha_facts(self.original),
            "snapshots": list(self.snapshots),
            "levels": self.levels,
            "level": "Network" if isinstance(self.original.network, Heads) else "Level of detail",
            "version": self.version,
            "steered": self.is_steered,
        }

    def history(self) -> list[list[float]]:
        """[step, PSNR, seconds] along the training, thinned to what a curve can show."""
        lines = _objects(self.file.parent / "history.jsonl")
        rows = ([line.get(name, 0.0) for name in ("step", "psnr", "seconds")] for line in lines if "psnr" in line)
        points = [row for row in rows if all(isinstance(value, int | float) for value in row)]
        every = max(1, len(points) // _DRAWN)
        return points[::every] + points[-1:] if points else []


def alpha_facts(drawn: Field) -> dict[str, Any] | None:
    """Sizes, range and frequencies of a field's filter; None for a method without α.

    cycles: of every scale along rows and columns, in cycles per sample: sin(2^j π x) makes 2^j cycles over the n-1
    steps between the samples of an axis.
    """
    encoding = filtered_encoding_of(drawn)
    if encoding is None:
        return None
    alpha = encoding.alpha.values.detach().flatten() * encoding.alpha.unit
    some = alpha[:: max(1, len(alpha) // (1 << 20))]
    low, high = (float(q) for q in torch.quantile(some, torch.tensor([0.01, 0.99])))
    rows, columns = drawn.signal["shape"]
    return {
        "levels": encoding.levels,
        "bandwidth": encoding.bandwidth,
        "kappa": encoding.kappa,
        "channels": 2 * encoding.in_dim * encoding.levels,
        "grid": list(encoding.alpha.values.shape[:-1]),
        "range": [low, high],
        "bounds": [encoding.alpha.low, encoding.alpha.high],
        "cycles": [[2**j / max(1, n - 1) for j in range(encoding.levels)] for n in (rows, columns)],
    }


def level_names(drawn: Field) -> list[str]:
    """What each output of a field that has several can hold, coarse to fine; empty for a field with one."""
    network, encoding = drawn.network, drawn.encoding
    if isinstance(network, Bacon):
        return [f"up to {_sizes(limit)} cycles across the picture" for limit in network.limits]
    if isinstance(network, LevelDecoder) and isinstance(encoding, Octree):
        return [f"grids of up to {_sizes(cells)} cells across" for cells in encoding.layout.cells]
    if isinstance(network, Heads):
        count = len(network.members)
        return [*(f"network {k} of {count} alone" for k in range(1, count + 1)), f"the mean of all {count}"]
    return []


def _sizes(rows_columns: Sequence[int]) -> str:
    """Across first, as pictures are measured.

    >>> _sizes((32, 64)), _sizes((8, 8))
    ('64 × 32', '8')
    """
    rows, columns = rows_columns
    return str(rows) if rows == columns else f"{columns} × {rows}"


def at_level(drawn: Field, level: int | None) -> Evaluate:
    """A field's output number `level`, 1 being the coarsest; None is its value."""
    return drawn if level is None else lambda x: drawn.outputs(x)[level - 1]


def open_models(paths: list[str]) -> list[Model]:
    """The models of some files or run folders; they must represent pictures of one size."""
    models: list[Model] = []
    for path in paths:
        file = Path(path) / "model.safetensors" if Path(path).is_dir() else Path(path)
        drawn = load(file)
        if drawn.signal.get("kind") != "image":
            kind = drawn.signal.get("kind") or "nothing yet"
            todo = f"'alfilter export {file} map.html' writes a page" if kind == "points" else "give image models"
            raise UserError(f"{path} represents {kind}, not a picture; {todo}")
        if models:
            _checked(file, drawn, models[0].original)
        inside = file.parent.name if file.name == "model.safetensors" and file.parent.name else file.stem
        model = Model(_unique(inside, [m.name for m in models]), file, drawn, list_snapshots(file.parent), drawn)
        model.levels = level_names(drawn)
        if file.name != "model.safetensors":  # a model saved beside a run is not that run
            model.snapshots = {}
        models.append(model)
    return models


def open_reference(given: str | None, models: list[Model]) -> tuple[str, GridSignal] | None:
    """The picture to compare with: the given one, or the copy in the first run folder that has one."""
    shape, channels = models[0].shape, models[0].original.out_dim
    if given is None:
        for model in models:
            kept = model.file.parent / "reference.png"
            if kept.is_file():
                signal = open_signal(str(kept))
                if isinstance(signal, GridSignal) and (signal.shape, signal.out_dim) == (shape, channels):
                    return kept.name, signal
        return None
    signal = open_signal(given)
    if not isinstance(signal, GridSignal) or signal.shape != shape or signal.out_dim != channels:
        size = f"{shape[1]}x{shape[0]} with {channels} channels"
        raise UserError(f"--reference must be the fitted picture, {size}; {given} is another")
    return Path(given).name, signal


def _checked(file: Path, drawn: Field, first: Field) -> Field:
    """Refuse a model that cannot be laid over the first."""
    sizes = [(f.signal.get("shape"), f.out_dim) for f in (drawn, first)]
    if sizes[0] != sizes[1]:
        (got, many), (want, channels) = sizes
        raise UserError(
            f"models beside each other represent pictures of one size: the first is {want} with {channels} channels, "
            f"{file} is {got} with {many}; give another"
        )
    return drawn


def _unique(name: str, taken: list[str]) -> str:
    """A label no other model has.

    >>> _unique("photo", ["photo", "photo 2"])
    'photo 3'
    """
    number = 2
    label = name
    while label in taken:
        label, number = f"{name} {number}", number + 1
    return label


def _objects(path: Path, whole: bool = False) -> list[dict[str, Any]]:
    """The JSON objects of a file, one a line or the file as one; a page about a model does not fail for a neighbour."""
    try:
        text = path.read_text(encoding="utf-8")
        values = [json.loads(part) for part in ([text] if whole else text.splitlines())]
    except (OSError, ValueError):
        return []
    return [value for value in values if isinstance(value, dict)]
