"""The paper's figure of sparse pictures: 5 % and 35 % of the pixels, its total variation on α, and what it depends on.

At full scale: 512×512, 5,000 full-batch steps, λ = 1e-3. The paper sums the squared error over the channels and the
total variation over the grid; here the error is a mean over c channels, so the λ as printed is 1e-3/c. Beside that
reading stand the mean over the grid, no total variation, a low start of α (the paper does not say where it starts), and
linear interpolation. The CPU twin shrinks as the image fitting does, to 128×128 (64 neurons, L = 6, B = 15), and takes
1,000 steps.
"""

from __future__ import annotations

import time
from typing import Any

import torch

from alfilter.experiments.artifacts import observed_mask, thumbnails
from alfilter.experiments.compare.interpolators import PIXELS
from alfilter.experiments.fitting import reduced_task
from alfilter.experiments.paper import image_fitting as fitting
from alfilter.experiments.paper.measurements import structures
from alfilter.experiments.study import Lines, Run, Study, heldout_psnr, table

OBSERVED = ("random:0.05", "random:0.35")
IMAGES = ("div2k/00.png", "div2k/03.png")
SIDE, WIDTH = 128, 64
PAPER, LOW = "al-sine, as the paper", "al-sine, α starts low"
MEAN, PLAIN = "al-sine, mean total variation", "al-sine, no total variation"
LINEAR = "linear (Delaunay)"  # its name among the interpolators too
PRINTED = 1e-3 / 3  # the printed λ against an error that is a mean over three channels
ROWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    PAPER: ({}, {"tv": PRINTED}),
    LOW: ({"start": 0.0}, {"tv": PRINTED}),
    MEAN: ({}, {"tv": PRINTED, "tv_reduction": "mean"}),
    PLAIN: ({}, {"tv": 0.0}),
}
# in the twin alone: λ against an error that is taken as a mean over the channels
THRICE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {"al-sine, as the paper, λ three times": ({}, {"tv": 1e-3})}


def runs() -> list[Run]:
    """The CPU twin."""
    small = {"width": WIDTH, "levels": 6, "bandwidth": 15.0}
    return _declared(IMAGES, SIDE, small, {"steps": 1000, "every": 250}, {**ROWS, **THRICE})


def full_runs(images: tuple[str, ...] = IMAGES) -> list[Run]:
    """The paper's protocol on the first two pictures that are there."""
    return _declared(tuple(image for image in images if image in IMAGES), None, {}, {}, ROWS)


def _declared(images: tuple[str, ...], side: int | None, settings: Any, training: Any, rows: Any) -> list[Run]:
    """Fast and informative runs first, so that a study that is stopped early is still useful."""
    interpolated = [Run(LINEAR, image, method=LINEAR, size=side, observe=each) for each in OBSERVED for image in images]
    return interpolated + [
        Run(row, image, "al-sine", "paper", side, observe, 0, {**settings, **options}, {**training, **recipe})
        for observe in OBSERVED
        for row, (options, recipe) in rows.items()
        for image in images
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Reconstruct one picture with gaps: a fit as in the image fitting, or an interpolation in a moment."""
    if run.method not in PIXELS:
        return fitting.execute(run, data)
    began = time.monotonic()
    task = reduced_task(run, data)
    target = task.target()
    filled = torch.from_numpy(PIXELS[run.method](target.double().numpy(), observed_mask(task))).float()
    scores = task.compare(filled, target).plain()
    # on what it saw an interpolation is exact: an infinite PSNR is left out
    exact = {name: value for name, value in (scores["metrics"] or {}).items() if value is not None}
    scores["metrics"] = {**exact, **structures(filled, target, run.observe)}
    seconds = time.monotonic() - began
    pictures = thumbnails(None, filled.numpy(), target.numpy(), observed_mask(task))
    return {**run.heading, "steps": 0, "params": 0, "seconds": seconds, **scores, **pictures}


def summarise(lines: Lines) -> str:
    """Unseen pixels in dB and the meaning of α, at 5 % and at 35 %; which settings left α where it was."""
    columns: dict[str, Any] = {}
    for observe in OBSERVED:
        share = f"{float(observe.split(':')[1]):.0%}"
        columns[f"{share} seen: unseen pixels, dB"] = _only(observe, heldout_psnr)
        columns[f"{share} seen: SSIM"] = _only(observe, lambda line: line["metrics"]["ssim"])
        columns[f"{share} seen: of the blurred picture"] = _only(observe, lambda line: line["metrics"]["structure"])
        columns[f"{share} seen: α with gradient energy"] = _only(observe, alpha_meaning)
    still = _still(lines)
    return table(lines, columns) + (f"\n\nα did not move in: {still}." if still else "")


def _still(lines: Lines) -> str:
    """The settings in which α did not move, and on how many pictures."""
    moves: dict[tuple[str, str], list[bool]] = {}
    for line in lines:
        if line.get("alpha"):
            moves.setdefault((line["group"], line["observe"]), []).append(line["alpha"]["structure"] is not None)
    return "; ".join(
        f"{group} ({float(observe.split(':')[1]):.0%} seen, {moved.count(False)} of {len(moved)})"
        for (group, observe), moved in moves.items()
        if not all(moved)
    )


def alpha_meaning(line: dict[str, Any]) -> float | None:
    """The rank correlation of α with the picture's gradient energy, where there is an α."""
    return line["alpha"]["structure"] if line.get("alpha") else None


def _only(observe: str, read: Any) -> Any:
    return lambda line: read(line) if line["observe"] == observe else None


SHRINKS = "shrinks 512×512 to 128×128, 256 neurons to 64, L 8 to 6, B 20 to 15, 5,000 steps to 1,000; keeps λ and rates"
STUDY = Study("sparse", runs, summarise, execute, full=full_runs, needs=fitting.ALL_IMAGES, shrinks=SHRINKS)
