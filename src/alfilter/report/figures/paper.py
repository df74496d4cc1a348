"""The paper's figures drawn from result lines, written beside them as PNG."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from alfilter.report.figures.arrays import Array
from alfilter.report.figures.canvas import BLUE, RED, new_figure, plain_axes, png_bytes
from alfilter.report.figures.pixels import busiest_window, pixels
from alfilter.report.overview.collect import Entry, from_line
from alfilter.report.overview.curves import mean_curves
from alfilter.report.overview.pictures import by_picture, picture_name

COLOURS = ("#0072b2", "#c04e00", "#007f5f", "#9a4f86", "#8a6d00", "#2b8cc4", "#555b61", "#a3324a")
STROKES = ("-", "--", ":", "-.")
PLACES = {"smooth": BLUE, "detailed": RED}  # of the overview
ZOOM = 3  # a detail is this much smaller than the picture
# the rows of the sparse figure: the paper's setting, and what it needs to work
PAPER_START, LOW_START = "al-sine, as the paper", "al-sine, α starts low"

Lines = Sequence[Mapping[str, Any]]


def overview_figure(lines: Lines) -> bytes:
    """Picture and two places → γ there → α(x) → H_B(α) there → γ' there → network → reconstruction."""
    if not lines:
        return b""
    line = lines[0]
    stages: Mapping[str, Any] = line["stages"]
    figure = new_figure(11.0, 4.4)
    (picture, gamma, filtered), (alpha, response, result) = figure.subplots(2, 3)
    picture.imshow(pixels(b64decode(line["pictures"]["reference"])))
    shown = alpha.imshow(np.array(line["map"]), cmap="viridis")
    figure.colorbar(shown, ax=alpha, shrink=0.8)
    result.imshow(pixels(b64decode(line["pictures"]["reconstruction"])))
    for name, stage in stages.items():
        row, column = stage["place"]
        for axes in (picture, alpha, result):
            axes.plot(column, row, "o", color=PLACES[name], markeredgecolor="white")
        values, passes = np.array(stage["gamma"]), np.array(stage["response"])
        style: dict[str, Any] = {"color": PLACES[name], "marker": ".", "linewidth": 0.8}
        gamma.plot(values, label=f"{name} place", **style)
        response.plot(passes, label=f"α = {stage['alpha']:.1f}", **style)
        filtered.plot(values * passes, **style)
    titles = ("a picture, two places x", "γ(x), channel by channel", "γ'(x) = H(α(x)) γ(x), into the network",
              "α(x), learned on a grid", "H(α(x)), the band that passes", "the network's picture")  # fmt: skip
    for axes, title in zip((picture, gamma, filtered, alpha, response, result), titles, strict=True):
        axes.set_title(title, fontsize=9)
        if axes in (picture, alpha, result):
            axes.set_axis_off()
        else:
            plain_axes(axes)
    for axes in (gamma, response):
        axes.legend(frameon=False, fontsize=7)
    return png_bytes(figure)


def convergence_figure(lines: Lines) -> bytes:
    """PSNR over the first 100 steps and, if there are more, over all; a curve per setting: the mean of its pictures."""
    series = mean_curves(_entries(lines))
    longer = any(steps[-1] > 100 for _, steps, _ in series)
    figure = new_figure(8.6 if longer else 5.6, 3.4)
    panes = figure.subplots(1, 1 + longer, squeeze=False)[0]
    early, whole = panes[0], panes[-1]
    for number, (name, steps, values) in enumerate(series):
        style: dict[str, Any] = {"color": COLOURS[number], "linestyle": STROKES[number % 4], "linewidth": 1.6}
        near = steps <= 100
        if longer:
            early.plot(steps[near], values[near], **style)
        whole.plot(steps, values, label=f"{name} {values[-1]:.1f}", **style)
    whole.set(title="all steps", xlabel="step")
    early.set(title="the first 100 steps", xlabel="step", ylabel="PSNR in dB")
    figure.legend(*whole.get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside right center")
    for axes in panes:
        plain_axes(axes)
    return png_bytes(figure)


def crops_figure(lines: Lines) -> bytes:
    """One row per picture: the truth, then every method, a detail enlarged below each."""
    scenes = list(by_picture(_plain_rows(_entries(lines))).values())
    columns = 1 + max(len(rows) for rows in scenes)
    figure = new_figure(1.55 * columns, 3.45 * len(scenes))
    grid = figure.subplots(2 * len(scenes), columns, squeeze=False)
    for k, rows in enumerate(scenes):
        truth = pixels(rows[0].pictures["reference"])
        window = _detail(truth)
        panes = [("truth", truth)] + [(_label(entry), pixels(entry.pictures["reconstruction"])) for entry in rows]
        for column in range(columns):
            top, below = grid[2 * k][column], grid[2 * k + 1][column]
            if column >= len(panes):
                top.set_axis_off()
                below.set_axis_off()
                continue
            name, picture = panes[column]
            _show(top, picture, name)
            _box(top, window)
            _show(below, picture[window])
    return png_bytes(figure)


def alpha_maps_figure(lines: Lines) -> bytes:
    """One row per picture of al-sine: truth, reconstruction, α, absolute difference."""
    rows = [entry for entry in _entries(lines) if entry.group == "al-sine" and "alpha" in entry.pictures][:4]
    figure = new_figure(8.4, 2.15 * len(rows))
    grid = figure.subplots(len(rows), 4, squeeze=False)
    for k, entry in enumerate(rows):
        truth, shown = (pixels(entry.pictures[name]) for name in ("reference", "reconstruction"))
        _show(grid[k][0], truth, "truth" if k == 0 else "")
        _show(grid[k][1], shown, _label(entry))
        structure = entry.alpha.get("structure")
        movement = "did not move" if structure is None else f"correlation {structure:+.2f}"
        _map(figure, grid[k][2], _alpha(entry), "viridis", f"α, {movement}")
        _map(figure, grid[k][3], np.abs(shown - truth).mean(-1), "magma", "absolute difference")
    return png_bytes(figure)


def sparse_figure(lines: Lines) -> bytes:
    """Rows as in the paper: truth, seen, error where seen, reconstruction, error, α; then other settings' results."""
    shown_rows = (PAPER_START, LOW_START)
    rows = [entry for entry in _entries(lines) if entry.group in shown_rows and "observed" in entry.pictures]
    rows.sort(key=lambda entry: (entry.observe, entry.signal, entry.group != PAPER_START))
    figure = new_figure(10.2, 1.85 * len(rows))
    grid = figure.subplots(len(rows), 6, squeeze=False)
    for k, entry in enumerate(rows):
        truth, shown, seen = (pixels(entry.pictures[name]) for name in ("reference", "reconstruction", "observed"))
        error = np.abs(shown - truth).mean(-1)
        # black truth and unseen look alike here, which hides at most black pixels
        masked = np.where(seen.max(-1) > 0, error, np.nan)
        top = max(float(np.percentile(error, 99)), 1e-3)
        _show(
            grid[k][0],
            truth,
            f"{picture_name(entry.picture_key).split(',')[0]}, {entry.group.removeprefix('al-sine, ')}",
        )
        _show(grid[k][1], seen, f"{float(entry.observe.split(':')[1]):.0%} seen")
        _map(figure, grid[k][2], masked, "magma", f"error, seen {entry.metrics.get('psnr') or 0:.1f} dB", top)
        _show(grid[k][3], shown, "reconstruction")
        _map(figure, grid[k][4], error, "magma", f"error, unseen {entry.heldout.get('psnr') or 0:.1f} dB", top)
        _map(figure, grid[k][5], _alpha(entry), "viridis", "α")
    return png_bytes(figure)


def shape_views_figure(lines: Lines) -> bytes:
    """One column per method, the reference first; one row per view: the whole, the smooth chest, the detailed leg."""
    rows = [entry for entry in _entries(lines) if any(name.startswith("render_") for name in entry.pictures)]
    if not rows:
        return b""
    views = [name.removeprefix("render_") for name in rows[0].pictures if name.startswith("render_")]
    figure = new_figure(1.75 * (len(rows) + 1), 1.85 * len(views))
    grid = figure.subplots(len(views), len(rows) + 1, squeeze=False)
    for k, view in enumerate(views):
        _show(grid[k][0], pixels(rows[0].pictures[f"reference_{view}"]), "reference" if k == 0 else view)
        for column, entry in enumerate(rows, start=1):
            _show(grid[k][column], pixels(entry.pictures[f"render_{view}"]), entry.group if k == 0 else "")
    return png_bytes(figure)


def _entries(lines: Lines) -> list[Entry]:
    return [from_line("", line) for line in lines]


def _plain_rows(entries: Sequence[Entry]) -> list[Entry]:
    """Without the rows that stand beside the paper's own (their names have a comma)."""
    return [entry for entry in entries if "," not in entry.group]


def _label(entry: Entry) -> str:
    value = entry.metrics.get("psnr")
    return entry.group if value is None else f"{entry.group} {value:.1f} dB"


def _alpha(entry: Entry) -> Array:
    if "alpha" not in entry.pictures:
        return np.zeros((2, 2))
    low, high = (float(entry.alpha[name]) for name in ("low", "high"))
    return low + (high - low) * pixels(entry.pictures["alpha"])[..., 0]


def _detail(truth: Array) -> tuple[slice, slice]:
    return busiest_window(truth, max(8, min(truth.shape[:2]) // ZOOM))


def _box(axes: Any, window: tuple[slice, slice]) -> None:
    from matplotlib.patches import Rectangle

    rows, columns = window
    corner = columns.start - 0.5, rows.start - 0.5
    axes.add_patch(Rectangle(corner, columns.stop - columns.start, rows.stop - rows.start, fill=False, color="yellow"))


def _show(axes: Any, picture: Array, title: str = "") -> None:
    axes.imshow(picture, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    axes.set_title(title, loc="left", fontsize=8)


def _map(figure: Any, axes: Any, values: Array, colours: str, title: str, top: float | None = None) -> None:
    image = axes.imshow(values, cmap=colours, vmin=0.0 if top else None, vmax=top, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    axes.set_title(title, loc="left", fontsize=8)
    figure.colorbar(image, ax=axes, fraction=0.046, pad=0.02).ax.tick_params(labelsize=7)
