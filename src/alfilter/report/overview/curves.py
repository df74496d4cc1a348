"""Convergence of several settings in one chart: inline SVG in the page's own colours, and its key."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from alfilter.report.figures.arrays import Array
from alfilter.report.overview.collect import Entry
from alfilter.report.page.svg import psnr_chart

MAX_CURVES = 8  # more cannot be told apart
Series = tuple[str, Array, Array]  # label, steps, values


def mean_curves(entries: Sequence[Entry]) -> list[Series]:
    """A curve per setting: the mean over its runs at the steps all of them have logged, the best at the end first.

    Settings with fewer runs than others come after those. Of more than eight the first eight are kept.
    """
    groups: dict[str, list[dict[float, float]]] = {}
    for entry in entries:
        if len(entry.curve) > 1:
            groups.setdefault(entry.group, []).append(dict(entry.curve))
    series = []
    for group, curves in groups.items():
        steps = sorted(set.intersection(*(set(curve) for curve in curves)))
        if len(steps) > 1:
            values = [float(np.mean([curve[step] for curve in curves])) for step in steps]
            series.append((group, np.array(steps), np.array(values)))
    series.sort(key=lambda each: (-len(groups[each[0]]), -each[2][-1]))
    return series[:MAX_CURVES]


def curves_svg(series: Sequence[Series], title: str, until: float | None = None, log: bool = False) -> str:
    """All series over steps, up to `until`, or "" when nothing is left to draw."""
    cut = [(name, *_window(steps, values, until, log)) for name, steps, values in series]
    cut = [each for each in cut if len(each[1]) > 1]
    if not cut:
        return ""
    names = [name for name, _, _ in series]
    label = f"{title}: " + "; ".join(f"{name} {values[-1]:.1f} dB" for name, _, values in cut)
    lines = [(f"c{names.index(name)}", steps, values) for name, steps, values in reversed(cut)]  # the best on top
    return psnr_chart(lines, label, "curve many", log)


def curves_key(series: Sequence[Series]) -> str:
    """The names of the curves with their strokes and last values, best first."""
    rows = "".join(
        f'<li><svg class="curve many" viewBox="0 0 28 10" aria-hidden="true"><polyline class="c{number}" '
        f'points="1,5 27,5"/></svg>{escape(name)} <b>{values[-1]:.1f}</b></li>'
        for number, (name, _, values) in enumerate(series)
    )
    return f'<ul class="keys">{rows}</ul>'


def _window(steps: Array, values: Array, until: float | None, log: bool) -> tuple[Array, Array]:
    keep = (steps > 0 if log else steps >= 0) & (steps <= (np.inf if until is None else until))
    return steps[keep], values[keep]
