"""Where should γ see the samples: ends on ±1, pixel centres, or [0, 1]? At powers of two, with L scaled.

γ has the period 2, so with ends on ±1 opposite borders coincide. The paper does not say what its coordinates are; the
recipe is the paper's but for the number of steps, over which the rates fall as printed. SIREN, which sees the
coordinates themselves, is there for comparison.
"""

from __future__ import annotations

from typing import Any

from alfilter.experiments.fitting import cropped_task, fit_line, fit_run
from alfilter.experiments.study import Lines, Run, Study, table

IMAGES = ("div2k/01.png", "div2k/05.png")  # not those of the published figures
METHODS = ("pe-mlp", "al-relu", "al-sine")
PLACEMENTS = ("ends", "centres", "unit")
# side → L, steps; 64 neurons
SIZES = {64: (5, 1000), 128: (6, 400)}


def runs() -> list[Run]:
    """Every method with every placement on two crops of two sizes, and SIREN."""
    declared = []
    for side, (levels, steps) in SIZES.items():
        training = {"steps": steps, "every": steps // 4}
        for image in IMAGES:
            for method in METHODS:
                band = {} if method == "pe-mlp" else {"bandwidth": 2.5 * levels}
                for where in PLACEMENTS:
                    settings = {"width": 64, "levels": levels, "placement": where, **band}
                    group = f"{method}, {where}, {side}²"
                    declared.append(Run(group, image, method, "paper", side, settings=settings, training=training))
            siren = {"width": 64, "omega": 30 * side / 512}
            declared.append(Run(f"siren, {side}²", image, "siren", "paper", side, settings=siren, training=training))
    return declared


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit one crop, and score it with and without its rim."""
    from alfilter.evaluate import sample_grid
    from alfilter.metrics.image import psnr

    task = cropped_task(run, data)
    fitted = fit_run(run, task)
    prediction, target = sample_grid(fitted.field, task.signal.shape), task.target()
    early = [line["psnr"] for line in fitted.result.history if line["step"] == 100]
    metrics = {
        "psnr": psnr(prediction, target),
        "psnr_inside": psnr(prediction[1:-1, 1:-1], target[1:-1, 1:-1]),
        **({"psnr_100": early[0]} if early else {}),
    }
    return {**fit_line(run, fitted), "metrics": metrics, "heldout": None}


def summarise(lines: Lines) -> str:
    """PSNR at step 100 and at the end, with and without a rim of one pixel."""
    return table(
        lines,
        {
            "step 100, dB": lambda line: line["metrics"].get("psnr_100"),
            "end, dB": lambda line: line["metrics"]["psnr"],
            "without the rim, dB": lambda line: line["metrics"]["psnr_inside"],
        },
    )


STUDY = Study("borders", runs, summarise, execute)
