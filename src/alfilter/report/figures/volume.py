"""A fitted volume or video shown: slices of truth, fit, error and α."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from alfilter.analysis import filtered_encoding_of, samples_across
from alfilter.encodings import FilteredEncoding
from alfilter.evaluate import Evaluate, Scores, axis_coords, sample_axes
from alfilter.files import write_bytes
from alfilter.methods import Field
from alfilter.report.figures import canvas, frequency
from alfilter.report.figures import run as figures
from alfilter.report.figures.arrays import error_map
from alfilter.runs.folder import RunFolder
from alfilter.signals import write_image
from alfilter.tasks import VolumeTask

Array = NDArray[Any]
Plane = tuple[int, int]  # an axis, and the sample along it that is fixed


def draw_volume(folder: RunFolder, model: Field, task: VolumeTask, scores: Scores) -> None:
    """The pictures of a fitted volume or video: three planes, and the middle one of the first axis."""
    del scores  # a volume is not held whole
    shape = task.signal.shape
    middle = (0, shape[0] // 2)
    fitted, truth = slice_of(model, shape, middle), true_slice(task, middle)
    bits = 16 if task.signal.bits > 8 else 8
    write_image(folder.picture("reference"), _drawable(truth), bits)
    write_image(folder.picture("reconstruction"), _drawable(fitted), bits)
    write_bytes(folder.picture("error"), figures.error_figure(error_map(np.clip(fitted, 0, 1), truth)))
    write_bytes(folder.picture("spectrum"), figures.spectrum_figure(truth.mean(-1), np.clip(fitted, 0, 1).mean(-1)))
    write_bytes(folder.picture("planes"), planes_figure(model, task, planes_of(task)))
    encoding = filtered_encoding_of(model)
    if encoding is not None:
        unit, across = "cycles per sample", samples_across(shape)
        write_bytes(folder.picture("alpha"), frequency.alpha_figure(frequency_slice(encoding, shape, middle), unit))
        device = encoding.alpha.values.device
        maps = slice_of(lambda x: encoding.responses(x.to(device)), shape, middle)
        of_scales = encoding.level_frequencies().numpy() / across
        panels = frequency.scale_response_figure(np.moveaxis(maps, -1, 0), of_scales, unit)
        write_bytes(folder.picture("scales"), panels)


def planes_of(task: VolumeTask) -> list[Plane]:
    """The planes that are shown: the middle one of every axis, or of a video three moments."""
    shape = task.signal.shape
    if task.signal.kind == "video":
        return [(0, round(share * (shape[0] - 1))) for share in (0.1, 0.5, 0.9)]
    return [(axis, shape[axis] // 2) for axis in range(3)]


def slice_of(field: Evaluate, shape: tuple[int, ...], plane: Plane) -> Array:
    """A field's values on a plane of the samples: (rows, columns, c), the remaining axes in their order."""
    axis, index = plane
    axes = [axis_coords(n, 0, n - 1, n) for n in shape]
    axes[axis] = axes[axis][index : index + 1]
    values: Array = sample_axes(field, axes).squeeze(axis).numpy()
    return values


def true_slice(task: VolumeTask, plane: Plane) -> Array:
    """The samples on a plane, normalised: (rows, columns, c)."""
    shape, (axis, index) = task.signal.shape, plane
    places = [torch.arange(n) for n in shape]
    places[axis] = torch.tensor([index])
    down, along, across = places
    flat = (down[:, None, None] * shape[1] + along[:, None]) * shape[2] + across
    rows = task.signal.values(flat.reshape(-1)).view(*flat.shape, task.out_dim)
    values: Array = rows.squeeze(axis).numpy()
    return values


def frequency_slice(encoding: FilteredEncoding, shape: tuple[int, ...], plane: Plane) -> Array:
    """The cut-off in cycles per sample on a plane: (rows, columns)."""
    device = encoding.alpha.values.device
    cut_off = slice_of(lambda x: encoding.local_frequency(x.to(device)).unsqueeze(-1), shape, plane)[..., 0]
    return cut_off / samples_across(shape)


def planes_figure(model: Field, task: VolumeTask, planes: Sequence[Plane]) -> bytes:
    """A row per plane: truth, fit, error (one scale for all rows), and α where there is one."""
    encoding = filtered_encoding_of(model)
    shape, columns = task.signal.shape, 3 if encoding is None else 4
    slices = [(true_slice(task, plane), slice_of(model, shape, plane)) for plane in planes]
    cut_offs = [] if encoding is None else [frequency_slice(encoding, shape, plane) for plane in planes]
    errors = [error_map(np.clip(fitted, 0, 1), truth) for truth, fitted in slices]
    top = max(max(float(np.percentile(error, 99.5)) for error in errors), 1e-6)
    heights = [float(np.clip(error.shape[0] / error.shape[1], 0.4, 1.6)) for error in errors]
    figure = canvas.new_figure(2.3 * columns + 0.8, 2.3 * sum(heights) + 0.5)
    grid = figure.subplots(len(planes), columns, squeeze=False, height_ratios=heights)
    for k, (row, plane, (truth, fitted), error) in enumerate(zip(grid, planes, slices, errors, strict=True)):
        _picture(row[0], truth, _plane_name(task, plane))
        _picture(row[1], fitted, "fit")
        wrong = row[2].imshow(error, cmap="magma", vmin=0.0, vmax=top)
        row[2].set_title("error", loc="left", fontsize=9)
        if encoding is not None:
            low, high = frequency.frequency_range(np.concatenate([each.ravel() for each in cut_offs]))
            colours = row[3].imshow(np.log2(cut_offs[k]), cmap="viridis", vmin=np.log2(low), vmax=np.log2(high))
            row[3].set_title("cut-off in cycles per sample", loc="left", fontsize=9)
    for axes in grid.ravel():
        axes.set(xticks=[], yticks=[])
    figure.colorbar(wrong, ax=grid[:, 2].tolist(), fraction=0.05, location="bottom")
    if encoding is not None:
        bar = figure.colorbar(colours, ax=grid[:, 3].tolist(), fraction=0.05, location="bottom")
        frequency.label_in_cycles(bar, low, high)
    return canvas.png_bytes(figure)


def _plane_name(task: VolumeTask, plane: Plane) -> str:
    axis, index = plane
    if task.signal.kind == "video":
        return f"truth, frame {index}"
    return f"truth, axis {axis} at {index}"


def _picture(axes: Any, values: Array, title: str) -> None:
    shown = np.clip(_drawable(values), 0, 1)
    axes.imshow(shown[..., :3] if shown.shape[-1] >= 3 else shown[..., 0], cmap="gray", vmin=0, vmax=1)
    axes.set_title(title, loc="left", fontsize=9)


def _drawable(values: Array) -> Array:
    """The channels that a picture can have: all of a gray or colour one, else the first."""
    return values if values.shape[-1] in (1, 3, 4) else values[..., :1]
