"""What the paper's claims are judged by, of a reconstruction and of a fitted field, beside the usual scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from alfilter.analysis.structure import gradient_energy
from alfilter.metrics.image import ssim

SMOOTH = 0.2  # the share of the picture that counts as smooth: where the gradient energy around a pixel is lowest
AROUND = 9  # pixels per side, over which it is averaged
BLOCK = 8  # pixels per side of the blocks in which α and the picture are compared
POINTS = 1024  # of the kernel


def detail(prediction: Any, target: Any) -> dict[str, float]:
    """kept: power beyond a quarter cycle per pixel, relative to the truth's. artefacts: fine detail where the truth is
    smooth that is not the truth's, as a root mean square in levels of 255.

    prediction, target: (H, W, c) in [0, 1]. An error that is fine may as well be detail that is missing, which is no
    artefact: of the reconstruction's detail what is the truth's times a factor in [0, 1], found around each pixel, is
    taken away.
    """
    ours, truth = (np.clip(np.asarray(each, np.float64), 0, 1).mean(-1) for each in (prediction, target))
    fine_ours, fine_truth = fine_part(ours), fine_part(truth)
    weakened = np.clip(_around(fine_ours * fine_truth) / np.maximum(_around(fine_truth**2), 1e-30), 0, 1)
    foreign = (fine_ours - weakened * fine_truth)[smooth_places(truth)]
    return {
        "kept": float((fine_ours**2).sum() / max((fine_truth**2).sum(), 1e-30)),
        "artefacts": float(255 * np.sqrt((foreign**2).mean())),
    }


def fine_part(picture: Any) -> Any:
    """The part of a picture (H, W) beyond a quarter cycle per pixel; reflected at its borders, which are no edges."""
    height, width = picture.shape
    mirrored = np.concatenate((picture, picture[::-1]), 0)
    mirrored = np.concatenate((mirrored, mirrored[:, ::-1]), 1)
    radius = np.hypot(*np.meshgrid(*(np.fft.fftfreq(n) for n in mirrored.shape), indexing="ij"))
    return np.fft.ifft2(np.fft.fft2(mirrored) * (radius > 0.25)).real[:height, :width]


def smooth_places(picture: Any) -> Any:
    """The fifth of the pixels (H, W) around which a picture's gradient energy is lowest."""
    energy = _around(gradient_energy(torch.from_numpy(picture)).numpy())
    return energy <= np.quantile(energy, SMOOTH)


def _around(picture: Any) -> Any:
    """The mean around every pixel."""
    from scipy.ndimage import uniform_filter

    return uniform_filter(picture, AROUND, mode="nearest")


def structures(prediction: Any, target: Any, observe: str) -> dict[str, float]:
    """`structure` of a reconstruction, and as `structure_flat` that of the picture's mean colour everywhere."""
    flat = target.mean((0, 1), keepdim=True).expand_as(target)
    return {
        "structure": structure(prediction, target, observe),
        "structure_flat": structure(flat, target, observe),
    }


def structure(prediction: Any, target: Any, observe: str) -> float:
    """SSIM of truth and reconstruction, both blurred by σ = the mean distance of seen pixels: the overall structure.

    prediction, target: (H, W, c). observe: `random:SHARE`.
    """
    from scipy.ndimage import gaussian_filter

    sigma = float(observe.split(":")[1]) ** -0.5
    blurred = [
        torch.from_numpy(gaussian_filter(each.clamp(0, 1).double().numpy(), (sigma, sigma, 0), mode="nearest"))
        for each in (prediction, target)
    ]
    return ssim(*blurred)


def meaning(field: Any, target: Any) -> dict[str, Any]:
    """`meaning`: Spearman's ρ of α with the picture's local structure over blocks, and its p by shifts of the map.

    target: (H, W, c). Nothing for a field without a filter or with α the same everywhere.
    """
    from alfilter.analysis import alpha_map, filtered_encoding_of
    from alfilter.analysis.structure import block_means, shift_test, spectral_centroid
    from alfilter.experiments.artifacts import MOVED

    encoding = filtered_encoding_of(field)
    gray = torch.as_tensor(target).mean(-1)
    if encoding is None or min(gray.shape) < 4 * BLOCK:
        return {}
    alpha = alpha_map(encoding, (gray.shape[0], gray.shape[1]))
    if float(alpha.std()) < MOVED:
        return {}
    blocks, numbers = block_means(alpha, BLOCK), {}
    for name, structure in (
        ("gradient", block_means(gradient_energy(gray), BLOCK)),
        ("centroid", spectral_centroid(gray, BLOCK)),
    ):
        numbers[name], numbers[f"p_{name}"], _ = shift_test(blocks, structure)
    return {"meaning": numbers}


def kernel_numbers(field: Any, seed: int) -> dict[str, Any]:
    """`kernel`: the normalised spectrum of the empirical NTK, its effective rank, and the share of the first value.

    Nothing for fields that are no network on Fourier channels.
    """
    from alfilter.analysis.ntk_facts import kernel_facts
    from alfilter.analysis.spectrum import normalised
    from alfilter.encodings import FilteredFourier, Fourier

    if not isinstance(field.encoding, Fourier | FilteredFourier):
        return {}
    facts = kernel_facts(field, POINTS, "both", seed)
    return {
        "kernel": {
            "effective_rank": facts.effective_rank,
            "first": float(facts.eigenvalues[0] / facts.eigenvalues.sum()),
            "spectrum": [float(f"{value:.4g}") for value in normalised(facts.eigenvalues).tolist()],
        }
    }
