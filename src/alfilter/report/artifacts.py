"""What a finished fit shows: its scores, and its pictures in the run folder, by the kind of its task."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alfilter.evaluate import Scores, sample_grid
from alfilter.files import write_bytes
from alfilter.methods import Field
from alfilter.render.points import point_results
from alfilter.tasks import AudioTask, GridTask, PointTask, SdfTask, Task, VolumeTask
from alfilter.tasks.streaming import is_large, middle, reduced, streamed_scores


def judge(folder: Path, model: Field, task: Task, history: Sequence[dict[str, Any]]) -> Scores:
    """The scores of a finished fit, and its pictures in the folder."""
    from alfilter.report.figures import run as figures
    from alfilter.report.figures.audio import judge_audio
    from alfilter.report.figures.shape import judge_shape
    from alfilter.report.figures.volume import judge_volume

    if isinstance(task, SdfTask):
        scores = judge_shape(folder, model, task)
    elif isinstance(task, PointTask):
        scores = point_results(folder, model, task)
    elif isinstance(task, AudioTask):
        scores = judge_audio(folder, model, task)
    elif isinstance(task, VolumeTask):
        scores = judge_volume(folder, model, task)
    elif isinstance(task, GridTask) and is_large(task.signal.shape):
        scores = streamed_scores(model, task)
        sharp = tuple(part.numpy() for part in middle(model, task))  # a spectrum needs neighbours
        small, wanted = reduced(model, task)
        write_pictures(folder, model, task, small.numpy(), wanted.numpy(), sharp)
    elif isinstance(task, GridTask):
        prediction, target = sample_grid(model, task.signal.shape), task.target()
        scores = task.compare(prediction, target)
        write_pictures(folder, model, task, prediction.numpy(), target.numpy())
    else:
        scores = task.evaluate(model)
    write_bytes(folder / "convergence.png", figures.convergence_figure(history))
    return scores


def write_pictures(
    folder: Path, model: Field, task: GridTask, prediction: Any, target: Any, sharp: tuple[Any, ...] | None = None
) -> None:
    """The pictures of a run: what was to be fitted, what came out, where it is wrong, what α became.

    sharp: prediction and target for the spectrum, when the pictures are a reduced view; those of single pixels are then
    left out.
    """
    from alfilter.analysis import alpha_map, filtered_encoding_of, response_maps
    from alfilter.report.figures import run as figures
    from alfilter.report.figures.arrays import error_map
    from alfilter.report.figures.sparse import sparse_picture
    from alfilter.signals import write_image

    bits = 16 if task.signal.bits > 8 else 8
    write_image(folder / "reference.png", target, bits)
    write_image(folder / "reconstruction.png", prediction, bits)
    if task.seen is not None and sharp is None:
        write_image(folder / "observed.png", _observed(target, task.seen.numpy()))
        write_bytes(folder / "sparse.png", sparse_picture(model, task, prediction, target))
    shape = tuple(min(n, 512) for n in task.signal.shape)
    clipped = np.clip(prediction, 0, 1)
    write_bytes(folder / "error.png", figures.error_figure(error_map(clipped, target)))
    fitted, wanted = (clipped, target) if sharp is None else (np.clip(sharp[0], 0, 1), sharp[1])
    write_bytes(folder / "spectrum.png", figures.spectrum_figure(wanted.mean(-1), fitted.mean(-1)))
    encoding = filtered_encoding_of(model)
    if encoding is not None:
        samples = (int(task.signal.shape[0]), int(task.signal.shape[1]))
        alpha = alpha_map(encoding, shape).numpy()
        image = figures.alpha_figure(alpha, encoding.in_dim, encoding.levels, encoding.bandwidth, samples)
        write_bytes(folder / "alpha.png", image)
        write_bytes(folder / "scales.png", figures.scale_response_figure(response_maps(encoding, shape).numpy()))


def _observed(target: Any, seen: Any) -> Any:
    """The seen samples on black: (H, W, c)."""
    picture = np.zeros_like(target)
    flat = picture.reshape(-1, picture.shape[-1])
    flat[seen] = target.reshape(flat.shape)[seen]
    return picture
