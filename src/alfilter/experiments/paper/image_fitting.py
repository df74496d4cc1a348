"""The paper's image fitting: its table, its convergence curves, its crops and its maps of α, from one set of runs.

At full scale: 32 pictures of 512×512, 5,000 full-batch steps, three hidden layers of 256. The CPU twin keeps the 5,000
full-batch steps, the rates, the schedule, ω0, κ and one α per pixel, and shrinks what is counted in samples together:
whole pictures reduced by area to 64×64; 32 neurons instead of 256, so that the parameters per pixel stay near the
paper's; L = 5 and B = 12.5 instead of 8 and 20, so that the finest scale stays at a quarter cycle per pixel and the
band keeps its share of the channels. Three rows keep L = 8 and B = 20 as printed, to show what that rule does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from alfilter.experiments.artifacts import lpips_if_available, observed_mask, thinned_curve, thumbnails
from alfilter.experiments.fitting import fit_line, fit_run, reduced_task
from alfilter.experiments.paper.detail import detail_kept, fine_share_of_error
from alfilter.experiments.paper.printed import IMAGE_FITTING, beside
from alfilter.experiments.study import Lines, Run, Study, table

METHODS = {"pe-mlp": "pe-mlp", "siren": "siren", "mfn": "mfn-gabor", "diner": "diner", "al-relu": "al-relu",
           "al-sine": "al-sine"}  # fmt: skip
DYADIC = ("pe-mlp", "al-relu", "al-sine")  # rows that have L
IMAGES = tuple(f"div2k/{number:02d}.png" for number in range(3))
SIDE, WIDTH = 64, 32
ALL_IMAGES = tuple(f"div2k/{number:02d}.png" for number in range(32))


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


def _scaled(row: str) -> dict[str, Any]:
    if row not in DYADIC:
        return {}
    return {"levels": 5} if row == "pe-mlp" else {"levels": 5, "bandwidth": 12.5}


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit one picture; the line holds scores, the curve step by step at first, and small pictures."""
    import torch

    from alfilter.evaluate import sample_grid

    torch.set_num_threads(threads)
    task = reduced_task(run, data)
    fitted = fit_run(run, task)
    prediction, target = sample_grid(fitted.field, task.signal.shape), task.target()
    scores = task.compare(prediction, target).plain()
    scores["metrics"] = {**(scores["metrics"] or {}), **lpips_if_available(prediction, target, data)}
    return {
        **fit_line(run, fitted),
        **scores,
        "curve": thinned_curve(fitted.result.history),
        **thumbnails(fitted.field, prediction.numpy(), target.numpy(), observed_mask(task)),
    }


def summarise(lines: Lines) -> str:
    """PSNR, SSIM and LPIPS of every row, the paper's printed value beside ours."""
    return beside(lines, {"psnr": ("PSNR, dB", 2), "ssim": ("SSIM", 4), "lpips": ("LPIPS", 4)}, IMAGE_FITTING)


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
    """Fine detail, beyond a quarter cycle per pixel: how much of its power is kept, and its share of the error."""
    return table(
        lines,
        {
            "PSNR, dB": lambda line: line["metrics"]["psnr"],
            "fine detail kept, %": lambda line: _percent(detail_kept(line)),
            "fine share of the error, %": lambda line: _percent(fine_share_of_error(line)),
        },
    )


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def psnr_at(line: dict[str, Any], step: int) -> float | None:
    """The PSNR of a line's curve at the last step kept that is not after `step`."""
    reached = [value for at, value in line.get("curve", ()) if at <= step]
    return float(reached[-1]) if reached else None


SHRINKS = (
    "shrinks 32 pictures of 512×512 to 3 of 64×64, 256 neurons to 32, L 8 to 5, B 20 to 12.5; keeps 5,000 full-batch "
    "steps, rates, schedule, ω0, κ, one α per pixel"
)
STUDY = Study("image-fitting", runs, summarise, execute, full=full_runs, needs=ALL_IMAGES, shrinks=SHRINKS)
# other views of the same runs
CONVERGENCE = replace(STUDY, summarise=summarise_curves)
CROPS = replace(STUDY, summarise=summarise_detail)
ALPHA_MAPS = replace(STUDY, summarise=summarise_alpha)
