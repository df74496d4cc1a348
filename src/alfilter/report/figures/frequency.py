"""Local frequency shown: the filter's cut-off over the domain, and what passes of every scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.report.figures.arrays import Array, as_map
from alfilter.report.figures.canvas import map_size, new_figure, png_bytes, show_map

if TYPE_CHECKING:
    from matplotlib.colorbar import Colorbar

_FLAT = 0.05  # a panel whose response varies less is said in words


def alpha_figure(frequency: NDArray[Any], unit: str) -> bytes:
    """The cut-off (H, W) on a logarithmic colour scale from its 1st to its 99th percentile. unit: "cycles per …"."""
    values = np.maximum(as_map(frequency, "frequency"), 1e-12)
    low, high = frequency_range(values)
    figure = new_figure(*map_size(values.shape, extra=1.4))
    axes = figure.add_subplot()
    image = show_map(axes, np.log2(values), "viridis", float(np.log2(low)), float(np.log2(high)))
    bar = figure.colorbar(image, ax=axes, fraction=0.06, pad=0.03, label=f"cut-off in {unit}")
    label_in_cycles(bar, low, high)
    median = float(np.median(values))
    axes.set_title(f"median {median:.3g} {unit}; 98 % from {low:.3g} to {high:.3g}", loc="left", fontsize=9)
    return png_bytes(figure)


def scale_response_figure(responses: NDArray[Any], frequencies: NDArray[Any], unit: str) -> bytes:
    """The maps H̄_j(α(x)), (L, H, W), that differ from place to place on one scale 0 … 1, and the others in words.

    frequencies: of every scale (L,), in `unit`.
    """
    maps = np.asarray(responses, dtype=np.float64)
    if maps.ndim != 3 or maps.size == 0 or len(frequencies) != len(maps):
        raise UserError(f"responses must have the shape (L, H, W) and a frequency each, got {maps.shape}")
    shown = [j for j, each in enumerate(maps) if each.max() - each.min() >= _FLAT] or [len(maps) - 1]
    columns = min(4 if len(shown) <= 8 else 6, len(shown))
    rows = -(-len(shown) // columns)
    cell = float(np.clip(maps.shape[1] / maps.shape[2], 0.4, 2.0))
    figure = new_figure(max(1.6 * columns + 0.8, 4.0), max((1.6 * cell + 0.35) * rows, 1.8) + 0.3)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for place, axes in enumerate(grid):
        if place >= len(shown):
            axes.set_axis_off()
            continue
        j = shown[place]
        image = show_map(axes, maps[j], "viridis", 0.0, 1.0)
        axes.set_title(f"{j}: {frequencies[j]:.3g}", fontsize=9)
    figure.colorbar(image, ax=list(grid), fraction=0.04, label="share that passes")
    figure.suptitle(f"scale: its {unit}{flat_words(maps, shown)}", fontsize=9)
    return png_bytes(figure)


def frequency_range(values: Array) -> tuple[float, float]:
    """The 1st and the 99th percentile, and at least a factor of 1.1 between them.

    >>> frequency_range(np.full((4, 4), 0.25))
    (0.25, 0.275)
    """
    low, high = (float(q) for q in np.percentile(values, (1, 99)))
    return low, max(high, 1.1 * low)


def flat_words(maps: Array, shown: list[int]) -> str:
    """What is said of the scales that are not drawn.

    >>> flat_words(np.stack([np.ones((2, 2)), np.eye(2), np.zeros((2, 2))]), [1])
    '; 1 scale passes everywhere, 1 nowhere'
    """
    hidden = [float(each.mean()) for j, each in enumerate(maps) if j not in shown]
    whole, none = (sum(share >= 0.5 for share in hidden), sum(share < 0.5 for share in hidden))
    parts = [f"{whole} scale{'s pass' if whole > 1 else ' passes'} everywhere"] if whole else []
    parts += (
        [f"{none} nowhere" if whole else f"{none} scale{'s pass' if none > 1 else ' passes'} nowhere"] if none else []
    )
    return f"; {', '.join(parts)}" if parts else ""


def label_in_cycles(bar: Colorbar, low: float, high: float) -> None:
    """Five evenly spread ticks on a bar whose colours are log2 of a frequency, labelled with the frequency."""
    places = np.linspace(np.log2(low), np.log2(high), 5)
    bar.set_ticks(places.tolist(), labels=[f"{2**place:.3g}" for place in places])
