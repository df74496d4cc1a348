"""Every method on the same pictures: at its own size, and all of them at one number of parameters.

Each picture is fitted twice, from all its pixels and from every other one along each axis, in steps of as many samples
as the latter has, so that a step costs the same in both. Settings are those the study
`tuning` found: the presets `default`, except for the three methods whose `default` another search governs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from alfilter.experiments.study import Lines, Run, Study, heldout_psnr, seen_psnr, table
from alfilter.experiments.tuning.methods import SEARCHES

IMAGES = [f"div2k/{number:02d}.png" for number in range(4)]
SIZE = 96
STEPS = 500
BATCH = 2304  # all that is seen of every:2, a quarter of all pixels
PARAMS = 60_000
SEEN = ("every:2", "all")
# What the sizing option cannot do alone: more rows than the octree has nodes are no parameters, and the layers of the
# filter bank are too many already.
SIZING: dict[str, dict[str, Any]] = {"octree": {"features": 16}, "filter-bank": {"width": 48}}


def declare(params: int | None = None) -> list[Run]:
    """One run per method, picture and observation; with `params`, every method sized to it, and of `every:2` alone."""
    from alfilter.methods import method
    from alfilter.methods.tuned import SMALL

    rows = []
    for observe in SEEN[:1] if params else SEEN:
        for image in IMAGES:
            for name in SEARCHES:
                options, recipe = SMALL[name]
                sizing = {"params": params, **SIZING.get(name, {})} if params else {}
                if params:  # which decides one of them
                    options = {key: value for key, value in options.items() if key != method(name).size_by}
                common = {"steps": STEPS, "batch": BATCH, "micro": 4096, "clock": "cpu"}
                rows.append(Run(name, image, method=name, preset="default", size=SIZE, observe=observe,
                                settings={**options, **sizing}, training={**recipe, **common}))  # fmt: skip
    return rows


def _of(observe: str, read: Any) -> Any:
    """A column of the fits from these pixels."""
    return lambda line: read(line) if line["observe"] == observe else None


COLUMNS: Mapping[str, Any] = {
    "seen of every:2, dB": lambda line: seen_psnr(line, "every:2"),
    "held out, dB": heldout_psnr,
    "SSIM of both": _of("every:2", lambda line: line["metrics"]["ssim"]),
    "from all pixels, dB": lambda line: seen_psnr(line, "all"),
    "SSIM": _of("all", lambda line: line["metrics"]["ssim"]),
    "core-seconds": lambda line: float(line["seconds"]),
    "parameters": _of("every:2", lambda line: float(line["params"])),
}


def summarise(lines: Lines) -> str:
    """Scores, seconds of one core and parameters, mean ± standard deviation over the pictures."""
    return table(lines, COLUMNS)


STUDY = Study("methods-table", declare, summarise, threads=1)
EQUAL = Study("methods-equal", lambda: declare(PARAMS), summarise, threads=1)
