"""The viewer of pictures, and of planes through volumes and videos: tiles, single places, steering, saving."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.analysis import filter_of, filtered_encoding_of, samples_across
from alfilter.errors import UserError
from alfilter.evaluate import Section, sample_axes
from alfilter.methods import Field
from alfilter.runs.folder import FILES
from alfilter.runtime.bounded_executor import BoundedExecutor, Cancelled
from alfilter.signals import GridSignal
from alfilter.training import save
from alfilter.viewer.base import Answer, Binary, Forbidden, Request, Viewer
from alfilter.viewer.filter_facts import filter_at
from alfilter.viewer.layers import (
    PICTURES,
    Sampling,
    check_layer,
    field_tile,
    filter_tile,
    reference_tile,
    scale_of,
)
from alfilter.viewer.model import Detail, Model
from alfilter.viewer.reference import nearest
from alfilter.viewer.steering import MAX_DABS
from alfilter.viewer.tiles import MAX_ZOOM, MIN_ZOOM, OCTAVE, TILE, Cache, Evaluate, TileIndex

_MAX_QUEUED = 48  # tiles
MAX_CAP = 1e3  # cycles per pixel


class PictureViewer(Viewer):
    """Models of signals of one kind and size, and the fitted signal where it is known, by its name."""

    page = "picture"

    def __init__(self, models: Sequence[Model], reference: tuple[str, GridSignal] | None = None) -> None:
        self.models = list(models)
        self.reference = reference
        self.cache = Cache()
        self.tiles = BoundedExecutor(max(1, torch.get_num_threads() // 4), _MAX_QUEUED)
        self.cursor_executor = BoundedExecutor(1, _MAX_QUEUED)  # a place under the cursor does not wait for tiles

    @property
    def reads(self) -> Mapping[str, Answer]:
        return {
            "/api/about": self.about,
            "/api/stats": self.stats,
            "/api/history": self.history,
            "/api/at": self.at,
            "/api/tile": self.tile,
        }

    @property
    def changes(self) -> Mapping[str, Answer]:
        return {"/api/steer": self.steer, "/api/undo": self.undo, "/api/reset": self.reset, "/api/save": self.save}

    def close(self) -> None:
        self.tiles.close()
        self.cursor_executor.close()

    def warm_up(self) -> None:
        for model in self.models:
            sample_axes(model.original, [torch.zeros(1)] * len(model.shape))

    # ---- what is read

    def about(self, request: Request) -> dict[str, Any]:
        first = self.models[0]
        return {
            "layout": asdict(first.layout),
            "rate": first.original.signal.get("rate"),
            "models": [{"id": number, **model.about()} for number, model in enumerate(self.models)],
            "reference": self.reference[0] if self.reference else None,
            "tile": TILE,
            "octave": OCTAVE,
            "zoom": [MIN_ZOOM, MAX_ZOOM],
            "save": request.is_local,
        }

    def stats(self, request: Request) -> dict[str, int]:
        """How many tiles were evaluated, and cancelled; bytes in the cache."""
        return {"evaluated": self.tiles.completed, "cancelled": self.tiles.cancelled, "cached": self.cache.size}

    def history(self, request: Request) -> dict[str, Any]:
        model = self._model(request)
        return {"points": model.history(), "snapshots": list(model.snapshots)}

    def tile(self, request: Request) -> Binary:
        """A tile's numbers, rows first, described as `WIDTHxHEIGHTxCHANNELS TYPE`.

        rough=1 asks for one place per pixel at any zoom: a first impression, sixteen times faster in the overview.
        """
        index = TileIndex(request.integer("z"), request.integer("y"), request.integer("x"))
        layer = str(request.values.get("layer", "field"))
        section = self._section(request)
        rows, columns = index.spans(section.size)  # refuses what is not there before it is queued
        is_rough = request.values.get("rough") == "1" and index.places_per_pixel > 1
        sampling = Sampling(index, section, is_rough, lambda: _check_wanted(request))
        if layer in PICTURES:
            channels, key, work = self._reference_layer(layer, sampling)
            version, model = 0, None
        else:
            model = self._model(request)
            version = model.version
            channels, key, work = self._model_layer(model, layer, request, sampling)
        key = (*key, section, index, is_rough)
        data = self.cache.get(key)
        if data is None:
            data = self.tiles.run(work, request.is_wanted)
            if model is None or model.version == version:  # steered meanwhile: the tile may be of an older α
                self.cache.put(key, index, data)
        kind = "u2" if layer in ("field", *PICTURES) else "f4"
        return Binary(data, f"{len(columns)}x{len(rows)}x{channels} {kind}")

    def at(self, request: Request) -> dict[str, Any]:
        """Everything about one place (x, y), in samples: values, α, the filter's response, the error."""
        model, section = self._model(request), self._section(request)
        row, column = request.number("y"), request.number("x")
        if not (-0.5 <= row <= section.size[0] - 0.5 and -0.5 <= column <= section.size[1] - 0.5):
            raise UserError("the place lies outside the plane")
        detail = self._detail(model, request)
        return self.cursor_executor.run(
            lambda: self._probe(self._variant(model, request), detail, section, (row, column)), request.is_wanted
        )

    # ---- what is changed

    def steer(self, request: Request) -> dict[str, Any]:
        """Paint on α: {m, gesture, dabs: [[x, y], …], radius, amount}."""
        model, dabs = self._model(request), request.values.get("dabs")
        if not isinstance(dabs, list) or not 1 <= len(dabs) <= MAX_DABS:
            raise UserError(f"steering takes 1 to {MAX_DABS} dabs at once")
        try:
            places = torch.tensor(dabs, dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError):
            raise UserError("a dab is a pair of numbers") from None
        if places.shape != (len(dabs), 2) or not bool(torch.isfinite(places).all()) or bool((places.abs() > 1e6).any()):
            raise UserError("a dab is a pair of numbers inside the picture")
        gesture = str(request.values.get("gesture", ""))[:64]
        radius, amount = request.number("radius"), request.number("amount")
        box = self.cursor_executor.run(lambda: model.steer(gesture, places.flip(-1), radius, amount), request.is_wanted)
        number = self.models.index(model)
        self.cache.drop(lambda key, index: key[:2] == (number, "current") and index.touches(box))
        return self._state(model) | {"box": list(box)}

    def undo(self, request: Request) -> dict[str, Any]:
        model = self._model(request)
        model.undo_last()
        return self._redrawn(model)

    def reset(self, request: Request) -> dict[str, Any]:
        model = self._model(request)
        model.reset()
        return self._redrawn(model)

    def save(self, request: Request) -> dict[str, Any]:
        """Write the steered model beside the one it came from, under a new name."""
        if not request.is_local:
            raise Forbidden("models are saved from this machine only")
        model, name = self._model(request), str(request.values.get("name", "")).removesuffix(".safetensors")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise UserError(
                "a model's name is made of at most 64 letters, digits, dots, dashes and underscores, the first a "
                f"letter or digit, got {name[:20]!r}"
            )
        file = model.file.parent / f"{name}.safetensors"
        if file.name in FILES:
            raise UserError(f"{file.name} is a name that every run folder uses itself; give another name")
        if file.exists():
            raise UserError(f"{file.name} is there already; give another name")
        save(model.saved(), file)
        return {"file": str(file)}

    # ---- parts of the answers

    def _state(self, model: Model) -> dict[str, Any]:
        return {"version": model.version, "steered": model.is_steered, "undo": len(model.undo), "box": None}

    def _redrawn(self, model: Model) -> dict[str, Any]:
        """The state of a model whose every tile may have changed."""
        number = self.models.index(model)
        self.cache.drop(lambda key, index: key[:2] == (number, "current"))
        return self._state(model)

    def _model(self, request: Request) -> Model:
        number = request.integer("m")
        if not 0 <= number < len(self.models):
            raise UserError(f"there are {len(self.models)} models, got number {number}")
        return self.models[number]

    def _section(self, request: Request) -> Section:
        """The plane that is looked at: which of the layout's (plane), and where the other axes are held (at)."""
        first = self.models[0]
        planes = first.layout.planes
        plane = planes[request.choice("plane", range(len(planes))) if "plane" in request.values else 0]
        held = [n for axis, n in enumerate(first.shape) if axis not in plane]
        places = request.numbers("at") if "at" in request.values else [(n - 1) // 2 for n in held]
        return Section(first.shape, plane, tuple(places))

    def _variant(self, model: Model, request: Request) -> Field:
        moment = request.integer("t") if "t" in request.values else None
        return model.variant(moment, original=request.values.get("v") == "0")

    def _detail(self, model: Model, request: Request) -> Detail:
        """What is asked for of a model: one of its outputs (l), or its filter capped at a frequency (c)."""
        if "c" in request.values:
            cap = request.number("c")
            if not 0 < cap <= MAX_CAP:
                raise UserError(f"a cap is a number of cycles per pixel above 0, got {cap:g}")
            filter_of(model.original)
            return Detail(cap=cap)
        if "l" not in request.values:
            return Detail()
        level, count = request.integer("l"), len(model.levels)
        if not 1 <= level <= max(1, count):
            raise UserError(f"{model.original.spec['method']} has {max(1, count)} levels of detail, got number {level}")
        return Detail(level if level < count else None)

    def _model_layer(
        self, model: Model, layer: str, request: Request, sampling: Sampling
    ) -> tuple[int, tuple[Any, ...], Callable[[], bytes]]:
        """Channels, cache key and work of one of a model's own layers."""
        check_layer(model, layer)
        is_original = request.values.get("v") == "0"
        stage = f"t{request.integer('t')}" if "t" in request.values else "original" if is_original else "current"
        detail = self._detail(model, request)

        def work() -> bytes:
            drawn = self._variant(model, request)
            if layer == "field":
                return field_tile(model, drawn, detail, sampling)
            return filter_tile(drawn, scale_of(layer), sampling)

        key = (self.models.index(model), stage, layer, detail)
        return model.original.out_dim if layer == "field" else 1, key, work

    def _reference_layer(self, layer: str, sampling: Sampling) -> tuple[int, tuple[Any, ...], Callable[[], bytes]]:
        if self.reference is None:
            raise UserError("no reference was given; open the page with what was fitted as its reference")
        signal = self.reference[1]
        return signal.out_dim, ("reference", "", layer, None), lambda: reference_tile(signal, layer, sampling)

    def _probe(self, drawn: Field, detail: Detail, section: Section, at: tuple[float, float]) -> dict[str, Any]:
        (row, column), shown = at, detail.of(drawn)
        place = section.coordinates(row, column)
        sample = [min(max(math.floor(p + 0.5), 0), n - 1) for p, n in zip(at, section.size, strict=True)]
        answer: dict[str, Any] = {"x": column, "y": row, "value": _value(shown, place).tolist(), "sample": sample[::-1]}
        if self.reference is not None and all(p == round(p) for p in section.places):  # between planes is no truth
            plane = section.of(self.reference[1])
            truth = nearest(plane, *(torch.tensor([float(p)]) for p in sample)).reshape(-1)
            fitted = _value(shown, section.coordinates(*sample))
            answer |= {"reference": truth.tolist(), "error": (np.clip(fitted, 0, 1) - truth).tolist()}
        encoding = filtered_encoding_of(drawn)
        return answer if encoding is None else answer | filter_at(encoding, place, samples_across(section.shape))


def _check_wanted(request: Request) -> None:
    if not request.is_wanted():
        raise Cancelled


def _value(shown: Evaluate, place: list[float]) -> NDArray[Any]:
    return sample_axes(shown, [torch.tensor([p], dtype=torch.float32) for p in place]).reshape(-1).numpy()
