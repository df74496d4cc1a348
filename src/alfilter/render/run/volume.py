"""A fitted volume, video or light field shown: planes of truth, fit, error and α."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.analysis import filtered_encoding_of, samples_across
from alfilter.encodings import FilteredEncoding
from alfilter.evaluate import LAYOUTS, Evaluate, Scores, Section, sample_grid
from alfilter.files import write_bytes
from alfilter.methods import Field
from alfilter.report.figures import canvas, frequency
from alfilter.report.figures import run as figures
from alfilter.report.figures.arrays import error_map
from alfilter.runs.folder import RunFolder
from alfilter.signals import write_image
from alfilter.tasks import VolumeTask

Array = NDArray[Any]


def draw_volume(folder: RunFolder, model: Field, task: VolumeTask, scores: Scores) -> None:
    """The pictures of a fitted volume or video: three planes, and the middle one of the first axis."""
    del scores  # a volume is not held whole
    middle = middle_of(task)
    fitted, truth = slice_of(model, middle), true_slice(task, middle)
    bits = 16 if task.signal.bits > 8 else 8
    write_image(folder.picture("reference"), _drawable(truth), bits)
    write_image(folder.picture("reconstruction"), _drawable(fitted), bits)
    write_bytes(folder.picture("error"), figures.error_figure(error_map(np.clip(fitted, 0, 1), truth)))
    write_bytes(folder.picture("spectrum"), figures.spectrum_figure(truth.mean(-1), np.clip(fitted, 0, 1).mean(-1)))
    write_bytes(folder.picture("planes"), planes_figure(model, task, planes_of(task)))
    encoding = filtered_encoding_of(model)
    if encoding is not None:
        unit, across = "cycles per sample", samples_across(task.signal.shape)
        write_bytes(folder.picture("alpha"), frequency.alpha_figure(frequency_slice(encoding, middle), unit))
        device = encoding.alpha.values.device
        maps = slice_of(lambda x: encoding.responses(x.to(device)), middle)
        of_scales = encoding.level_frequencies().numpy() / across
        panels = frequency.scale_response_figure(np.moveaxis(maps, -1, 0), of_scales, unit)
        write_bytes(folder.picture("scales"), panels)


def middle_of(task: VolumeTask) -> Section:
    """The plane in the middle: a slice of the first axis, a frame, a view."""
    shape, plane = task.signal.shape, LAYOUTS[task.signal.kind].planes[0]
    return Section(shape, plane, tuple(float(n // 2) for axis, n in enumerate(shape) if axis not in plane))


def planes_of(task: VolumeTask) -> list[Section]:
    """The planes that are shown: the middle one of every axis, three moments of a video, or three views."""
    shape, layout = task.signal.shape, LAYOUTS[task.signal.kind]
    if task.signal.kind == "video":
        return [Section(shape, (1, 2), (float(round(share * (shape[0] - 1))),)) for share in (0.1, 0.5, 0.9)]
    if task.signal.kind == "lightfield":
        return [Section(shape, (2, 3), view) for view in shown_views(task)]
    sides = [(axis, layout.planes[axis]) for axis in range(3)]
    return [Section(shape, plane, (float(shape[axis] // 2),)) for axis, plane in sides]


def shown_views(task: VolumeTask) -> list[tuple[float, float]]:
    """The first view, the middle one, and one that was not seen (or the last)."""
    down, across = task.signal.shape[:2]
    mask = task.seen_mask()
    unseen = [] if mask is None else np.argwhere(~mask.view(task.signal.shape)[..., 0, 0].numpy()).tolist()
    last = unseen[len(unseen) // 2] if unseen else (down - 1, across - 1)
    views = ((0, 0), (down // 2, across // 2), last)
    return list(dict.fromkeys((float(u), float(v)) for u, v in views))


def slice_of(field: Evaluate, section: Section) -> Array:
    """A field's values on a plane of the samples: (rows, columns, c)."""
    values: Array = sample_grid(section.through(field), section.size).numpy()
    return values


def true_slice(task: VolumeTask, section: Section) -> Array:
    """The samples on a plane, normalised: (rows, columns, c)."""
    values: Array = section.of(task.signal).values().view(*section.size, task.out_dim).numpy()
    return values


def frequency_slice(encoding: FilteredEncoding, section: Section) -> Array:
    """The cut-off in cycles per sample on a plane: (rows, columns)."""
    device = encoding.alpha.values.device
    cut_off = slice_of(lambda x: encoding.local_frequency(x.to(device)).unsqueeze(-1), section)[..., 0]
    return cut_off / samples_across(section.shape)


def planes_figure(model: Field, task: VolumeTask, planes: Sequence[Section]) -> bytes:
    """A row per plane: truth, fit, error (one scale for all rows), and α where there is one."""
    encoding = filtered_encoding_of(model)
    columns = 3 if encoding is None else 4
    slices = [(true_slice(task, plane), slice_of(model, plane)) for plane in planes]
    cut_offs = [] if encoding is None else [frequency_slice(encoding, plane) for plane in planes]
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
    figure.colorbar(wrong, ax=grid[:, 2].tolist(), fraction=0.05, location="bottom", format=canvas.FROM_ZERO)
    if encoding is not None:
        bar = figure.colorbar(colours, ax=grid[:, 3].tolist(), fraction=0.05, location="bottom")
        frequency.label_in_cycles(bar, low, high)
    return canvas.png_bytes(figure)


def _plane_name(task: VolumeTask, section: Section) -> str:
    places = ",".join(f"{place:g}" for place in section.places)
    if task.signal.kind == "video":
        return f"truth, frame {places}"
    if task.signal.kind == "lightfield":
        mask = task.seen_mask()
        u, v = (int(place) for place in section.places)
        unseen = mask is not None and not bool(mask.view(task.signal.shape)[u, v].all())
        return f"truth, view {places}{' (unseen)' if unseen else ''}"
    return f"truth, axis {section.held[0]} at {places}"


def _picture(axes: Any, values: Array, title: str) -> None:
    shown = np.clip(_drawable(values), 0, 1)
    axes.imshow(shown[..., :3] if shown.shape[-1] >= 3 else shown[..., 0], cmap="gray", vmin=0, vmax=1)
    axes.set_title(title, loc="left", fontsize=9)


def _drawable(values: Array) -> Array:
    """The channels that a picture can have: all of a gray or colour one, else the first."""
    return values if values.shape[-1] in (1, 3, 4) else values[..., :1]
