"""A fitted shape shown: a view of its surface and of the reference, a slice of the distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.analysis import cut_offs_at, filtered_encoding_of
from alfilter.encodings import FilteredEncoding
from alfilter.evaluate import Scores, distances_at
from alfilter.files import write_bytes
from alfilter.geometry.repair import Triangles
from alfilter.geometry.splat import splat
from alfilter.geometry.surface import Surface
from alfilter.methods import Field
from alfilter.metrics.shape import surface_samples
from alfilter.report.figures.canvas import new_figure, png_bytes, show_map
from alfilter.report.figures.frequency import alpha_figure, frequency_range, label_in_cycles
from alfilter.runs.folder import RunFolder
from alfilter.signals import write_image
from alfilter.tasks import SdfTask

_SPLATS = 1_500_000  # points of a surface that are drawn
_SIDE = 192  # of the slice
_UNIT = "cycles across the domain"


def draw_shape(folder: RunFolder, model: Field, task: SdfTask, scores: Scores) -> None:
    """The pictures of a fitted shape. scores: with the surface that was scored, if there is one."""
    surface, reference = scores.samples, task.signal.triangles
    if reference is not None:
        write_image(folder.picture("reference"), view(reference))
    if surface is not None:
        write_image(folder.picture("reconstruction"), view(Triangles(surface.vertices, surface.faces)))
    write_bytes(folder.picture("slice"), slice_figure(model, task))
    encoding = filtered_encoding_of(model)
    if encoding is not None:
        write_bytes(folder.picture("alpha"), detail_figure(encoding, surface))


def detail_figure(encoding: FilteredEncoding, surface: Surface | None) -> bytes:
    """The cut-off on the surface, as `view` shows it, and in the plane of `slice_figure`, on one scale of colours."""
    cut_off = cut_offs_at(encoding, _plane()).reshape(_SIDE, _SIDE)[::-1]
    if surface is None:
        return alpha_figure(cut_off, _UNIT)
    points, normals = surface_samples(Triangles(surface.vertices, surface.faces), _SPLATS, np.random.default_rng(0))
    there = cut_offs_at(encoding, points)
    low, high = frequency_range(there)
    figure = new_figure(8.6, 3.9)
    left, right = figure.subplots(1, 2)
    image = show_map(right, np.log2(cut_off), "viridis", float(np.log2(low)), float(np.log2(high)))
    tints = image.cmap(image.norm(np.log2(there)))[:, :3]
    left.imshow(splat(points, normals, 480, tints=tints))
    left.set_axis_off()
    left.set_title(f"on the surface: median {np.median(there):.3g}, 98 % from {low:.3g} to {high:.3g}", fontsize=9)
    right.set_title("in the middle plane", fontsize=9)
    label_in_cycles(figure.colorbar(image, ax=right, fraction=0.06, pad=0.03, label=f"cut-off in {_UNIT}"), low, high)
    return png_bytes(figure)


def view(mesh: Triangles, size: int = 480, turn: float = 0.45, tilt: float = 0.2) -> NDArray[np.float64]:
    """A shaded picture (size, size, 3) of a surface in the domain, seen along the third axis, turned and tilted.

    Many points of the surface, the nearest of each pixel, see `splat`.
    """
    points, normals = surface_samples(mesh, _SPLATS, np.random.default_rng(0))
    return splat(points, normals, size, turn=turn, tilt=tilt)


def slice_figure(model: Any, task: SdfTask) -> bytes:
    """The plane through the middle of the domain: the learned distance, the true one, and their difference."""
    points = _plane()
    learned = distances_at(model, points).reshape(_SIDE, _SIDE) / 2
    true = task.distance(points.astype(np.float64)).reshape(_SIDE, _SIDE) / 2
    figure = new_figure(9.6, 3.2)
    panels = (("learned", learned, 0.3), ("true", true, 0.3), ("learned - true", learned - true, 0.02))
    for column, (name, values, reach) in enumerate(panels):
        axes = figure.add_subplot(1, 3, column + 1)
        image = axes.imshow(values, cmap="RdBu", vmin=-reach, vmax=reach, origin="lower", extent=(-0.5, 0.5, -0.5, 0.5))
        contour = learned if column == 0 else true
        if contour.min() < 0 < contour.max():
            axes.contour(contour, [0.0], colors="black", linewidths=0.7, extent=(-0.5, 0.5, -0.5, 0.5))
        axes.set_title(name)
        axes.set_xticks([-0.5, 0, 0.5])
        axes.set_yticks([-0.5, 0, 0.5])
        figure.colorbar(image, ax=axes, fraction=0.046, pad=0.04)
    return png_bytes(figure)


def _plane() -> NDArray[np.float32]:
    """The middle plane of the domain: (side², 3), the first axis fastest."""
    axis = np.linspace(-1, 1, _SIDE)
    x, y = np.meshgrid(axis, axis, indexing="xy")
    return np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3).astype(np.float32)
