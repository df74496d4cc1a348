"""Fit a picture, then draw what the filter lets pass at every place."""

from __future__ import annotations

from pathlib import Path

import alfilter as al
from alfilter.analysis import alpha_map, response_maps
from alfilter.report import alpha_figure, scale_response_figure
from alfilter.signals import GridSignal, sample


def main(steps: int = 300, folder: str = ".") -> float:
    face = sample("astronaut").data[:128, 160:288].copy()
    task = al.ImageTask(GridSignal(face))
    field = al.build("al-sine", in_dim=2, out_dim=3, preset="paper", samples=task.samples)
    al.fit(field, task, steps=steps)
    encoding = field.encoding
    alpha = alpha_map(encoding, (128, 128)).numpy()
    picture = alpha_figure(alpha, 2, encoding.levels, encoding.bandwidth, (128, 128))
    Path(folder, "alpha.png").write_bytes(picture)
    Path(folder, "scales.png").write_bytes(scale_response_figure(response_maps(encoding, (128, 128)).numpy()))
    psnr = task.evaluate(field).metrics["psnr"]
    print(f"{psnr:.1f} dB; α from {alpha.min():.1f} to {alpha.max():.1f} channels of {2 * 2 * encoding.levels}")
    return psnr


if __name__ == "__main__":
    main()
