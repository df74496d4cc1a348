"""Fit a picture, then draw what the filter lets pass at every place."""

from __future__ import annotations

from pathlib import Path

import torch

import alfilter as al
from alfilter.analysis import response_maps
from alfilter.report import alpha_figure, scale_response_figure
from alfilter.signals import GridSignal, sample


def main(steps: int = 300, folder: str = ".") -> float:
    face = sample("astronaut").data[:128, 160:288].copy()
    task = al.ImageTask(GridSignal(face))
    field = al.build("al-grid", in_dim=2, out_dim=3, preset="default", samples=task.samples)
    al.fit(field, task, steps=steps)
    with torch.no_grad():
        cycles = al.local_frequency(field, task.signal.coords().view(128, 128, 2)) / 128  # per pixel
    Path(folder, "alpha.png").write_bytes(alpha_figure(cycles.numpy(), "cycles per pixel"))
    levels = field.encoding.level_frequencies() / 128
    maps = response_maps(field.encoding, (128, 128)).numpy()
    Path(folder, "scales.png").write_bytes(scale_response_figure(maps, levels.numpy(), "cycles per pixel"))
    psnr = task.evaluate(field).metrics["psnr"]
    print(f"{psnr:.1f} dB; cut-offs from {cycles.min():.3f} to {cycles.max():.3f} cycles per pixel")
    return psnr


if __name__ == "__main__":
    main()
