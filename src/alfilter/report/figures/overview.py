"""The stages of the method as panels, drawn from the line of the study `overview`."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from alfilter.report.figures.canvas import BLUE, RED, new_figure, plain_axes, png_bytes
from alfilter.report.figures.pixels import pixels

COLOURS = {"smooth": BLUE, "detailed": RED}


def overview_figure(lines: Sequence[Mapping[str, Any]]) -> bytes:
    """Picture and two places → γ there → α(x) → H_B(α) there → γ' there → network → reconstruction."""
    if not lines:
        return b""
    line = lines[0]
    stages: Mapping[str, Any] = line["stages"]
    figure = new_figure(11.0, 4.4)
    (picture, gamma, filtered), (alpha, response, result) = figure.subplots(2, 3)
    picture.imshow(pixels(b64decode(line["pictures"]["reference"])))
    shown = alpha.imshow(np.array(line["map"]), cmap="viridis")
    figure.colorbar(shown, ax=alpha, shrink=0.8)
    result.imshow(pixels(b64decode(line["pictures"]["reconstruction"])))
    for name, stage in stages.items():
        row, column = stage["place"]
        for axes in (picture, alpha, result):
            axes.plot(column, row, "o", color=COLOURS[name], markeredgecolor="white")
        values, passes = np.array(stage["gamma"]), np.array(stage["response"])
        style: dict[str, Any] = {"color": COLOURS[name], "marker": ".", "linewidth": 0.8}
        gamma.plot(values, label=f"{name} place", **style)
        response.plot(passes, label=f"α = {stage['alpha']:.1f}", **style)
        filtered.plot(values * passes, **style)
    titles = ("a picture, two places x", "γ(x), channel by channel", "γ'(x) = H(α(x)) γ(x), into the network",
              "α(x), learned on a grid", "H(α(x)), the band that passes", "the network's picture")  # fmt: skip
    for axes, title in zip((picture, gamma, filtered, alpha, response, result), titles, strict=True):
        axes.set_title(title, fontsize=9)
        if axes in (picture, alpha, result):
            axes.set_axis_off()
        else:
            plain_axes(axes)
    for axes in (gamma, response):
        axes.legend(frameon=False, fontsize=7)
    return png_bytes(figure)
