"""Fine detail of a reconstruction: how much of the truth's it keeps, and how much it adds where the truth is smooth."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from alfilter.analysis.structure import gradient_energy

SMOOTH = 0.5  # the share of the picture that counts as smooth: where the gradient energy around a pixel is lowest
AROUND = 9  # pixels per side, over which it is averaged


def detail(prediction: Any, target: Any) -> dict[str, float]:
    """kept: power beyond a quarter cycle per pixel, relative to the truth's. added: what there is more of it where the
    truth is smooth, as a root mean square in levels of 255; negative where there is less.

    prediction, target: (H, W, c) in [0, 1]. Adding to smooth places is what an artefact does; an error that is fine
    may as well be detail that is missing.
    """
    ours, truth = (np.clip(np.asarray(each, np.float64), 0, 1).mean(-1) for each in (prediction, target))
    fine_ours, fine_truth = fine_part(ours) ** 2, fine_part(truth) ** 2
    smooth = smooth_places(truth)
    more = float(fine_ours[smooth].mean() - fine_truth[smooth].mean())
    return {
        "kept": float(fine_ours.sum() / max(fine_truth.sum(), 1e-30)),
        "added": float(255 * np.sign(more) * np.sqrt(abs(more))),
    }


def fine_part(picture: Any) -> Any:
    """The part of a picture (H, W) beyond a quarter cycle per pixel; reflected at its borders, which are no edges."""
    height, width = picture.shape
    mirrored = np.concatenate((picture, picture[::-1]), 0)
    mirrored = np.concatenate((mirrored, mirrored[:, ::-1]), 1)
    radius = np.hypot(*np.meshgrid(*(np.fft.fftfreq(n) for n in mirrored.shape), indexing="ij"))
    return np.fft.ifft2(np.fft.fft2(mirrored) * (radius > 0.25)).real[:height, :width]


def smooth_places(picture: Any) -> Any:
    """The half of the pixels (H, W) around which a picture's gradient energy is lowest."""
    from scipy.ndimage import uniform_filter

    energy = uniform_filter(gradient_energy(torch.from_numpy(picture)).numpy(), AROUND, mode="nearest")
    return energy <= np.quantile(energy, SMOOTH)
