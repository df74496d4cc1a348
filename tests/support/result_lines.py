"""Result lines as a study writes them, made without training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from alfilter.experiments.artifacts import alpha_structure, png

SIDE = 24


def scene(seed: int = 0) -> Any:
    """A picture (24, 24, 3): smooth above, stripes below."""
    rng = np.random.default_rng(seed)
    picture = np.repeat(np.linspace(0.2, 0.8, SIDE)[:, None, None], SIDE, axis=1) * np.ones(3)
    picture[SIDE // 2 :, ::2] *= 0.4
    return np.clip(picture + 0.02 * rng.standard_normal(picture.shape), 0, 1)


def line(
    group: str,
    image: str = "div2k/00.png",
    psnr: float = 30.0,
    *,
    alpha: bool = False,
    observe: str = "all",
    noise: float = 0.02,
    seed: int = 0,
    **more: Any,
) -> dict[str, Any]:
    """A line of a setting whose reconstruction is the scene with some noise."""
    truth = scene()
    shown = np.clip(truth + noise * np.random.default_rng(1).standard_normal(truth.shape), 0, 1)
    pictures = {"reference": png(truth), "reconstruction": png(shown)}
    entry: dict[str, Any] = {
        "group": group, "image": image, "method": group.split(",")[0], "observe": observe, "size": SIDE, "seed": seed,
        "name": json.dumps([group, image, observe, seed]), "version": "0.1.0", "steps": 200, "seconds": 1.5,
        "params": 1000, "metrics": {"psnr": psnr, "ssim": 0.9, "lpips": 0.01}, "heldout": None,
        "detail": {"kept": psnr / 40, "artefacts": 40 - psnr}, "peak_memory": 1 << 28,
        "curve": [[step, psnr - 10 + step / 20] for step in range(1, 201)], "pictures": pictures,
    }  # fmt: skip
    if observe != "all":
        mask = np.random.default_rng(2).random((SIDE, SIDE, 1)) < 0.35
        pictures["observed"] = png(np.where(mask, truth, 0.0))
        entry["heldout"] = {"psnr": psnr - 5}
    if alpha:
        field = np.zeros((SIDE, SIDE))
        field[SIDE // 2 :] = 1.0
        pictures["alpha"] = png(field)
        entry["alpha"] = {"low": 4.0, "high": 20.0, "spread": 0.5, "channels": 24, "bandwidth": 15.0,
                         "structure": alpha_structure(field, truth)}  # fmt: skip
        entry["meaning"] = {"gradient": 0.8, "p_gradient": 0.01, "centroid": 0.5, "p_centroid": 0.02}
    return {**entry, **more}


def fitting_lines() -> list[dict[str, Any]]:
    """All six rows of the image fitting on two pictures, al-sine ahead."""
    quality = {"pe-mlp": 25.0, "siren": 28.0, "mfn": 30.0, "diner": 31.0, "al-relu": 33.0, "al-sine": 40.0}
    return [
        line(row, image, psnr + k, alpha=row.startswith("al-"), noise=10 ** (-psnr / 20),
             metrics={"psnr": psnr + k, "ssim": psnr / 50, "lpips": 1 / psnr})
        for k, image in enumerate(("div2k/00.png", "div2k/01.png"))
        for row, psnr in quality.items()
    ]  # fmt: skip


def written(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    """The lines in a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path
