"""The paper's overview of the method, from the numbers of a small fit: x → γ, α(x) → H_B, γ' → network → picture."""

from __future__ import annotations

from typing import Any

from alfilter.experiments.artifacts import png
from alfilter.experiments.fitting import cropped_task, fit_run
from alfilter.experiments.study import Lines, Run, Study, table

SIDE = 128
PLACES = ("smooth", "detailed")


def runs() -> list[Run]:
    """One crop, fitted in seconds, with a band and a grid on which α moves."""
    settings = {"width": 64, "levels": 6, "bandwidth": 12.0, "grid": 16, "start": 4.0, "unit": "axis"}
    return [Run("al-sine", "div2k/03.png", "al-sine", "paper", SIDE, settings=settings, training={"steps": 150})]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Fit, and take the stages of the method apart at a smooth and at a detailed place."""
    import torch

    from alfilter.analysis import alpha_map
    from alfilter.analysis.structure import block_means, gradient_energy
    from alfilter.core import band_response, dyadic_encoding
    from alfilter.encodings import FilteredFourier
    from alfilter.evaluate import sample_grid
    from alfilter.signals import grid_coords

    task = cropped_task(run, data)
    field = fit_run(run, task).field
    encoding, shape = field.encoding, task.signal.shape
    assert isinstance(encoding, FilteredFourier)
    prediction, target = sample_grid(field, shape), task.target()
    energy = block_means(gradient_energy(target.mean(-1)), 8)
    stages: dict[str, Any] = {}
    for name, block in zip(PLACES, (int(energy.argmin()), int(energy.argmax())), strict=True):
        row, column = 8 * (block // energy.shape[1]) + 4, 8 * (block % energy.shape[1]) + 4
        x = grid_coords(shape, torch.tensor([row * shape[1] + column]))
        with torch.no_grad():
            alpha = encoding.alpha(x)
            gamma = dyadic_encoding(encoding.placement.inside(x), encoding.levels)[0]
            response = band_response(alpha, len(gamma), encoding.bandwidth, encoding.kappa)[0]
        stages[name] = {"place": [row, column], "alpha": float(alpha[0]), "gamma": gamma.tolist(),
                        "response": response.tolist()}  # fmt: skip
    alpha = alpha_map(encoding, shape)
    scores = task.compare(prediction, target).plain()
    pictures = {"reference": png(target.numpy()), "reconstruction": png(prediction.numpy())}
    return {**run.heading, **scores, "stages": stages, "pictures": pictures,
            "map": [[round(v, 3) for v in line] for line in alpha.tolist()]}  # fmt: skip


def summarise(lines: Lines) -> str:
    """PSNR, and α at both places."""
    columns: dict[str, Any] = {"PSNR, dB": lambda line: line["metrics"]["psnr"]}
    columns |= {f"α, {place}": (lambda line, at=place: line["stages"][at]["alpha"]) for place in PLACES}
    return table(lines, columns)


STUDY = Study("overview", runs, summarise, execute)
