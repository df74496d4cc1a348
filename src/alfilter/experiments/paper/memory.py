"""Does the paper's method need less memory than DINER? What both store, and the peak of a process that trains them.

True size: 512×512, full batches, the preset `paper`; three steps, since memory does not grow afterwards.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alfilter.experiments.fitting import fit_line, prepare_run
from alfilter.experiments.paper.image_fitting import ALL_IMAGES
from alfilter.experiments.study import Lines, Run, Study, table

ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "pe-mlp": ("pe-mlp", {}),
    "al-sine": ("al-sine", {}),
    "diner": ("diner", {}),
    "diner, one feature": ("diner", {"features": 1}),
}


def runs() -> list[Run]:
    """Each method on one picture."""
    return [
        Run(row, ALL_IMAGES[0], method, "paper", settings=settings, training={"steps": 3})
        for row, (method, settings) in ROWS.items()
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Train a few steps; the runner notes the peak."""
    from alfilter.signals import read_image
    from alfilter.tasks import ImageTask

    task = ImageTask(read_image(Path(data) / run.image), run.observe, run.seed)
    fitted = prepare_run(run, task).fit()  # nothing is kept for a stop: it would count
    return {**fit_line(run, fitted), "metrics": {}, "heldout": None}


def summarise(lines: Lines) -> str:
    """Numbers stored, and the peak."""
    return table(
        lines,
        {"numbers stored": lambda line: float(line["params"]), "peak, MiB": lambda line: line["peak_memory"] / 2**20},
    )


STUDY = Study("memory", runs, summarise, execute)
