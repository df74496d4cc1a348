"""Fit a light field from an array with most of its views hidden, and draw one of these."""

from __future__ import annotations

import numpy as np

import alfilter as al
from alfilter.render.media import render_media
from alfilter.render.view import View
from alfilter.runs import fit_task


def scene(views: int = 5, side: int = 48) -> np.ndarray:
    """A disk before a striped wall, (u, v, y, x, 1): the disk moves by two pixels a view, the wall stays."""
    middle = views // 2
    u, v, y, x = np.meshgrid(*(np.arange(n) for n in (views, views, side, side)), indexing="ij")
    distance = np.hypot(y - side / 2 - 2 * (u - middle), x - side / 2 - 2 * (v - middle))
    disk = 1 / (1 + np.exp(distance - side / 5))
    wall = 0.4 + 0.3 * np.sin(x / 3)
    return (disk * 0.9 + (1 - disk) * wall)[..., None]


def main(steps: int = 200, out: str = "view.png") -> float:
    task = al.LightFieldTask.from_array(scene(), observe="views:every:2")  # 3×3 of the 5×5 views
    fitted = fit_task(task, "al-grid", preset="reconstruct", training={"steps": steps})
    scores = task.evaluate(fitted.field)
    assert scores.heldout is not None
    psnr = scores.heldout["psnr"]
    print(f"{scores.metrics['psnr']:.1f} dB on the seen views, {psnr:.1f} dB on the hidden ones")
    print(out, render_media(fitted.field, out, View(view="1,1", scale=4)))  # a hidden view, four times its size
    return psnr


if __name__ == "__main__":
    main()
