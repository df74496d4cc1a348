"""The figures of a run as PNG bytes, drawn with matplotlib's objects alone: no pyplot, no global state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.report.figures.arrays import (
    KINDS,
    Array,
    as_map,
    band_kinds,
    block_mean,
    curve,
    error_map,
    heldout_curve,
    radial_spectrum,
    scale_frequencies,
    tapered,
    wants_log_steps,
)
from alfilter.report.figures.canvas import BLUE, GREY, RED, new_figure, plain_axes, png_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar

__all__ = [
    "alpha_figure",
    "convergence_figure",
    "error_figure",
    "error_map",
    "radial_spectrum",
    "scale_response_figure",
    "spectrum_figure",
]


def alpha_figure(alpha: NDArray[Any], in_dim: int, levels: int, bandwidth: float, samples: tuple[int, int]) -> bytes:
    """The map α(x) (H, W), its colours read in channels on the left and as frequency on the right.

    Lines on map and bar part low-pass (α < B/2), band-pass and high-pass (α > C_N − 1 − B/2).
    """
    values, channels = as_map(alpha, "alpha"), 2 * in_dim * levels
    figure = new_figure(*_map_size(values.shape, extra=1.7))
    axes = figure.add_subplot()
    image = _show(axes, values, "viridis", 0.0, float(channels - 1))
    bar = figure.colorbar(image, ax=axes, fraction=0.06, pad=0.03, extend=_extend(values, 0.0, channels - 1.0))
    bar.ax.yaxis.set_ticks_position("left")
    bar.ax.yaxis.set_label_position("left")
    bar.set_label("α in channels")
    _frequency_scale(bar, in_dim, levels, samples)
    edges = sorted({bandwidth / 2, channels - 1 - bandwidth / 2})
    _mark_edges(axes, bar, values, [edge for edge in edges if 0 < edge < channels - 1])
    axes.set_title(_shares(values, channels, bandwidth), loc="left", fontsize=9)
    return png_bytes(figure)


def scale_response_figure(responses: NDArray[Any]) -> bytes:
    """The maps H̄_j(α(x)) of all dyadic scales, (L, H, W), side by side on the one scale 0 … 1."""
    maps = np.asarray(responses, dtype=np.float64)
    if maps.ndim != 3 or maps.size == 0:
        raise UserError(f"responses must have the shape (L, H, W) with at least one value, got {maps.shape}")
    columns = min(4, len(maps))
    rows = -(-len(maps) // columns)
    cell = float(np.clip(maps.shape[1] / maps.shape[2], 0.4, 2.0))
    figure = new_figure(1.4 * columns + 0.8, max((1.4 * cell + 0.3) * rows, 1.8))
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for j, axes in enumerate(grid):
        if j >= len(maps):
            axes.set_axis_off()
            continue
        image = _show(axes, maps[j], "viridis", 0.0, 1.0)
        axes.set_title(f"$j={j}$: {2**j} cycle{'s' if j else ''}", fontsize=9)
    figure.colorbar(image, ax=list(grid), fraction=0.04, label=r"$\bar{H}_j(\alpha(x))$")
    return png_bytes(figure)


def error_figure(error: NDArray[Any]) -> bytes:
    """The absolute error (H, W); the colours end at its 99.5th percentile, so that one bad pixel hides nothing."""
    values = as_map(error, "error")
    finite = values[np.isfinite(values)]
    top = float(np.percentile(finite, 99.5)) if finite.size else 0.0
    limit = top if top > 0 else 1.0
    figure = new_figure(*_map_size(values.shape, extra=1.1))
    axes = figure.add_subplot()
    image = _show(axes, values, "magma", 0.0, limit)
    figure.colorbar(
        image, ax=axes, fraction=0.06, extend=_extend(values, 0.0, limit), label="mean |error| over channels"
    )
    mean, worst = (float(finite.mean()), float(finite.max())) if finite.size else (0.0, 0.0)
    title = f"colours end at {limit:.3g} (99.5th percentile); mean {mean:.3g}, largest {worst:.3g}"
    axes.set_title(title, loc="left", fontsize=9)
    return png_bytes(figure)


def convergence_figure(history: Sequence[Mapping[str, Any]]) -> bytes:
    """PSNR over steps, seen and (if logged) held out, with the learning rates below."""
    steps, psnr = curve(history, "psnr")
    held_steps, held = heldout_curve(history)
    figure = new_figure(5.8, 4.0)
    top, below = figure.subplots(2, 1, sharex=True, height_ratios=[4, 1])
    top.plot(steps, psnr, color=BLUE, label="seen")
    if len(held):
        top.plot(held_steps, held, color=RED, linestyle="--", label="held out")
        top.legend(frameon=False)
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


def _map_size(shape: tuple[int, ...], extra: float) -> tuple[float, float]:
    """Inches for a map of this shape with `extra` for its bar; a strip keeps room for its labels."""
    ratio = float(np.clip(shape[0] / shape[1], 0.35, 2.0))
    width = 4.2 if ratio <= 1 else 4.2 / ratio
    return max(width, 3.2) + extra, max(width * ratio, 2.6) + 0.3


def _show(axes: Axes, values: Array, colours: str, low: float, high: float) -> Any:
    """The map as an image, row 0 on top; a very long strip is stretched to be seen at all."""
    slender = max(values.shape) > 6 * min(values.shape)
    axes.set(xticks=[], yticks=[])
    return axes.imshow(values, cmap=colours, vmin=low, vmax=high, aspect="auto" if slender else "equal")


def _extend(values: Array, low: float, high: float) -> Any:
    """Which ends of the colour bar are exceeded, in matplotlib's words."""
    ends = (bool((values < low).any()), bool((values > high).any()))
    return {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[ends]


def _frequency_scale(bar: Colorbar, in_dim: int, levels: int, samples: tuple[int, int]) -> None:
    """Ticks on the bar's right: one per dyadic scale, in the middle of its 2·d_in channels."""
    across, per_sample = scale_frequencies(levels, samples)
    right = bar.ax.secondary_yaxis("right")
    centres = (np.arange(levels) + 0.5) * 2 * in_dim - 0.5
    right.set_yticks(centres, [f"{a:.0f}  ({s:.2g})" for a, s in zip(across, per_sample, strict=True)])
    right.tick_params(length=2, labelsize=8)
    right.set_ylabel("cycles across the domain\n(cycles per sample of the longer side)", fontsize=8)


def _mark_edges(axes: Axes, bar: Colorbar, values: Array, edges: list[float]) -> None:
    """Lines where the band leaves the channel axis: on the bar, and on the map averaged to 96 blocks."""
    coarse = block_mean(values, 96)
    rows, columns = coarse.shape
    for edge in edges:
        bar.ax.axhline(edge, color="white", linewidth=2.2)
        bar.ax.axhline(edge, color="black", linewidth=1.0)
        if min(rows, columns) > 1 and coarse.min() < edge < coarse.max():
            step = max(values.shape) // max(rows, columns)
            across, down = ((np.arange(n) + 0.5) * step - 0.5 for n in (columns, rows))
            for color, width in (("white", 1.4), ("black", 0.6)):
                axes.contour(across, down, coarse, levels=[edge], colors=color, linewidths=width)


def _shares(values: Array, channels: int, bandwidth: float) -> str:
    """How much of the map does what, with the bounds in α."""
    share = np.bincount(band_kinds(values, channels, bandwidth).ravel(), minlength=len(KINDS)) / values.size
    parts = [f"{name} {part:.0%}" for name, part in zip(KINDS, share, strict=True) if part > 0]
    return f"{', '.join(parts)}\nlow-pass: α < {bandwidth / 2:g}, high-pass: α > {channels - 1 - bandwidth / 2:g}"


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
