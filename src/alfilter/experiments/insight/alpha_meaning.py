"""Does the learned α mean local frequency? Its correlation with the picture's structure, against shifted maps.

Short fits of reduced pictures, to compare settings of α. They judge no claim of the paper: whole fits of native crops
do (the study `alpha-maps` at half scale).
"""

from __future__ import annotations

import math
from typing import Any

from alfilter.experiments.artifacts import MOVED
from alfilter.experiments.fitting import fit_run, reduced_task
from alfilter.experiments.study import Lines, Run, Study, table

IMAGES = tuple(f"div2k/{number:02d}.png" for number in (1, 5, 9, 13))
SIZE, BLOCK = 96, 8
LEVEL = 0.05
RECIPE: dict[str, Any] = {"steps": 600, "batch": 2048}
ENDS = {"placement": "ends"}
NARROW = {"unit": "axis", "bandwidth": 8.0, "grid": 16, "start": 0.0}

ROWS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "al-sine, paper": ("al-sine", {}, {}),
    "al-relu, paper": ("al-relu", {}, {}),
    "al-sine, paper, axis unit": ("al-sine", {"unit": "axis"}, {}),
    "al-relu, paper, axis unit": ("al-relu", {"unit": "axis"}, {}),
    "al-relu, axis unit, 16² nodes": ("al-relu", {"unit": "axis", "grid": 16}, {}),
    "al-sine, narrow: B 8, 16² nodes, start 0": ("al-sine", NARROW, {}),
    "al-relu, narrow: B 8, 16² nodes, start 0": ("al-relu", NARROW, {}),
}
GRID = "al-grid"  # the same filter on the levels of a learned grid, preset `default`


def runs() -> list[Run]:
    """Every row on four pictures reduced to 96×96."""
    channels = [
        Run(row, image, method, "paper", size=SIZE, settings={**ENDS, **settings}, training={**RECIPE, **training})
        for row, (method, settings, training) in ROWS.items()
        for image in IMAGES
    ]
    return channels + [Run(GRID, image, "al-grid", size=SIZE, training=RECIPE) for image in IMAGES]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit a picture, and compare α with the picture block by block; α that did not move has no correlation."""
    from alfilter.analysis import alpha_map
    from alfilter.analysis.structure import block_means, gradient_energy, shift_test, spectral_centroid

    task = reduced_task(run, data)
    field = fit_run(run, task).field
    encoding: Any = field.encoding
    gray = task.target().mean(-1)
    alpha = alpha_map(encoding, tuple(gray.shape))
    blocks, moved = block_means(alpha, BLOCK), float(alpha.std()) >= MOVED
    metrics: dict[str, float] = {"psnr_fit": float(task.evaluate(field).metrics["psnr"])}
    for name, structure in (
        ("gradient", block_means(gradient_energy(gray), BLOCK)),
        ("centroid", spectral_centroid(gray, BLOCK)),
        ("brightness", block_means(gray, BLOCK)),
    ):
        rho, p, _ = shift_test(blocks, structure)
        metrics[name], metrics[f"p_{name}"] = (rho, p) if moved else (math.nan, math.nan)
    metrics["alpha_spread"] = float(alpha.std())
    metrics["alpha_moved"] = float((alpha - _start(run, encoding)).abs().mean())
    shown = {"alpha": _rounded(alpha), "picture": _rounded(gray)} if run.image == IMAGES[0] else {}
    return {**run.heading, "metrics": metrics, "heldout": None,
            "maps": shown}  # fmt: skip


def _start(run: Run, encoding: Any) -> float:
    """Where α began: by the run, in the middle of the channels, or with all levels open."""
    usual = encoding.levels if run.group == GRID else 16.0
    return float(run.settings.get("start", usual))


def _rounded(values: Any) -> list[list[float]]:
    return [[round(v, 3) for v in row] for row in values.tolist()]


def _cell(name: str) -> Any:
    return lambda line: line["metrics"][name] if math.isfinite(line["metrics"][name]) else None


def summarise(lines: Lines) -> str:
    """Correlations, and how many are significant."""
    groups = list(dict.fromkeys(line["group"] for line in lines))
    text = [
        table(
            lines,
            {
                "PSNR, dB": _cell("psnr_fit"),
                "α moved, channels or levels": _cell("alpha_moved"),
                "ρ with gradient energy": _cell("gradient"),
                "ρ with spectral centroid": _cell("centroid"),
                "ρ with brightness": _cell("brightness"),
            },
        ),
        "",
        f"| setting | significant (p ≤ {LEVEL}) and positive: gradient | centroid | either sign: gradient | centroid |",
        "|---|---|---|---|---|",
    ]
    for group in groups:
        members = [line["metrics"] for line in lines if line["group"] == group]
        cells = [
            f"{sum(_significant(m, name) and (either or m[name] > 0) for m in members)} of {len(members)}"
            for either in (False, True)
            for name in ("gradient", "centroid")
        ]
        text.append("| " + " | ".join([group, *cells]) + " |")
    return "\n".join(text)


def _significant(metrics: dict[str, float], name: str) -> bool:
    return math.isfinite(metrics[name]) and metrics[f"p_{name}"] <= LEVEL


STUDY = Study("alpha-meaning", runs, summarise, execute)
