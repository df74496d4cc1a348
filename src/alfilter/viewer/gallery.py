"""What the page asks for, answered: tiles, the place under the cursor, steering, saving."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.analysis import filtered_encoding_of
from alfilter.core.filter import band_response, scale_response
from alfilter.errors import UserError
from alfilter.evaluate import sample_axes
from alfilter.methods import Field
from alfilter.runtime.bounded_executor import BoundedExecutor, Cancelled
from alfilter.signals import GridSignal
from alfilter.training import save
from alfilter.viewer.models import Model, at_level
from alfilter.viewer.reference import bicubic, nearest
from alfilter.viewer.steering import MOST
from alfilter.viewer.tiles import (
    DEEPEST,
    OCTAVE,
    TILE,
    WIDEST,
    Cache,
    Draw,
    Evaluate,
    Spot,
    evaluate,
    evaluate_mean,
    is_deep,
    pixel_means,
    shades,
)

WAITING = 48  # tiles in line
Query = Mapping[str, Any]
Wanted = Callable[[], bool]


class Gallery:
    """The models of one page and everything that may be asked about them."""

    page = "index.html"

    def __init__(self, models: list[Model], reference: tuple[str, GridSignal] | None = None) -> None:
        self.models = models
        self.reference = reference
        self.cache = Cache()
        self.tiles = BoundedExecutor(max(1, torch.get_num_threads() // 4), WAITING)
        self.quick = BoundedExecutor(1, WAITING)  # a place under the cursor does not wait for tiles

    def close(self) -> None:
        self.tiles.close()
        self.quick.close()

    def warm_up(self) -> None:
        """Evaluate one point of each model: kernels are compiled before anyone waits."""
        for model in self.models:
            sample_axes(model.original, [torch.zeros(1), torch.zeros(1)])

    def about(self) -> dict[str, Any]:
        return {
            "models": [{"id": index, **model.about()} for index, model in enumerate(self.models)],
            "reference": self.reference[0] if self.reference else None,
            "tile": TILE,
            "octave": OCTAVE,
            "zoom": [WIDEST, DEEPEST],
        }

    def stats(self) -> dict[str, int]:
        """What the work came to: tiles evaluated, taken out of the line, bytes kept."""
        return {"evaluated": self.tiles.completed, "dropped": self.tiles.cancelled, "cached": self.cache.size}

    def history(self, query: Query) -> dict[str, Any]:
        model = self._model(query)
        return {"points": model.history(), "snapshots": list(model.snapshots)}

    def tile(self, query: Query, is_wanted: Wanted) -> tuple[bytes, str]:
        """A tile's numbers, rows first, and `WIDTHxHEIGHTxCHANNELS TYPE`.

        rough=1 asks for one place a pixel at any zoom: a first impression, sixteen times sooner in the overview.
        """
        spot = Spot(_whole(query, "z"), _whole(query, "y"), _whole(query, "x"))
        layer = str(query.get("layer", "field"))
        rows, columns = spot.spans(self.models[0].shape)  # refuses what is not there before it waits in line
        rough = query.get("rough") == "1" and spot.places_a_pixel > 1
        wanted = None if rough else is_wanted
        if layer in ("nearest", "bicubic"):
            channels, key, work = self._of_reference(layer, spot, wanted)
            version, model = 0, None
        else:
            model = self._model(query)
            channels, key, work = self._of_model(model, layer, query, spot, wanted)
            version = model.version
        key = (*key, spot, rough)
        kind = "u2" if layer in ("field", "nearest", "bicubic") else "f4"
        size = f"{len(columns)}x{len(rows)}x{channels} {kind}"
        data = self.cache.get(key)
        if data is None:
            data = self.tiles.run(work, is_wanted)
            if model is None or model.version == version:  # steered meanwhile: the tile may be of an older α
                self.cache.put(key, spot, data)
        return data, size

    def at(self, query: Query, is_wanted: Wanted) -> dict[str, Any]:
        """Everything about one place (x, y), in samples: values, α, the filter's response, the error."""
        model = self._model(query)
        row, column = _number(query, "y"), _number(query, "x")
        shape = model.shape
        if not (-0.5 <= row <= shape[0] - 0.5 and -0.5 <= column <= shape[1] - 0.5):
            raise UserError("the place lies outside the picture")
        level = self._level(model, query)
        return self.quick.run(lambda: self._look(model, self._drawn(model, query), level, row, column), is_wanted)

    def steer(self, body: Query, is_wanted: Wanted) -> dict[str, Any]:
        """Paint on α: {m, gesture, dabs: [[x, y], …], radius, amount, kind}."""
        model = self._model(body)
        dabs = body.get("dabs")
        if not isinstance(dabs, list) or not 1 <= len(dabs) <= MOST:
            raise UserError(f"steering takes 1 to {MOST} dabs at once")
        try:
            places = torch.tensor(dabs, dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError):
            raise UserError("a dab is a pair of numbers") from None
        if places.shape != (len(dabs), 2) or not bool(torch.isfinite(places).all()) or bool((places.abs() > 1e6).any()):
            raise UserError("a dab is a pair of numbers inside the picture")
        gesture, kind = str(body.get("gesture", ""))[:64], body.get("kind", "shift")
        radius, amount = _number(body, "radius"), _number(body, "amount")
        box = self.quick.run(lambda: model.steer(gesture, places.flip(-1), radius, amount, kind), is_wanted)
        index = self.models.index(model)
        self.cache.drop(lambda key, spot: key[0] == index and key[1] == "current" and spot.touches(box))
        return {"version": model.version, "steered": model.is_steered, "undo": len(model.undo), "box": list(box)}

    def undo(self, body: Query) -> dict[str, Any]:
        model = self._model(body)
        model.take_back()
        return self._changed(model)

    def reset(self, body: Query) -> dict[str, Any]:
        model = self._model(body)
        model.reset()
        return self._changed(model)

    def save(self, body: Query) -> dict[str, Any]:
        """Write the steered model beside the one it came from, under a new name."""
        model, name = self._model(body), str(body.get("name", "")).removesuffix(".safetensors")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            raise UserError("a model's name is made of letters, digits, dots, dashes and underscores, 64 at most")
        file = model.file.parent / f"{name}.safetensors"
        if file.exists():
            raise UserError(f"{file.name} is there already; give another name")
        save(model.current, file)
        return {"file": str(file)}

    def _changed(self, model: Model) -> dict[str, Any]:
        index = self.models.index(model)
        self.cache.drop(lambda key, spot: key[0] == index and key[1] == "current")
        return {"version": model.version, "steered": model.is_steered, "undo": len(model.undo), "box": None}

    def _model(self, query: Query) -> Model:
        index = _whole(query, "m")
        if not 0 <= index < len(self.models):
            raise UserError(f"there are {len(self.models)} models, got number {index}")
        return self.models[index]

    def _drawn(self, model: Model, query: Query) -> Field:
        moment = _whole(query, "t") if "t" in query else None
        return model.variant(moment, query.get("v") == "0")

    def _level(self, model: Model, query: Query) -> int | None:
        """The level of detail that is asked for; none for the field's own value, the finest."""
        if "l" not in query:
            return None
        level, count = _whole(query, "l"), len(model.levels)
        if not 1 <= level <= max(1, count):
            raise UserError(f"{model.original.spec['method']} has {max(1, count)} levels of detail, got number {level}")
        return level if level < count else None

    def _of_model(
        self, model: Model, layer: str, query: Query, spot: Spot, is_wanted: Wanted | None
    ) -> tuple[int, tuple[Any, ...], Callable[[], bytes]]:
        """Channels, cache key and work of one of a model's own layers. is_wanted: None for one place a pixel."""
        scale = re.fullmatch(r"scale(\d{1,2})", layer)
        encoding = filtered_encoding_of(model.original)
        if layer != "field" and encoding is None:
            raise UserError(f"α is not defined for {model.original.spec['method']}")
        if layer not in ("field", "alpha") and (scale is None or encoding is None or int(scale[1]) >= encoding.levels):
            raise UserError(f"there is no layer {layer[:20]!r}")
        stage = f"t{_whole(query, 't')}" if "t" in query else ("original" if query.get("v") == "0" else "current")
        level, shape = self._level(model, query), model.shape

        def on_tile(function: Evaluate) -> NDArray[Any]:
            if is_wanted is None:
                return evaluate(function, spot, shape)
            return evaluate_mean(function, spot, shape, lambda: _go_on(is_wanted))

        def work() -> bytes:
            drawn = self._drawn(model, query)
            if layer == "field":
                shown = at_level(model.deep(drawn) if is_deep(spot, shape) else drawn, level)
                return shades(on_tile(lambda x: shown(x).clamp(0, 1))).tobytes()
            own = filtered_encoding_of(drawn)
            assert own is not None
            if scale is None:
                return on_tile(lambda x: own.alpha(x.float()).unsqueeze(-1)).astype("<f4").tobytes()
            found = on_tile(lambda x: own.responses(x.float())[..., int(scale[1])].unsqueeze(-1))
            return found.astype("<f4").tobytes()

        key = (self.models.index(model), stage, layer, level)
        return model.original.out_dim if layer == "field" else 1, key, work

    def _of_reference(
        self, layer: str, spot: Spot, is_wanted: Wanted | None
    ) -> tuple[int, tuple[Any, ...], Callable[[], bytes]]:
        if self.reference is None:
            raise UserError("no reference was given; start the page with --reference FILE")
        signal = self.reference[1]
        draw = nearest if layer == "nearest" else bicubic
        each = spot.places_a_pixel if is_wanted else 1
        places = spot.places(self.models[0].shape, each)

        def work() -> bytes:
            clipped: Draw = lambda *part: np.clip(draw(signal, *part), 0, 1)  # noqa: E731
            return shades(pixel_means(clipped, places, each, lambda: _go_on(is_wanted))).tobytes()

        return signal.out_dim, ("reference", "", layer, None), work

    def _look(self, model: Model, drawn: Field, level: int | None, row: float, column: float) -> dict[str, Any]:
        shape, shown = model.shape, at_level(drawn, level)
        place = [_coordinate(p, n) for p, n in zip((row, column), shape, strict=True)]
        sample = [min(max(math.floor(p + 0.5), 0), n - 1) for p, n in zip((row, column), shape, strict=True)]
        values = _value(shown, place)
        answer: dict[str, Any] = {"x": column, "y": row, "value": values.tolist(), "sample": sample[::-1]}
        if self.reference is not None:
            truth = nearest(self.reference[1], *(torch.tensor([float(p)]) for p in sample)).reshape(-1)
            there = _value(shown, [_coordinate(p, n) for p, n in zip(sample, shape, strict=True)])
            answer |= {"reference": truth.tolist(), "error": (np.clip(there, 0, 1) - truth).tolist()}
        encoding = filtered_encoding_of(drawn)
        if encoding is not None:
            with torch.inference_mode():
                alpha = encoding.alpha(torch.tensor([place], dtype=torch.float32))
                setting = encoding.bandwidth, encoding.kappa
                response = band_response(alpha, 2 * encoding.in_dim * encoding.levels, *setting)[0]
                scales = scale_response(alpha, encoding.in_dim, encoding.levels, *setting)[0]
            answer |= {"alpha": float(alpha[0]), "response": response.tolist(), "scales": scales.tolist()}
        return answer


def _go_on(is_wanted: Wanted | None) -> None:
    if is_wanted is not None and not is_wanted():
        raise Cancelled


def _value(drawn: Evaluate, place: list[float]) -> NDArray[Any]:
    return sample_axes(drawn, [torch.tensor([p], dtype=torch.float32) for p in place]).reshape(-1).numpy()


def _coordinate(place: float, samples: int) -> float:
    """The coordinate in [-1, 1] of a place in samples."""
    return (2 * place - (samples - 1)) / max(1, samples - 1)


def _whole(query: Query, name: str) -> int:
    value = query.get(name, "0")
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,15}", text):
        raise UserError(f"{name} must be a whole number, got {text[:20]!r}")
    return int(text)


def _number(query: Query, name: str) -> float:
    try:
        value = float(str(query.get(name, "0"))[:40])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{name} must be a finite number, got {str(query.get(name))[:20]!r}")
    return value
