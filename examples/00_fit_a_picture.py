"""Fit a picture from Python, look at the numbers, draw it at twice its size."""

from __future__ import annotations

import sys

import alfilter as al
from alfilter.render.image import render_file
from alfilter.render.view import View


def main(picture: str = "sample:astronaut", steps: int = 200, out: str = "astronaut-2x.png") -> float:
    task = al.ImageTask.from_file(picture)
    field = al.build("al-sine", in_dim=2, out_dim=task.out_dim, preset="default", samples=task.samples)
    result = al.fit(field, task, steps=steps)
    scores = task.evaluate(field).metrics
    print(f"{result.steps} steps in {result.seconds:.1f} s: {scores['psnr']:.2f} dB")
    render_file(field, out, View(scale=2))
    return scores["psnr"]


if __name__ == "__main__":
    main(*sys.argv[1:2])
