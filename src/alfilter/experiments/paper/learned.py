"""What a fitted field has learned, for a result line: whether α follows the picture, and the spectrum of its kernel."""

from __future__ import annotations

from typing import Any

import torch

BLOCK = 8  # pixels per side of the blocks in which α and the picture are compared
POINTS = 1024


def meaning(field: Any, target: Any) -> dict[str, Any]:
    """`meaning`: Spearman's ρ of α with the picture's local structure over blocks, and its p by shifts of the map.

    target: (H, W, c). Nothing for a field without a filter or with α the same everywhere.
    """
    from alfilter.analysis import alpha_map, filtered_encoding_of
    from alfilter.analysis.structure import block_means, gradient_energy, shift_test, spectral_centroid
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
