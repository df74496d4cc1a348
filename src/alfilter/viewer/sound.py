"""The viewer of a sound: amplitudes at any places, the filter's cut-off, and everything about one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.analysis import filtered_encoding_of, samples_across
from alfilter.errors import UserError
from alfilter.evaluate import Evaluate, sample_axes
from alfilter.methods import Field, parameter_count
from alfilter.runtime.bounded_executor import BoundedExecutor
from alfilter.signals import GridSignal
from alfilter.viewer.base import Answer, Binary, Request, Viewer
from alfilter.viewer.filter_facts import filter_at, filter_facts

MAX_COUNT = 1 << 16  # numbers of one answer
_MAX_QUEUED = 12  # requests


class SoundViewer(Viewer):
    """One sound model, and the fitted sound where it is known, by its name."""

    page = "sound"

    def __init__(self, field: Field, name: str, reference: tuple[str, GridSignal] | None = None) -> None:
        self.field, self.name, self.reference = field, name, reference
        (self.samples,) = (int(n) for n in field.signal["shape"])
        self.encoding = filtered_encoding_of(field)
        self._work = BoundedExecutor(1, _MAX_QUEUED)

    def close(self) -> None:
        self._work.close()

    def warm_up(self) -> None:
        sample_axes(self.field, [torch.zeros(1)])

    @property
    def reads(self) -> Mapping[str, Answer]:
        return {"/api/about": self.about, "/api/samples": self.amplitudes, "/api/at": self.at}

    def about(self, request: Request) -> dict[str, Any]:
        """Sizes, rate and filter; frequencies in cycles per sample."""
        return {
            "kind": "audio",
            "name": self.name,
            "method": self.field.spec.get("method"),
            "params": parameter_count(self.field),
            "samples": self.samples,
            "channels": self.field.out_dim,
            "rate": self.field.signal["rate"],
            "reference": self.reference and self.reference[0],
            "alpha": self.encoding and filter_facts(self.encoding, samples_across((self.samples,))),
        }

    def amplitudes(self, request: Request) -> Binary:
        """Numbers at the places first + k step, in samples, float32: amplitudes from -1 to 1, or the cut-off."""
        first, step, count = request.number("first"), request.number("step"), request.integer("count")
        layer = str(request.values.get("layer", "field"))
        if not (1 <= count <= MAX_COUNT and step >= 0 and first >= -1 and first + step * (count - 1) <= self.samples):
            raise UserError(f"places lie between 0 and {self.samples - 1}, at most {MAX_COUNT} of them at once")
        places = (first + step * torch.arange(count, dtype=torch.float64)).clamp(0, self.samples - 1)
        values = self._work.run(lambda: self._layer(layer, places), request.is_wanted)
        return Binary(values.astype("<f4").tobytes(), f"{len(values)}x{values.shape[1]} f4")

    def at(self, request: Request) -> dict[str, Any]:
        """Amplitudes and the filter's response at a place x, in samples."""
        x = request.number("x")
        if not 0 <= x <= self.samples - 1:
            raise UserError("the place lies outside the sound")
        return self._work.run(lambda: self._probe(x), request.is_wanted)

    def _probe(self, x: float) -> dict[str, Any]:
        places = torch.tensor([x], dtype=torch.float64)
        answer: dict[str, Any] = {"x": x, "value": self._layer("field", places)[0].tolist()}
        if self.encoding is None:
            return answer
        return answer | filter_at(self.encoding, self._coordinates(places).tolist(), samples_across((self.samples,)))

    def _layer(self, layer: str, places: Tensor) -> NDArray[Any]:
        if layer == "field":
            return amplitude(self._values(self.field, places))
        if layer == "reference" and self.reference is not None:
            rows = self.reference[1].values(places.round().long())
            return amplitude(rows.numpy())
        encoding = self.encoding
        if layer == "cut" and encoding is not None:
            across = samples_across((self.samples,))
            return self._values(lambda x: encoding.local_frequency(x).unsqueeze(-1) / across, places)
        raise UserError(f"there is no layer {layer[:20]!r}")

    def _values(self, function: Evaluate, places: Tensor) -> NDArray[Any]:
        values: NDArray[Any] = sample_axes(function, [self._coordinates(places)]).numpy()
        return values

    def _coordinates(self, places: Tensor) -> Tensor:
        return ((2 * places - (self.samples - 1)) / max(1, self.samples - 1)).float()


def amplitude(values: NDArray[Any]) -> NDArray[Any]:
    """Amplitudes of the values of a sound, in which silence is 1/2 and the loudest sample 0 or 1.

    >>> import numpy as np
    >>> amplitude(np.array([0.5, 1.0])).tolist()
    [0.0, 1.0]
    """
    return 2 * values - 1
