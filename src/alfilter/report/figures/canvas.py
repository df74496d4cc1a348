"""What all figures share: a figure without pyplot, plain axes, maps, PNG bytes, three colours."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from alfilter.runtime.stages import PICTURES, advance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 180
# Okabe and Ito's blue, vermilion and grey: told apart with every common kind of colour vision.
BLUE, RED, GREY = "#0072b2", "#d55e00", "#777777"
FROM_ZERO = "%.3g"  # ticks of a bar that begins at 0: each with its own power of ten, none above the bar


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this many inches, ready for the Agg canvas."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def png_bytes(figure: Figure) -> bytes:
    """The drawn figure; without the Software entry the same numbers give the same bytes in every version."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    advance(1, PICTURES)
    return buffer.getvalue()


def plain_axes(axes: Axes) -> None:
    """Two spines and a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)


def map_size(shape: tuple[int, ...], extra: float) -> tuple[float, float]:
    """Inches for a map of this shape with `extra` for its colour bar; a strip keeps space for its labels."""
    ratio = float(np.clip(shape[0] / shape[1], 0.35, 2.0))
    width = 4.2 if ratio <= 1 else 4.2 / ratio
    return max(width, 3.2) + extra, max(width * ratio, 2.6) + 0.3


def show_map(axes: Axes, values: NDArray[np.float64], colours: str, low: float, high: float) -> Any:
    """The map as an image, row 0 on top; a very long strip is stretched to be seen at all."""
    slender = max(values.shape) > 6 * min(values.shape)
    axes.set(xticks=[], yticks=[])
    return axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto" if slender else "equal")
