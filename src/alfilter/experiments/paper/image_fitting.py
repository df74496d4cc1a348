"""The paper's image fitting: its table, its convergence curves, its crops and its maps of α, from one set of runs.

At full scale: 32 pictures of 512×512, 5,000 full-batch steps, three hidden layers of 256. At half scale everything that
counts samples is halved together: native crops of 256×256, 128 neurons, L = 7, B = 17.5, SIREN's ω0 = 15 and MFN's
scale 128; steps, rates, schedule, κ and one α per pixel stay. (The ω0 of al-sine multiplies channels and no
coordinates, so it stays too.) The CPU twin goes to 64×64, 32 neurons and L = 5 and is too small to judge by.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from alfilter.experiments.artifacts import lpips_if_available, observed_mask, thinned_curve, thumbnails
from alfilter.experiments.fitting import fit_line, fit_run, reduced_task
from alfilter.experiments.paper.measurements import detail, kernel_numbers, meaning, structures
from alfilter.experiments.paper.printed import IMAGE_FITTING, beside
from alfilter.experiments.study import Lines, Run, Study, table

METHODS = {"pe-mlp": "pe-mlp", "siren": "siren", "mfn": "mfn-gabor", "diner": "diner", "al-relu": "al-relu",
           "al-sine": "al-sine"}  # fmt: skip
DYADIC = ("pe-mlp", "al-relu", "al-sine")  # rows that have L
IMAGES = tuple(f"div2k/{number:02d}.png" for number in range(3))
SIDE, WIDTH = 64, 32
ALL_IMAGES = tuple(f"div2k/{number:02d}.png" for number in range(32))
HALF_SIDE, HALF_IMAGES = 256, 4
HALVED: dict[str, dict[str, Any]] = {
    "pe-mlp": {"levels": 7},
    "siren": {"omega": 15.0},
    "mfn": {"scale": 128.0},
    "al-relu": {"levels": 7, "bandwidth": 17.5},
    "al-sine": {"levels": 7, "bandwidth": 17.5},
}
FIRST, FIRST_IMAGES = 100, ("div2k/00.png", "div2k/02.png")
UNFILTERED = "al-sine without filter"  # what the kernel of al-sine is compared with: every channel passes everywhere


def runs() -> list[Run]:
    """The CPU twin, picture by picture."""
    return [
        Run(row, image, method, "paper", size=SIDE, settings={"width": WIDTH, **_scaled(row)})
        for image in IMAGES
        for row, method in METHODS.items()
    ] + [Run(f"{row}, L = 8", IMAGES[0], METHODS[row], "paper", size=SIDE, settings={"width": WIDTH}) for row in DYADIC]


def full_runs(images: tuple[str, ...] = ALL_IMAGES) -> list[Run]:
    """The paper's protocol on these pictures, picture by picture, so that a stopped study is a smaller one."""
    return [Run(row, image, method, "paper") for image in images for row, method in METHODS.items()]


def first_runs() -> list[Run]:
    """The first 100 steps of that protocol: rates do not fall before step 1,250, so these are its very beginning."""
    return [replace(run, training={"steps": FIRST}) for run in full_runs(FIRST_IMAGES)]


def half_runs(images: tuple[str, ...] = ALL_IMAGES) -> list[Run]:
    """Everything halved together, on the middle of the first four pictures that are there, picture by picture.

    Each picture ends with the network without the filter, which only the kernel's claims need.
    """
    halved = {row: (method, HALVED.get(row, {})) for row, method in METHODS.items()}
    rows = halved | {UNFILTERED: ("al-sine", {"levels": 7, "bandwidth": 1e4, "grid": 2})}
    return [
        Run(row, f"{image}#crop", method, "paper", size=HALF_SIDE, settings={"width": 128, **settings})
        for image in images[:HALF_IMAGES]
        for row, (method, settings) in rows.items()
    ]


def _scaled(row: str) -> dict[str, Any]:
    if row not in DYADIC:
        return {}
    return {"levels": 5} if row == "pe-mlp" else {"levels": 5, "bandwidth": 12.5}


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit one picture; the line holds scores, the curve step by step at first, and small pictures."""
    from alfilter.evaluate import sample_grid
    from alfilter.metrics.image import psnr

    task = reduced_task(run, data)
    fitted = fit_run(run, task)
    prediction, target = sample_grid(fitted.field, task.signal.shape), task.target()
    scores = task.compare(prediction, target).plain()
    scores["metrics"] = {
        **(scores["metrics"] or {}),
        "psnr_inside": psnr(prediction[1:-1, 1:-1], target[1:-1, 1:-1]),  # without the rim, where γ may repeat itself
        **lpips_if_available(prediction, target, data),
        **(structures(prediction, target, run.observe) if ":" in run.observe else {}),
    }
    return {
        **fit_line(run, fitted),
        **scores,
        "curve": thinned_curve(fitted.result.history),
        "detail": detail(prediction, target),
        **thumbnails(fitted.field, prediction.numpy(), target.numpy(), observed_mask(task)),
        **meaning(fitted.field, target),
        **(kernel_numbers(fitted.field, run.seed) if "#crop" in run.image else {}),
    }


def summarise(lines: Lines) -> str:
    """PSNR, SSIM and LPIPS of every row, the paper's printed value beside ours."""
    return beside(
        lines,
        {
            "psnr": ("PSNR, dB", 2),
            "psnr_inside": ("without the rim, dB", 2),
            "ssim": ("SSIM", 4),
            "lpips": ("LPIPS", 4),
        },
        IMAGE_FITTING,
    )


def summarise_curves(lines: Lines) -> str:
    """PSNR along the way: at step 10, 100, a tenth of the run and its end."""
    last = max(line["steps"] for line in lines)
    steps = sorted({10, 100, last // 10, last})
    return table(lines, {f"step {step:,}, dB": _at(step) for step in steps})


def _at(step: int) -> Any:
    return lambda line: psnr_at(line, step)


def summarise_alpha(lines: Lines) -> str:
    """The range of α and its rank correlation with the picture's local gradient energy."""
    return table(
        [line for line in lines if line.get("alpha")],
        {
            "PSNR, dB": lambda line: line["metrics"]["psnr"],
            "lowest α": lambda line: line["alpha"]["low"],
            "highest α": lambda line: line["alpha"]["high"],
            "channels": lambda line: float(line["alpha"]["channels"]),
            "rank correlation with gradient energy": lambda line: line["alpha"]["structure"],
        },
    )


def summarise_detail(lines: Lines) -> str:
    """Fine detail, beyond a quarter cycle per pixel: how much of its power is kept, and what is not the picture's."""
    return table(
        lines,
        {
            "PSNR, dB": lambda line: line["metrics"]["psnr"],
            "fine detail kept, %": lambda line: 100 * line["detail"]["kept"],
            "artefacts where smooth, levels of 255": lambda line: line["detail"].get("artefacts"),
        },
    )


def psnr_at(line: dict[str, Any], step: int) -> float | None:
    """The PSNR of a line's curve at the last step kept that is not after `step`."""
    reached = [value for at, value in line.get("curve", ()) if at <= step]
    return float(reached[-1]) if reached else None


SHRINKS = (
    "shrinks 32 pictures of 512×512 to 3 of 64×64, 256 neurons to 32, L 8 to 5, B 20 to 12.5; keeps 5,000 full-batch "
    "steps, rates, schedule, ω0, κ, one α per pixel"
)
STUDY = Study(
    "image-fitting", runs, summarise, execute, full=full_runs, half=half_runs, needs=ALL_IMAGES, shrinks=SHRINKS
)
# other views of the same runs
CONVERGENCE = replace(STUDY, summarise=summarise_curves)
CROPS = replace(STUDY, summarise=summarise_detail)
ALPHA_MAPS = replace(STUDY, summarise=summarise_alpha)
FIRST_STEPS = replace(CONVERGENCE, name="first-steps", runs=first_runs, full=None, half=None, shrinks="")
