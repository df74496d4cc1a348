"""Figures of kernels: spectra beside a baseline's, and what each frequency gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from alfilter.report.figures.canvas import GREY, new_figure, plain_axes, png_bytes

# Okabe and Ito's colours in an order in which neighbours differ most
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


def ntk_figure(spectra: Mapping[str, Sequence[float]], octaves: Mapping[str, Sequence[float]], baseline: str) -> bytes:
    """(a) λ_j/λ_1 of every kernel, (b) its ratio to the baseline's, (c) the share of the kernel by frequency.

    spectra: normalised eigenvalues, largest first. octaves: share around 1, 2, 4 … cycles across the domain.
    """
    figure = new_figure(11.0, 3.3)
    left, middle, right = figure.subplots(1, 3)
    base = np.asarray(spectra[baseline]) if baseline in spectra else None
    for colour, (name, values) in zip(_colours(len(spectra)), spectra.items(), strict=True):
        ours = np.asarray(values, dtype=np.float64)
        style: dict[str, Any] = {"color": GREY, "linestyle": "--"} if name == baseline else {"color": colour}
        rank = np.arange(1, len(ours) + 1)
        seen = ours > len(ours) * np.finfo(np.float64).eps
        left.plot(rank[seen], ours[seen], label=name, **style)
        right.plot(2.0 ** np.arange(len(octaves[name])), octaves[name], marker="o", markersize=3, label=name, **style)
        if base is not None:
            resolved = (base > len(base) * np.finfo(np.float64).eps) & seen
            middle.plot(rank[resolved], ours[resolved] / base[resolved], label=name, **style)
    left.set(xscale="log", yscale="log", xlabel="rank j", ylabel=r"$\lambda_j/\lambda_1$", title="(a) spectrum")
    middle.set(xscale="log", yscale="log", xlabel="rank j", ylabel="ratio", title=f"(b) retention against {baseline}")
    right.set(xlabel="cycles across the domain", ylabel="share of the kernel", title="(c) by frequency, on a line")
    right.set_xscale("log", base=2)
    for axes in (left, middle, right):
        axes.title.set_fontsize(9)
        plain_axes(axes)
    left.legend(frameon=False, fontsize=7)
    return png_bytes(figure)


def _colours(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]
