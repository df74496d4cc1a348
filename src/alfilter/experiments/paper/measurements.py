"""What the paper's claims are judged by, of a reconstruction and of a fitted field, beside the usual scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from alfilter.analysis.structure import gradient_energy
from alfilter.metrics.image import ssim

SMOOTH = 0.5  # the share of the picture that counts as smooth: where the gradient energy around a pixel is lowest
AROUND = 9  # pixels per side, over which it is averaged
BLOCK = 8  # pixels per side of the blocks in which α and the picture are compared
POINTS = 1024  # of the kernel


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
