"""Pictures of a field fitted to scattered points: a curve, a map, or slices, and predicted against measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.analysis import filtered_encoding_of, frequency_map, response_maps
from alfilter.evaluate import Scores, sample_axes
from alfilter.files import write_bytes
from alfilter.methods import Field
from alfilter.report.figures import canvas, frequency
from alfilter.runs.folder import RunFolder
from alfilter.tasks.points import PointTask

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
_SHOWN = 20_000  # points drawn at most: more are a blot
_SIDE = 200  # places per side of a map


def draw_points(folder: RunFolder, model: Field, task: PointTask, scores: Scores) -> None:
    """map.png (curve, map or slices of the first value), parity.png, and of two coordinates α and its scales."""
    write_bytes(folder.picture("map"), map_figure(model, task))
    write_bytes(folder.picture("parity"), parity_figure(task, scores.samples))
    encoding = filtered_encoding_of(model)
    if encoding is not None and task.in_dim == 2:
        shape, unit = (_SIDE, _SIDE), "cycles across the domain"
        write_bytes(
            folder.picture("alpha"), frequency.alpha_figure(upright(frequency_map(encoding, shape).numpy()), unit)
        )
        maps = np.stack([upright(each) for each in response_maps(encoding, shape).numpy()])
        panels = frequency.scale_response_figure(maps, encoding.level_frequencies().numpy(), unit)
        write_bytes(folder.picture("scales"), panels)


def upright(values: NDArray[Any]) -> NDArray[Any]:
    """A map (first coordinate, second coordinate) as an image: the first to the right, the second upwards."""
    return values.T[::-1]


def map_figure(model: Field, task: PointTask) -> bytes:
    """The first value along one coordinate, or over the first two with the others at their middle."""
    figure = canvas.new_figure(6.4, 4.2)
    axes = figure.add_subplot()
    names, value = task.signal.coord_names, task.signal.value_names[0]
    places, measured = _drawn(task)
    if task.in_dim == 1:
        across = torch.linspace(-1, 1, 1200)
        curve = _own_units(task, sample_axes(model, [across])[:, :1].numpy())
        axes.scatter(places[:, 0], measured, s=7, color=canvas.GREY, alpha=0.6, linewidths=0, label="measured")
        axes.plot(task.signal.box.outward(across[:, None].double().numpy())[:, 0], curve, color=canvas.BLUE)
        axes.set(xlabel=names[0], ylabel=value)
        canvas.plain_axes(axes)
        return canvas.png_bytes(figure)
    middle = [torch.zeros(1)] * (task.in_dim - 2)
    side = torch.linspace(-1, 1, _SIDE)
    values = _own_units(task, sample_axes(model, [side, side, *middle]).view(_SIDE, _SIDE, -1)[..., :1].numpy())
    (x0, y0), (x1, y1) = task.signal.box.low[:2], task.signal.box.high[:2]
    low, high = float(np.min(measured)), float(np.max(measured))
    image = axes.imshow(upright(values), cmap="viridis", vmin=low, vmax=high, extent=(x0, x1, y0, y1), aspect="auto")
    if task.in_dim == 2:
        axes.scatter(places[:, 0], places[:, 1], s=1.5, color="white", alpha=0.5, linewidths=0)
    else:
        fixed = ", ".join(names[2:])
        axes.set_title(f"a slice: {fixed} at the middle of the range", loc="left", fontsize=9)
    figure.colorbar(image, ax=axes, label=value)
    axes.set(xlabel=names[0], ylabel=names[1])
    return canvas.png_bytes(figure)


def parity_figure(task: PointTask, prediction: Array) -> bytes:
    """Predicted against measured, one panel per value (four at most), seen points and held-out ones apart."""
    count = min(4, task.out_dim)
    figure = canvas.new_figure(3.2 * count + 0.6, 3.4)
    seen = np.ones(len(task.signal), bool) if task.seen is None else np.zeros(len(task.signal), bool)
    if task.seen is not None:
        seen[task.seen.numpy()] = True
    for k, axes in enumerate(figure.subplots(1, count, squeeze=False)[0]):
        target = task.signal.measured[:, k]
        _dots(axes, target[seen], prediction[seen, k], canvas.BLUE, "seen")
        _dots(axes, target[~seen], prediction[~seen, k], canvas.RED, "held out")
        ends = [float(target.min()), float(target.max())]
        axes.plot(ends, ends, color=canvas.GREY, linewidth=0.8)
        axes.set(xlabel=f"{task.signal.value_names[k]} measured", ylabel="predicted")
        if not seen.all():
            axes.legend(frameon=False, markerscale=3, fontsize=8)
        canvas.plain_axes(axes)
    return canvas.png_bytes(figure)


def _dots(axes: Axes, x: Array, y: Array, color: str, label: str) -> None:
    step = max(1, len(x) // _SHOWN)
    if len(x):
        axes.scatter(x[::step], y[::step], s=4, color=color, alpha=0.5, linewidths=0, label=label)


def _drawn(task: PointTask) -> tuple[Array, Array]:
    """Places and first values of the seen points that are drawn."""
    index = np.arange(len(task.signal)) if task.seen is None else task.seen.numpy()
    index = index[:: max(1, len(index) // _SHOWN)]
    return task.signal.places[index], task.signal.measured[index, 0]


def _own_units(task: PointTask, values: NDArray[Any]) -> Array:
    """The first value (..., 1) in [0, 1] as the user knows it (...)."""
    low, high = task.signal.range.low[0], task.signal.range.high[0]
    numbers: Array = low + values[..., 0].astype(np.float64) * (high - low)
    return numbers
