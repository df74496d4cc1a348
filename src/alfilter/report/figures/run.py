"""The figures of a run as PNG bytes, drawn with matplotlib's objects alone: no pyplot, no global state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.report.figures.arrays import (
    Array,
    as_map,
    curve,
    error_map,
    radial_spectrum,
    tapered,
    wants_log_steps,
)
from alfilter.report.figures.canvas import (
    BLUE,
    FROM_ZERO,
    GREY,
    RED,
    map_size,
    new_figure,
    plain_axes,
    png_bytes,
    show_map,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "convergence_figure",
    "error_figure",
    "error_map",
    "radial_spectrum",
    "spectrum_figure",
]


def error_figure(error: NDArray[Any]) -> bytes:
    """The absolute error (H, W); the colours end at its 99.5th percentile, so that one bad pixel hides nothing."""
    values = as_map(error, "error")
    finite = values[np.isfinite(values)]
    top = float(np.percentile(finite, 99.5)) if finite.size else 0.0
    limit = top if top > 0 else 1.0
    figure = new_figure(*map_size(values.shape, extra=1.1))
    axes = figure.add_subplot()
    image = show_map(axes, values, "magma", 0.0, limit)
    extend, label = _extend(values, 0.0, limit), "mean |error| over channels"
    figure.colorbar(image, ax=axes, fraction=0.06, extend=extend, label=label, format=FROM_ZERO)
    mean, worst = (float(finite.mean()), float(finite.max())) if finite.size else (0.0, 0.0)
    title = f"colours end at {limit:.3g} (99.5th percentile); mean {mean:.3g}, largest {worst:.3g}"
    axes.set_title(title, loc="left", fontsize=9)
    return png_bytes(figure)


def convergence_figure(history: Sequence[Mapping[str, Any]]) -> bytes:
    """PSNR of the seen samples over steps, with the learning rates below."""
    steps, psnr = curve(history, "psnr")
    figure = new_figure(5.8, 4.0)
    top, below = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    top.plot(steps, psnr, color=BLUE)
    top.set_ylabel("PSNR in dB")
    plain_axes(top)
    names = sorted({name for line in history for name in _rates(line)})
    for name, style in zip(names, ["-", "--", ":", "-."] * len(names), strict=False):
        below.plot(*curve(history, "lr", name), color=GREY, linestyle=style, linewidth=1, label=name)
    _rate_axis(below, np.concatenate([np.zeros(0), *(curve(history, "lr", name)[1] for name in names)]))
    if len(names) > 1:
        below.legend(frameon=False, fontsize=7, ncols=len(names))
    below.set(ylabel="rate", xlabel="step")
    plain_axes(below)
    if wants_log_steps(steps):
        below.set_xscale("log")
    return png_bytes(figure)


def spectrum_figure(target: NDArray[Any], recon: NDArray[Any]) -> bytes:
    """Radially averaged power of target, reconstruction and their difference, Hann-windowed, means removed.

    Where the difference meets the target, the field has learned nothing at that frequency.
    """
    truth, guess = as_map(target, "target"), as_map(recon, "recon")
    if truth.shape != guess.shape:
        raise UserError(f"target and recon must have one shape (H, W), got {truth.shape} and {guess.shape}")
    figure = new_figure(5.8, 3.6)
    axes = figure.add_subplot()
    rows = [
        (truth, "target", GREY, "-"),
        (guess, "reconstruction", BLUE, "-"),
        (guess - truth, "difference", RED, "--"),
    ]
    seen = False
    for image, label, color, style in rows:
        frequencies, power = radial_spectrum(tapered(image))
        # Log axes hold neither frequency 0 nor power 0; 1e-20 is below what float64 resolves here. The rings beyond
        # 0.5 lie in the corners, where too few samples are left for a mean.
        keep = (frequencies > 0) & (frequencies <= 0.5) & (power > 1e-20)
        axes.plot(frequencies[keep], power[keep], color=color, linestyle=style, label=label)
        seen = seen or bool(keep.any())
    if seen:
        axes.set(xscale="log", yscale="log")
    axes.set(xlabel="frequency in cycles per pixel, up to Nyquist's 0.5", ylabel="mean power")
    axes.legend(frameon=False)
    plain_axes(axes)
    return png_bytes(figure)


def _extend(values: Array, low: float, high: float) -> Any:
    """Which ends of the colour bar are exceeded, in matplotlib's words."""
    ends = (bool((values < low).any()), bool((values > high).any()))
    return {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[ends]


def _rates(line: Mapping[str, Any]) -> Sequence[str]:
    rates = line.get("lr")
    return [str(name) for name in rates] if isinstance(rates, Mapping) else []


def _rate_axis(axes: Axes, rates: Array) -> None:
    """A thin axis holds few numbers: decades when the rates span one, else two or three plain ticks."""
    from matplotlib.ticker import MaxNLocator, NullFormatter

    positive = rates[rates > 0]
    if positive.size and positive.max() >= 10 * positive.min():
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(2))
