"""Figures of the studies that look inside the method, made from their result lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from alfilter.report.figures.canvas import GREY, new_figure, plain_axes, png_bytes
from alfilter.report.figures.ntk import COLOURS

Lines = Sequence[Mapping[str, Any]]


def responses_figure(lines: Lines) -> bytes:
    """Left: H_B^c over the channels at several α, the paper's setting. Right: H̄_j of every scale over α."""
    line = lines[0]
    figure = new_figure(9.0, 3.2)
    left, right = figure.subplots(1, 2)
    for colour, (alpha, response) in zip(COLOURS, line["curves"].items(), strict=False):
        left.plot(response, color=colour, marker=".", label=f"α = {alpha}")
    left.set(xlabel="channel c", ylabel=r"$H_B^c(\alpha)$", title=line["group"])
    left.legend(frameon=False, fontsize=7)
    scales = line["scales"]
    shades = _figure_colours(len(scales["response"]))
    for j, (response, shade) in enumerate(zip(scales["response"], shades, strict=True)):
        right.plot(scales["alpha"], response, color=shade, label=f"j = {j}")
    right.set(xlabel="α in channels", ylabel=r"$\bar{H}_j(\alpha)$", title="the dyadic scales")
    right.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return _finished(figure, (left, right))


def ntk_figure(lines: Lines) -> bytes:
    """(a) spectra, (b) retention against positional encoding or the same network unfiltered (dotted where a row has
    both), (c) the share by octave.
    """
    control = "al-sine without filter"
    pairs = {"pe-mlp": (), "al-relu": ("pe-mlp",), control: (), "al-sine": ("pe-mlp", control),
             "al-sine, start 0": (control,)}  # fmt: skip
    figure = new_figure(10.5, 3.2)
    panels = spectrum, retention, share = figure.subplots(1, 3)
    there = {line["group"] for line in lines}
    spectra = {name: _mean_spectrum(lines, name) for name in pairs if name in there}
    for colour, (name, bases) in zip(COLOURS, pairs.items(), strict=False):
        if name not in spectra:
            continue
        style: dict[str, Any] = {"color": colour, "linestyle": "-" if bases else "--"}
        rank = np.arange(1, len(spectra[name]) + 1)
        spectrum.plot(rank, spectra[name], label=name, **style)
        for base, stroke in zip(bases, ("-", ":"), strict=False):
            if base in spectra:
                ratio = spectra[name] / spectra[base]
                retention.plot(rank, ratio, label=f"{name} / {base}", color=colour, linestyle=stroke)
        octaves = np.mean([line["octaves"] for line in lines if line["group"] == name], axis=0)
        share.plot(2.0 ** np.arange(len(octaves)), octaves, marker="o", markersize=3, **style)
    retention.axhline(1, color=GREY, linewidth=0.8)
    title = "(a) spectrum at the start"
    spectrum.set(xscale="log", yscale="log", xlabel="rank j", ylabel=r"$\lambda_j/\lambda_1$", title=title)
    retention.set(xscale="log", yscale="log", xlabel="rank j", title="(b) retention")
    share.set_xscale("log", base=2)
    share.set(xlabel="cycles across the domain", title="(c) share by frequency")
    for axes in (spectrum, retention):
        if axes.get_legend_handles_labels()[0]:  # some rows may not have run yet
            axes.legend(frameon=False, fontsize=6)
    return _finished(figure, panels)


def kernel_figure(lines: Lines) -> bytes:
    """The factor on every scale, predicted against measured, per method; right, how far the spectra overlap."""
    figure = new_figure(11.0, 3.6)
    *scatters, bars = figure.subplots(1, 3)
    kinds = {"α constant": COLOURS[0], "sweeps 0.5": COLOURS[2], "sweeps 4": COLOURS[3], "α learned": COLOURS[1]}
    for axes, method in zip(scatters, ("al-relu", "al-sine"), strict=True):
        for kind, colour in kinds.items():
            clouds = [line["points"] for line in lines if line["method"] == method and kind in line["group"]]
            points = np.concatenate([np.asarray(p) for p in clouds]) if clouds else np.zeros((0, 2))
            axes.scatter(points[:, 0], points[:, 1].clip(1e-4), s=5, alpha=0.4, color=colour, label=kind, linewidths=0)
        axes.plot([0, 1], [0, 1], color="black", linewidth=0.8)
        axes.set(xlabel=r"predicted $\bar{H}_j(\alpha)^2$", title=method)
        axes.set_yscale("symlog", linthresh=1)
    scatters[0].set_ylabel("measured: energy over that without filter")
    scatters[0].legend(frameon=False, fontsize=7)
    groups = list(dict.fromkeys(line["group"] for line in lines))
    keys = {"overlap": r"$\bar{H}^2\lambda$", "overlap_channels": "channels", "overlap_unfiltered": r"$\lambda$ alone"}
    for i, (key, label) in enumerate(keys.items()):
        means = [np.mean([line["metrics"][key] for line in lines if line["group"] == g]) for g in groups]
        bars.barh(np.arange(len(groups)) + 0.27 * (1 - i), means, 0.25, color=(*COLOURS[:2], GREY)[i], label=label)
    bars.set_yticks(range(len(groups)), groups, fontsize=6)
    bars.invert_yaxis()
    bars.set(xlabel="overlap with the measured spectrum", xlim=(0, 1))
    bars.legend(frameon=False, fontsize=7, ncols=3, loc="lower center", bbox_to_anchor=(0.4, 1.0))
    return _finished(figure, (*scatters, bars))


def meaning_figure(lines: Lines) -> bytes:
    """A picture and the α its settings learned; below, every correlation, filled where shifts do not explain it."""
    groups = list(dict.fromkeys(line["group"] for line in lines))
    shown = {line["group"]: line["maps"] for line in lines if line["maps"]}
    figure = new_figure(11.0, 4.6)
    halves: Any = figure.subfigures(2, 1, height_ratios=[1, 1.35])
    top, bottom = halves
    maps = top.subplots(1, len(groups) + 1)
    picture = next(iter(shown.values()))["picture"]
    for axes, (title, values, colours) in zip(
        maps,
        [("picture", picture, "gray"), *((str(i + 1), shown[g]["alpha"], "viridis") for i, g in enumerate(groups))],
        strict=True,
    ):
        low, high = np.percentile(values, (2, 98))
        axes.imshow(np.asarray(values), cmap=colours, vmin=low, vmax=max(high, low + 1e-6))
        axes.set_title(title, fontsize=9)
        axes.set_axis_off()
    axes = bottom.subplots()
    for i, group in enumerate(groups):
        for k, (name, colour) in enumerate((("gradient", COLOURS[0]), ("centroid", COLOURS[1]))):
            members = [line["metrics"] for line in lines if line["group"] == group]
            for m in members:
                style = {"facecolors": colour if m[f"p_{name}"] <= 0.05 else "none", "edgecolors": colour}
                axes.scatter(
                    i + 0.24 * k - 0.12, m[name], s=22, label=name if m is members[0] and i == 0 else None, **style
                )
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_xticks(
        range(len(groups)), [f"{i + 1}: {g}".replace(", ", ",\n") for i, g in enumerate(groups)], fontsize=6
    )
    axes.set(ylabel="Spearman's ρ with α", ylim=(-1, 1))
    axes.legend(frameon=False, fontsize=7, title="filled: p ≤ 0.05", title_fontsize=7)
    return _finished(figure, (axes,))


def complexity_figure(lines: Lines) -> bytes:
    """Training time and memory against each quantity, relative to its smallest value; grey: in proportion."""
    swept = {"N": "N", "levels": "C_N", "width": "W", "grid": "G"}
    figure = new_figure(11.0, 3.2)
    panels = figure.subplots(1, len(swept))
    methods = list(dict.fromkeys(line["method"] for line in lines))
    for axes, (vary, label) in zip(panels, swept.items(), strict=True):
        for colour, method in zip(COLOURS, methods, strict=False):
            sweep = [line for line in lines if line["method"] == method and line["settings"]["vary"] == vary]
            if not sweep:
                continue
            size = np.array([line["sizes"][label] for line in sweep], dtype=np.float64)
            for key, style in (("training", "-"), ("memory", ":")):
                values = np.array([line["metrics"][key] for line in sweep])
                axes.plot(size / size[0], values / values[0], style, marker=".", color=colour,
                          label=f"{method}, {'time' if key == 'training' else key}")  # fmt: skip
            axes.plot(size / size[0], size / size[0], color=GREY, linewidth=0.6)
        axes.set(xscale="log", yscale="log", xlabel=f"${label}$, times the smallest", title=f"against ${label}$")
    panels[0].set_ylabel("times the smallest")
    panels[0].legend(frameon=False, fontsize=6)
    return _finished(figure, panels)


def _mean_spectrum(lines: Lines, group: str) -> Any:
    """The geometric mean of the spectra of a group; what is zero counts as the smallest number that is not noise."""
    spectra = np.array([line["spectra"]["both"] for line in lines if line["group"] == group])
    return np.exp(np.log(spectra.clip(1e-12)).mean(0))


def _figure_colours(count: int) -> list[Any]:
    from matplotlib import colormaps

    return [colormaps["viridis"](i / max(1, count)) for i in range(count)]


def _finished(figure: Any, panels: Any) -> bytes:
    for axes in panels:
        plain_axes(axes)
    return png_bytes(figure)
