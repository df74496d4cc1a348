"""The first 100 steps of the paper's image fitting at its true size: 512×512, full batches, the full networks.

The rates do not fall before step 1,250, so these are the beginning of the full protocol itself.
"""

from __future__ import annotations

from dataclasses import replace

from alfilter.experiments.paper import image_fitting as fitting
from alfilter.experiments.study import Run

STEPS = 100
IMAGES = ("div2k/00.png", "div2k/02.png")


def runs() -> list[Run]:
    """Six methods, picture by picture."""
    return [
        Run(row, image, method, "paper", training={"steps": STEPS})
        for image in IMAGES
        for row, method in fitting.METHODS.items()
    ]


STUDY = replace(
    fitting.STUDY, name="first-steps", runs=runs, summarise=fitting.summarise_curves, full=None, half=None, shrinks=""
)
