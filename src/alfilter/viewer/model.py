"""A model as the page shows it: its file, its history, its snapshots, and what the brush changed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from torch import Tensor

from alfilter.analysis import capped, filter_of, filtered_encoding_of, samples_across
from alfilter.encodings import Octree
from alfilter.errors import UserError
from alfilter.evaluate import LAYOUTS, Layout
from alfilter.methods import METHODS, Field, parameter_count
from alfilter.networks import Bacon, LevelDecoder
from alfilter.runs.folder import RunFolder
from alfilter.runtime.thread_pool import flushed_denormals
from alfilter.training import load
from alfilter.viewer.filter_facts import filter_facts
from alfilter.viewer.steering import Box, Brush, paint, refined_shape, steered, with_offset
from alfilter.viewer.tiles import Evaluate, Shape, in_float64

_MAX_UNDO = 24  # gestures that can be taken back
_UNDO_BYTES = 256 << 20  # of the grids before them
_MAX_LOADED = 6  # snapshots kept in memory
_MAX_POINTS = 500  # points of a convergence curve


@dataclass
class Model:
    """One model of the page. `original` never changes; `current` has the α that was painted."""

    name: str
    file: Path
    original: Field
    snapshots: dict[int, Path]
    current: Field
    version: int = 0
    offset: Tensor | None = None  # of α, as painted
    undo: list[tuple[str, Tensor]] = field(default_factory=list)  # gesture, the offset before it
    lock: Lock = field(default_factory=Lock)
    levels: list[str] = field(default_factory=list)  # names of the levels of detail, coarse to fine; none for most
    _loaded: OrderedDict[int, Field] = field(default_factory=OrderedDict)
    _doubles: OrderedDict[int, tuple[Field, Field]] = field(default_factory=OrderedDict)

    @property
    def shape(self) -> tuple[int, ...]:
        """Samples along every axis of what was fitted."""
        return tuple(int(samples) for samples in self.original.signal["shape"])

    @property
    def layout(self) -> Layout:
        return LAYOUTS[self.original.signal["kind"]]

    @property
    def can_steer(self) -> bool:
        """The brush paints on a plane: only where the plane is all there is."""
        return len(self.shape) == 2 and filtered_encoding_of(self.original) is not None

    @property
    def _size(self) -> Shape:
        if len(self.shape) != 2:
            raise UserError(f"a brush steers pictures, the model is a {self.layout.noun}; cap its detail instead")
        return self.shape[0], self.shape[1]

    def variant(self, moment: int | None, original: bool) -> Field:
        """The field to draw: a snapshot, the model as given, or as steered."""
        if moment is None:
            return self.original if original else self.current
        if moment not in self.snapshots:
            raise UserError(f"there is no snapshot of step {moment}")
        with self.lock:
            if moment not in self._loaded:
                snapshot = load(self.snapshots[moment])
                check_same_size(self.snapshots[moment], snapshot, self.original)
                self._loaded[moment] = snapshot
                while len(self._loaded) > _MAX_LOADED:
                    self._loaded.popitem(last=False)
            self._loaded.move_to_end(moment)
            return self._loaded[moment]

    def in_float64(self, drawn: Field) -> Field:
        """The float64 copy of a field that is drawn; the last two are cached."""
        with self.lock:
            key = id(drawn)
            if key not in self._doubles or self._doubles[key][0] is not drawn:
                self._doubles[key] = drawn, in_float64(drawn)
                while len(self._doubles) > 2:
                    self._doubles.popitem(last=False)
            return self._doubles[key][1]

    def steer(self, gesture: str, dabs: Tensor, radius: float, amount: float) -> Box:
        """Paint on α; dabs of one gesture are taken back together. amount: in channels or levels."""
        with self.lock:
            alpha = filter_of(self.original).alpha
            if self.offset is None:
                self.offset = alpha.values.new_zeros((*refined_shape(alpha.values, self._size), 1))
            before = self.offset
            after, box = paint(before, dabs, Brush(radius, amount / alpha.unit), self._size)
            if not self.undo or self.undo[-1][0] != gesture:
                most = max(1, min(_MAX_UNDO, _UNDO_BYTES // (before.numel() * before.element_size())))
                self.undo = [*self.undo, (gesture, before)][-most:]
            self._set_offset(after)
            return box

    def undo_last(self) -> bool:
        """Undo the last gesture; whether there was one."""
        with self.lock:
            if not self.undo:
                return False
            self._set_offset(self.undo.pop()[1])
            return True

    def reset(self) -> None:
        """Back to what was learned."""
        with self.lock:
            self.undo, self.offset, self.current, self.version = [], None, self.original, self.version + 1

    @property
    def is_steered(self) -> bool:
        return self.current is not self.original

    def saved(self) -> Field:
        """The field as it is to be written: with one α grid that has what was painted in it."""
        return self.original if self.offset is None else with_offset(self.original, self.offset, self._size)

    def _set_offset(self, offset: Tensor) -> None:
        self.offset, self.version = offset, self.version + 1
        self.current = steered(self.original, offset) if bool(offset.any()) else self.original

    def about(self) -> dict[str, Any]:
        """What the page says about the model."""
        facts = self.original.signal
        metrics = self._metrics()
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
            "metrics": metrics,
            "alpha": self._filter_facts(),
            "snapshots": list(self.snapshots),
            "levels": self.levels,
            "steerable": self.can_steer,
            "version": self.version,
            "steered": self.is_steered,
        }

    def _filter_facts(self) -> dict[str, Any] | None:
        """The filter, None for a method without α; frequencies in cycles per sample along the longest axis."""
        encoding = filtered_encoding_of(self.original)
        return None if encoding is None else filter_facts(encoding, samples_across(self.shape))

    def _metrics(self) -> dict[str, Any]:
        """The scores beside the model; a page about a model does not fail for a damaged neighbour."""
        try:
            metrics = RunFolder(self.file.parent).read_metrics().get("metrics")
        except UserError:
            return {}
        return metrics if isinstance(metrics, dict) else {}

    def history(self) -> list[list[float]]:
        """[step, PSNR, seconds] along the training, thinned to what a curve can show."""
        lines = RunFolder(self.file.parent).read_history()
        rows = ([line.get(name, 0.0) for name in ("step", "psnr", "seconds")] for line in lines if "psnr" in line)
        points = [row for row in rows if all(isinstance(value, int | float) for value in row)]
        every = max(1, len(points) // _MAX_POINTS)
        return points[::every] + points[-1:] if points else []


def level_names(drawn: Field) -> list[str]:
    """What each output of a field that has several can hold, coarse to fine; empty for a field with one."""
    network, encoding = drawn.network, drawn.encoding
    if isinstance(network, Bacon):
        return [f"up to {_sizes(limit)} cycles across" for limit in network.limits]
    if isinstance(network, LevelDecoder) and isinstance(encoding, Octree):
        return [f"grids of up to {_sizes(cells)} cells across" for cells in encoding.layout.cells]
    return []


def _sizes(along: Sequence[int]) -> str:
    """The last axis first, as pictures are measured.

    >>> _sizes((32, 64)), _sizes((8, 8))
    ('64 × 32', '8')
    """
    return str(along[0]) if len(set(along)) == 1 else " × ".join(map(str, reversed(along)))


@dataclass(frozen=True)
class Detail:
    """How much detail of a field is shown; both None: all of it.

    level: one of its outputs, 1 being the coarsest. cap: the highest frequency that passes its filter, in cycles per
    sample along the longest axis.
    """

    level: int | None = None
    cap: float | None = None

    def of(self, drawn: Field) -> Evaluate:
        """What is shown of a field."""
        level, cap = self.level, self.cap
        if cap is not None:
            return capped(drawn, cap * samples_across(drawn.signal["shape"]))
        return drawn if level is None else flushed_denormals()(lambda x: drawn.outputs(x)[level - 1])


def check_same_size(file: Path, drawn: Field, first: Field) -> None:
    """Refuse a model that cannot be laid over the first."""
    (got, count), (expected, channels) = ((f.signal.get("shape"), f.out_dim) for f in (drawn, first))
    if (got, count) != (expected, channels):
        raise UserError(
            f"models beside each other represent signals of one size: the first is {expected} with {channels} "
            f"channels, {file} is {got} with {count}; give another"
        )
