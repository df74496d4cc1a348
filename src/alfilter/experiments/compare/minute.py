"""Every method at 512×512 after 10, 30 and 60 s on two cores, and at equal sizes.

Presets `default` as they are. A second is one of processor time per core, so that other programs on the machine do not
affect a method. Picture by picture, so that a table of the first pictures is already a fair one.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from alfilter.experiments.study import Lines, Run, Study, table

IMAGES = tuple(f"div2k/{number:02d}.png" for number in range(8))
ALL_IMAGES = tuple(f"div2k/{number:02d}.png" for number in range(16))
SECONDS = (10, 30, 60)
PRINTED = 46.27  # dB, of the paper's method after 5,000 steps over all pixels of 32 such pictures
WITHIN = 15  # seconds that a run up to there may take
SIZES = (60_000, 133_000, 400_000)
GRIDS = ("al-grid", "hash-grid")
THREADS = 2  # of a run, however many there are side by side


def _clock(seconds: int) -> dict[str, Any]:
    return {"budget": float(seconds), "clock": "cpu"}


def minute() -> list[Run]:
    """Every method on eight pictures at three lengths, picture by picture, the longest first."""
    from alfilter.methods import METHODS

    return [
        Run(name, image, name, training=_clock(seconds))
        for image in IMAGES
        for seconds in reversed(SECONDS)
        for name in METHODS
    ]


def headline() -> list[Run]:
    """al-grid and hash-grid on sixteen pictures: up to the paper's PSNR, and at three lengths."""
    reached = [
        Run(f"{name}, until {PRINTED} dB", image, name, training={"until": PRINTED, **_clock(WITHIN)})
        for image in ALL_IMAGES
        for name in GRIDS
    ]
    return reached + [
        Run(f"{name}, {seconds} s", image, name, training=_clock(seconds))
        for seconds in SECONDS
        for image in ALL_IMAGES
        for name in GRIDS
    ]


def equal() -> list[Run]:
    """al-grid and hash-grid at three numbers of parameters, a minute each, as `equal-search` found them."""
    from alfilter.experiments.tuning.equal_sizes import found

    rows = []
    for image in IMAGES:
        for params in SIZES:
            for name in GRIDS:
                options, training = found(name, params)
                group = f"{name}, {params:,} parameters"
                rows.append(Run(group, image, name, settings=options, training={**training, **_clock(60)}))
    return rows


COLUMNS: Mapping[str, Any] = {
    "PSNR, dB": lambda line: line["metrics"]["psnr"],
    "SSIM": lambda line: line["metrics"]["ssim"],
    "seconds": lambda line: float(line["seconds"]),
    "steps": lambda line: float(line["steps"]),
    "parameters": lambda line: float(line["params"]),
}


def summarise_minute(lines: Lines) -> str:
    """PSNR after every length, mean ± standard deviation over the pictures; ranked by the longest that all have."""
    scores: dict[tuple[str, float], list[float]] = {}
    for line in lines:
        scores.setdefault((line["group"], line["training"]["budget"]), []).append(line["metrics"]["psnr"])
    groups = {line["group"] for line in lines}
    shared = [seconds for seconds in SECONDS if all((group, seconds) in scores for group in groups)]
    ranked = sorted(lines, key=lambda line: -fmean(scores[line["group"], shared[-1]]) if shared else 0.0)
    columns: dict[str, Any] = {f"{seconds} s, dB": _after(seconds) for seconds in SECONDS}
    return table(ranked, {**columns, "parameters": COLUMNS["parameters"]})


def _after(seconds: int) -> Any:
    return lambda line: line["metrics"]["psnr"] if line["training"]["budget"] == seconds else None


def summarise(lines: Lines) -> str:
    """PSNR and SSIM, mean ± standard deviation over the pictures, steps and parameters."""
    return table(lines, COLUMNS)


def summarise_pair(lines: Lines) -> str:
    """The same, and al-grid against hash-grid picture by picture."""
    return f"{summarise(lines)}\n\n{differences(lines)}"


def differences(lines: Lines) -> str:
    """PSNR of al-grid minus that of hash-grid on the same picture in the same time or size: mean and range.

    >>> pair = [{"group": f"{name}, 10 s", "image": "a.png", "metrics": {"psnr": value}}
    ...         for name, value in (("al-grid", 61.5), ("hash-grid", 60.0))]
    >>> differences(pair)
    'al-grid minus hash-grid on the same picture, dB: 10 s +1.50 (+1.50 … +1.50, n = 1)'
    """
    by_key = {(*line["group"].split(", ", 1), line["image"]): line["metrics"]["psnr"] for line in lines}
    gaps: dict[str, list[float]] = {}
    for (name, condition, image), value in by_key.items():
        paired = ("hash-grid", condition, image) in by_key and not condition.startswith("until")
        if name == "al-grid" and paired:
            gaps.setdefault(condition, []).append(value - by_key["hash-grid", condition, image])
    texts = [
        f"{condition} {fmean(each):+.2f} ({min(each):+.2f} … {max(each):+.2f}, n = {len(each)})"
        for condition, each in gaps.items()
    ]
    return f"al-grid minus hash-grid on the same picture, dB: {'; '.join(texts)}"


STUDY = Study("minute", minute, summarise_minute, threads=THREADS)
HEADLINE_STUDY = Study("headline", headline, summarise_pair, threads=THREADS)
EQUAL_STUDY = Study("minute-equal", equal, summarise_pair, threads=THREADS)
