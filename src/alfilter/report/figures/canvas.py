"""What every figure starts from and ends with: a figure without pyplot, plain axes, PNG bytes, three colours."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from alfilter.runtime.stages import PICTURES, advance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 180
# Okabe and Ito's blue, vermilion and grey: told apart with every common kind of colour vision.
BLUE, RED, GREY = "#0072b2", "#d55e00", "#777777"


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
