"""How to fill between the pixels before a field is fitted: kinds of smoothness, and what their parts are worth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from alfilter.experiments.artifacts import observed_mask
from alfilter.experiments.compare.between import OBSERVED, SIZE, open_task, summarise
from alfilter.experiments.compare.interpolators import PIXELS
from alfilter.experiments.study import Run, Study
from alfilter.inpainting.grid import Smoothness, fill, gap_of, kinds

IMAGES = [f"div2k/{number:02d}.png" for number in (3, 5, 9, 13)]  # in no table of `between`


def _changed(name: str, **changes: Any) -> Callable[[float], Smoothness]:
    return lambda gap: replace(kinds(gap)[name], **changes)


# A kind of smoothness for a gap between seen samples; none: as `fill` chooses.
ROWS: dict[str, Callable[[float], Smoothness | None]] = {
    "chosen by a held-back tenth": lambda gap: None,
    "near edges": _changed("near edges"),
    "far edges": _changed("far edges"),
    "plates": _changed("plates"),
    "near, edges ignored": _changed("near edges", power=0.0),
    "near, without the scale above": _changed("near edges", lattice=False),
    "near, rough 3": _changed("near edges", rough=3.0),
    "near, edge 0.01": _changed("near edges", edge=0.01),
    "far, edges ignored": _changed("far edges", power=0.0),
    "far, without coarser grids": _changed("far edges", sparse=inf),
    "far, rough 3": _changed("far edges", rough=3.0),
}


def runs() -> list[Run]:
    """Interpolators and kinds of smoothness on every picture under every observation."""
    return [
        Run(name, image, method=name, size=SIZE, observe=observe)
        for observe in OBSERVED
        for name in [*PIXELS, *ROWS]
        for image in IMAGES
        if name != "bicubic" or observe == "every:2"
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fill one picture and score it."""
    import torch

    task: Any = open_task(run, data)
    target = task.target()
    seen = observed_mask(task)
    began = time.monotonic()
    if run.method in PIXELS:
        filled = PIXELS[run.method](target.double().numpy(), seen)
    else:
        kind = ROWS[run.method](gap_of(seen))
        filled = fill(np.where(seen[..., None], target.numpy(), np.float32(0)), seen, kind).astype(np.float64)
    seconds = time.monotonic() - began
    scores = task.compare(torch.from_numpy(filled).float(), target).plain()
    return {**run.heading, "steps": 0, "params": 0, "seconds": seconds, **scores}


STUDY = Study("filling", runs, summarise, execute)
