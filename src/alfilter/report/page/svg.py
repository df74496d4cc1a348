"""The convergence curve as inline SVG: crisp at any size, in the page's own colours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from alfilter.report.figures.arrays import Array, curve, wants_log_steps

WIDTH, HEIGHT = 560.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 26.0, 50.0


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """At most about `count` round numbers within [low, high], a step of 1, 2 or 5 times a power of ten apart.

    >>> nice_ticks(18.2, 41.0)
    [20.0, 25.0, 30.0, 35.0, 40.0]
    """
    if not high > low:
        return [low]
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= raw * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def decades(low: float, high: float) -> list[float]:
    """The powers of ten within [low, high].

    >>> decades(1, 2000)
    [1.0, 10.0, 100.0, 1000.0]
    """
    return [10.0**k for k in range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)]


def thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """Of the points that share a column of one unit: the first, the extremes and the last, so no spike is lost."""
    keep: set[int] = set()
    column = np.floor(x).astype(np.int64)
    for value in np.unique(column):
        here = np.flatnonzero(column == value)
        keep |= {int(here[0]), int(here[np.argmin(y[here])]), int(here[np.argmax(y[here])]), int(here[-1])}
    index = sorted(keep)
    return x[index], y[index]


def convergence_svg(history: Sequence[Mapping[str, Any]]) -> str:
    """PSNR over steps as an <svg>, or "" when fewer than two finite values were logged."""
    steps, values = curve(history, "psnr")
    log = wants_log_steps(steps)
    if log:
        steps, values = steps[steps > 0], values[steps > 0]
    if len(steps) < 2 or steps.min() == steps.max():
        return ""
    verb = "rose" if values[-1] >= values[0] else "fell"
    label = f"PSNR {verb} from {values[0]:.1f} to {values[-1]:.1f} dB over {int(steps[-1])} steps"
    return psnr_chart([("seen", steps, values)], label, "curve", log)


def psnr_chart(lines: Sequence[tuple[str, Array, Array]], label: str, style: str, log: bool) -> str:
    """PSNR over steps as an <svg>. lines: each its CSS class, steps and values, the last on top."""
    steps, values = (np.concatenate([line[column] for line in lines]) for column in (1, 2))
    x_range, y_range = (float(steps.min()), float(steps.max())), padded(float(values.min()), float(values.max()))
    x_ticks = decades(*x_range) if log else nice_ticks(*x_range)
    parts = [x_tick(tick, float(scale_x(np.array([tick]), x_range, log)[0])) for tick in x_ticks]
    parts += [y_tick(tick, float(scale_y(np.array([tick]), y_range)[0])) for tick in nice_ticks(*y_range)]
    parts += [polyline(scale_x(x, x_range, log), scale_y(y, y_range), name) for name, x, y in lines]
    parts.append(f'<text x="{LEFT - 46:g}" y="15">PSNR in dB</text>')
    middle, word = (LEFT + WIDTH - RIGHT) / 2, "step (log scale)" if log else "step"
    parts.append(f'<text x="{middle:g}" y="{HEIGHT - 8:g}" text-anchor="middle">{word}</text>')
    head = f'<svg class="{style}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{escape(label)}">'
    return f"{head}{''.join(parts)}</svg>"


def padded(low: float, high: float) -> tuple[float, float]:
    margin = 0.04 * (high - low) or 0.5
    return low - margin, high + margin


def scale_x(steps: Array, span: tuple[float, float], log: bool) -> Array:
    low, high = (math.log(span[0]), math.log(span[1])) if log else span
    position: Array = ((np.log(steps) if log else steps) - low) / (high - low)
    return LEFT + position * (WIDTH - LEFT - RIGHT)


def scale_y(values: Array, span: tuple[float, float]) -> Array:
    position: Array = (values - span[0]) / (span[1] - span[0])
    return HEIGHT - BOTTOM - position * (HEIGHT - TOP - BOTTOM)


def polyline(x: Array, y: Array, name: str) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*thinned(x, y), strict=True))
    return f'<polyline class="{name}" points="{points}"/>'


def x_tick(tick: float, x: float) -> str:
    base = HEIGHT - BOTTOM
    anchor = "end" if x > WIDTH - RIGHT - 12 else "middle"
    text = f'<text x="{x:.1f}" y="{base + 19:g}" text-anchor="{anchor}">{tick:,.10g}</text>'
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP:g}" y2="{base:g}"/>{text}'


def y_tick(tick: float, y: float) -> str:
    text = f'<text x="{LEFT - 7:g}" y="{y + 4.5:.1f}" text-anchor="end">{tick:g}</text>'
    return f'<line x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{y:.1f}" y2="{y:.1f}"/>{text}'
