"""Local frequency on a learned grid: does α mean it, what does its price cost, and what do levels of detail score?

Fits of whole pictures with a fixed number of steps. For every one: PSNR; Spearman's ρ of the cut-off `local_frequency`
with the picture's local band over blocks of 8×8, and the chance of as much under shifts; PSNR against area means at
1/2, 1/4 and 1/8 of the field with α capped there, one place per pixel, and of its mean over a pixel's samples, which is
what `render` draws of a field that did not learn area means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from alfilter.experiments.fitting import cropped_task, fit_line, fit_run
from alfilter.experiments.study import Lines, Run, Study, table

if TYPE_CHECKING:
    from torch import Tensor

    from alfilter.evaluate import Evaluate

IMAGES = tuple(f"div2k/{number:02d}.png" for number in range(16))
TUNING_IMAGES = ("kodak/kodim05.png", "kodak/kodim08.png")  # in no other table
BLOCK = 8
STEPS = 1000

ROWS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "al-grid": ("default", {}, {}),
    "al-grid, no price (λ = 0)": ("default", {}, {"parsimony": 0.0}),
    "al-grid, levels of detail": ("detail", {}, {}),
}
# one change at a time to `default`; "hash-grid": the same grid without the filter
CHANGES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "default": ("al-grid", {}, {}),
    "no filter (hash-grid)": ("hash-grid", {}, {}),
    "λ = 0": ("al-grid", {}, {"parsimony": 0.0}),
    "λ = 0.1": ("al-grid", {}, {"parsimony": 0.1}),
    "λ = 0.5": ("al-grid", {}, {"parsimony": 0.5}),
    "λ = 1.5": ("al-grid", {}, {"parsimony": 1.5}),
    "α descends the error itself": ("al-grid", {}, {"filter_loss": "error"}),
    "the same, moves at 0.25, λ = 0.02": ("al-grid", {"rate": 0.25}, {"filter_loss": "error", "parsimony": 0.02}),
    "TV of α 1e-5 (mean)": ("al-grid", {}, {"tv": 1e-5, "tv_reduction": "mean"}),
    "start closed (α = 1)": ("al-grid", {"start": 1.0}, {}),
    "κ = 1": ("al-grid", {"kappa": 1.0}, {}),
    "κ = 4": ("al-grid", {"kappa": 4.0}, {}),
    "α moves at 0.05": ("al-grid", {"rate": 0.05}, {}),
    "α moves at 0.25": ("al-grid", {"rate": 0.25}, {}),
    "α never settles": ("al-grid", {}, {"settle": 1.0}),
    "no taper": ("al-grid", {"taper": 1.0}, {}),
    "taper 0.5": ("al-grid", {"taper": 0.5}, {}),
    "last rate a hundredth": ("al-grid", {}, {"decay": 0.01}),
    "32² nodes of α": ("al-grid", {"grid": 32}, {}),
    "nodes not on the samples": ("al-grid", {"aligned": False}, {}),
    "2 features": ("al-grid", {"features": 2}, {}),
    "16 levels of 2 features": ("al-grid", {"levels": 16, "features": 2}, {}),
    "two hidden layers": ("al-grid", {"depth": 2}, {}),
    "width 32": ("al-grid", {"width": 32}, {}),
    "width 128": ("al-grid", {"width": 128}, {}),
    "sine network, ω0 = 5": ("al-grid", {"activation": "sine", "omega": 5.0}, {}),
    "sine network, ω0 = 5, no filter": ("hash-grid", {"activation": "sine", "omega": 5.0}, {}),
    "β₂ = 0.95": ("al-grid", {}, {"beta2": 0.95}),
    "rates doubled": ("al-grid", {}, {"lr": 1e-2, "lr_encoding": 4e-2}),
    "rates halved": ("al-grid", {}, {"lr": 2.5e-3, "lr_encoding": 1e-2}),
    "detail 0.2": ("al-grid", {}, {"detail": 0.2}),
    "detail 0.5": ("al-grid", {}, {"detail": 0.5}),
    "detail 1": ("al-grid", {}, {"detail": 1.0}),
}


def runs() -> list[Run]:
    """`default`, without the price, and with levels of detail, picture by picture."""
    return [
        Run(row, image, "al-grid", preset, settings=settings, training={"steps": STEPS, **training})
        for image in IMAGES
        for row, (preset, settings, training) in ROWS.items()
    ]


def changes() -> list[Run]:
    """One change at a time, on two pictures that are in no other table."""
    return [
        Run(row, image, method, size=512, settings=settings, training={"steps": STEPS, "clock": "cpu", **training})
        for image in TUNING_IMAGES
        for row, (method, settings, training) in CHANGES.items()
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit a picture; compare its cut-offs with its local band, and its coarse renders with its area means."""
    import torch

    from alfilter.analysis.structure import block_means, local_band, shift_test
    from alfilter.encodings.filtered import FilteredEncoding
    from alfilter.metrics.image import psnr
    from alfilter.tasks.pyramid import area_mean

    task = cropped_task(run, data)
    fitted = fit_run(run, task)
    field, metrics = fitted.field, dict(task.evaluate(fitted.field).metrics)
    if isinstance(field.encoding, FilteredEncoding):
        truth = task.target()
        places = task.signal.coords().view(*task.signal.shape, 2)
        with torch.no_grad():
            cut_off = block_means(field.encoding.local_frequency(places).log(), BLOCK)
            metrics["rho"], metrics["p"], _ = shift_test(cut_off, local_band(truth.mean(-1), BLOCK))
            for share in (2, 4, 8):
                truth, places = area_mean(truth), area_mean(places)
                metrics[f"psnr_{share}"] = psnr(field.limited(places, torch.tensor(max(truth.shape[:2]) / 2)), truth)
                metrics[f"mean_{share}"] = psnr(pixel_means(field, task.signal.shape, share), truth)
    return {**fit_line(run, fitted), "metrics": metrics, "heldout": None}


def pixel_means(field: Evaluate, shape: tuple[int, ...], share: int) -> Tensor:
    """A field's means over pixels of `share` samples along each axis: (n_1 // share, ..., n_d // share, c).

    They are the pixels of `area_mean`: a ragged rim, with fewer samples, is in none of them.

    >>> pixel_means(lambda x: x, (5,), 2).flatten().tolist()
    [-0.75, 0.25]
    """
    from alfilter.evaluate import pixel_axis, sample_pixels

    return sample_pixels(field, [pixel_axis(n // share, 0, n // share * share - 1, n) for n in shape])


def _metric(name: str) -> Any:
    return lambda line: line["metrics"].get(name)


COLUMNS: Mapping[str, Any] = {
    "PSNR, dB": _metric("psnr"),
    "ρ with the local band": _metric("rho"),
    **{f"capped at 1/{share}, dB": _metric(f"psnr_{share}") for share in (2, 4, 8)},
    **{f"mean at 1/{share}, dB": _metric(f"mean_{share}") for share in (2, 4, 8)},
    "parameters": lambda line: float(line["params"]),
}


def summarise(lines: Lines) -> str:
    """Means ± standard deviation over the pictures, and the least likely of the correlations."""
    chances = [line["metrics"]["p"] for line in lines if "p" in line["metrics"]]
    worst = f"\n\nGreatest p by shifts of {len(chances)} maps: {max(chances):.4f}" if chances else ""
    return table(lines, COLUMNS) + worst


STUDY = Study("local-frequency", runs, summarise, execute)
CHANGES_STUDY = Study("grids", changes, summarise, execute)
