"""The truth about a minute: every method at 512×512 after 10, 30 and 60 s on two cores, and at equal sizes.

Presets `default` as they are. A second is one of processor time per core, so that other programs on the machine take
nothing from a method. Picture by picture, so that a table of the first pictures is already a fair one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alfilter.experiments.fitting import execute as fit_and_score
from alfilter.experiments.study import Lines, Run, Study, table

IMAGES = tuple(f"div2k/{number:02d}.png" for number in range(8))
ALL_IMAGES = tuple(f"div2k/{number:02d}.png" for number in range(16))
SECONDS = (10, 30, 60)
HEADLINE = 5  # seconds of the two grids on all sixteen pictures
SIZES = (60_000, 133_000, 400_000)
GRIDS = ("al-grid", "hash-grid")
THREADS = 2
# What a grid of few parameters wants: fine levels that share rows by the hash, a second layer, higher rates. The same
# for both, and for al-grid its α nodes and the price of a level.
SMALL: Mapping[int, Mapping[str, Any]] = {
    60_000: {"table": 12, "levels": 5, "base": 14},
    133_000: {"table": 13, "levels": 6, "base": 18},
    400_000: {"table": 15, "levels": 6, "base": 24},
}
SMALL_OPTIONS: dict[str, Any] = {"finest": 511, "features": 4, "depth": 2}
SMALL_TRAINING: dict[str, Any] = {"lr": 1e-2, "lr_encoding": 2e-2}
NODES: Mapping[int, int] = {60_000: 32, 133_000: 64, 400_000: 64}  # of α, per axis
PARSIMONY = 0.05


def _clock(seconds: int) -> dict[str, Any]:
    return {"budget": float(seconds), "clock": "cpu"}


def minute() -> list[Run]:
    """Every method on eight pictures at three lengths, the grids first."""
    from alfilter.methods import METHODS

    names = (*GRIDS, *(name for name in METHODS if name not in GRIDS))
    return [
        Run(f"{name}, {seconds} s", image, name, training=_clock(seconds))
        for image in IMAGES
        for seconds in SECONDS
        for name in names
    ]


def headline() -> list[Run]:
    """al-grid and hash-grid on sixteen pictures, 5 s each."""
    return [
        Run(f"{name}, {HEADLINE} s", image, name, training=_clock(HEADLINE)) for image in ALL_IMAGES for name in GRIDS
    ]


def equal() -> list[Run]:
    """al-grid and hash-grid at three numbers of parameters, a minute each."""
    rows = []
    for image in IMAGES:
        for params in SIZES:
            for name in GRIDS:
                options = {"grid": NODES[params]} if name == "al-grid" else {}
                training = {"parsimony": PARSIMONY} if name == "al-grid" else {}
                rows.append(
                    Run(f"{name}, {params:,} parameters", image, name,
                        settings={**SMALL_OPTIONS, **SMALL[params], **options},
                        training={**SMALL_TRAINING, **training, **_clock(60)})
                )  # fmt: skip
    return rows


def execute(run: Run, data: str, threads: int = THREADS) -> dict[str, Any]:
    """One fit on two cores, however many runs there are beside it."""
    del threads
    return fit_and_score(run, data, threads=THREADS)


COLUMNS: Mapping[str, Any] = {
    "PSNR, dB": lambda line: line["metrics"]["psnr"],
    "SSIM": lambda line: line["metrics"]["ssim"],
    "steps": lambda line: float(line["steps"]),
    "parameters": lambda line: float(line["params"]),
}


def summarise(lines: Lines) -> str:
    """PSNR and SSIM, mean ± standard deviation over the pictures, steps and parameters."""
    return table(lines, COLUMNS)


STUDY = Study("minute", minute, summarise, execute)
HEADLINE_STUDY = Study("headline", headline, summarise, execute)
EQUAL_STUDY = Study("minute-equal", equal, summarise, execute)
