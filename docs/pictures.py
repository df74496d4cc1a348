"""Makes the pictures of the README and the documents from finished run folders.

python docs/pictures.py overview runs/demo
python docs/pictures.py maps runs/demo runs/al-sine runs/al-relu
python docs/pictures.py alpha runs/experiments/alpha.jsonl
python docs/pictures.py kernel runs/experiments/kernel.jsonl    and so for every study of report/studies.py
python docs/pictures.py between runs/experiments/between.jsonl    and between-crops
python docs/pictures.py large docs/guide/large.md    the page's own table as a curve
"""

from __future__ import annotations

import base64
import io
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from alfilter.analysis.frequency import local_frequency
from alfilter.report.figures.frequency import frequency_range, label_in_cycles
from alfilter.report.figures.registry import FIGURES
from alfilter.signals import grid_coords, read_image
from alfilter.training import load

IMAGES = Path(__file__).parent / "images"
CAP = 16  # pixels per cycle of the overview's last panel


def cut_offs(run: Path, shape: tuple[int, int]) -> np.ndarray:
    """The local frequency of a run's field in cycles per pixel, (h, w)."""
    with torch.no_grad():
        cycles = local_frequency(load(run / "model.safetensors"), grid_coords(shape).view(*shape, 2))
    return cycles.numpy() / max(shape)


def capped(run: Path, shape: tuple[int, int]) -> np.ndarray:
    """A run's field with its frequency capped, (h, w, c)."""
    with torch.no_grad():
        values = load(run / "model.safetensors").limited(
            grid_coords(shape).view(*shape, 2), torch.tensor(max(shape) / CAP)
        )
    return values.clamp(0, 1).numpy()


def maps(runs: list[Path], out: Path) -> None:
    """A picture and the local frequency that runs of several methods learned for it, each on its own scale."""
    reference = read_image(runs[0] / "reference.png").data / 255
    figure = Figure(figsize=(3 * (1 + len(runs)), 3.2), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    picture, *others = figure.subplots(1, 1 + len(runs))
    picture.imshow(reference)
    picture.set_title("picture")
    for axes, run in zip(others, runs, strict=True):
        config = json.loads((run / "config.json").read_text(encoding="utf-8"))
        cycles = cut_offs(run, reference.shape[:2])
        low, high = np.percentile(cycles, (1, 99))
        figure.colorbar(axes.imshow(cycles, cmap="viridis", vmin=low, vmax=high), ax=axes, fraction=0.046)
        axes.set_title(f"{config['method']}: cycles per pixel")
    for axes in (picture, *others):
        axes.set_axis_off()
    figure.savefig(out)


def overview(run: Path, out: Path) -> None:
    """Reference, reconstruction, local frequency of a run, and its field with the frequency capped, side by side."""
    reference, fitted = (read_image(run / f"{name}.png").data / 255 for name in ("reference", "reconstruction"))
    cycles = cut_offs(run, reference.shape[:2])
    low, high = frequency_range(cycles)
    figure = Figure(figsize=(12, 3.4), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    panels = [
        ("picture", reference, {}),
        ("field", fitted, {}),
        (
            "local frequency, cycles per pixel",
            np.log2(cycles),
            {"cmap": "viridis", "vmin": np.log2(low), "vmax": np.log2(high)},
        ),
        (f"capped at 1/{CAP} cycle per pixel", capped(run, reference.shape[:2]), {}),
    ]
    for axes, (title, values, style) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        shown = axes.imshow(values, **style)
        axes.set_title(title)
        axes.set_axis_off()
        if style:
            label_in_cycles(figure.colorbar(shown, ax=axes, fraction=0.046), low, high)
    out.parent.mkdir(exist_ok=True)
    figure.savefig(out)


# the rows of the study whose curves are drawn, with a short name each
CURVES = {
    "paper: start mid, channel unit, no x, grid per sample": "paper",
    "paper with axis unit": "paper, axis unit",
    "base: start 0, axis unit, x beside γ', gain 1, ω0 30, 32² grid": "start 0, x beside γ'",
    "start: middle (16)": "start 16",
    "grid per sample": "start 0, grid per sample",
}


def alpha_curves(lines: Path, out: Path) -> None:
    """Mean PSNR over the steps of the α study, and where the same settings end between the samples."""
    curves: dict[str, list[list[list[float]]]] = defaultdict(list)
    between: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in map(json.loads, lines.read_text(encoding="utf-8").splitlines()):
        name = CURVES.get(line["group"])
        if name is not None and line["observe"] == "all":
            curves[name].append(line["curve"])
        elif name is not None:
            between[name].append((line["metrics"]["psnr"], line["heldout"]["psnr"]))
    figure = Figure(figsize=(10, 3.6), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    for name in CURVES.values():
        steps = [step for step, _ in curves[name][0]]
        left.plot(steps, np.mean([[psnr for _, psnr in curve] for curve in curves[name]], axis=0), label=name)
        seen, held = np.mean(between[name], axis=0)
        right.scatter(seen, held)
        right.annotate(name, (seen, held), textcoords="offset points", xytext=(5, 4), fontsize=8)
    left.set(xlabel="step", ylabel="PSNR in dB, all samples seen", xscale="log")
    left.legend(fontsize=8)
    right.set(xlabel="seen in dB, every other pixel", ylabel="between in dB")
    right.margins(0.15)
    out.parent.mkdir(exist_ok=True)
    figure.savefig(out)


def study(lines: Path, out: Path) -> None:
    """The figure of a study, 1,100 pixels wide in 128 colours: small enough for a document."""
    drawn = FIGURES[lines.stem]([json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()])
    with Image.open(io.BytesIO(drawn)) as image:
        small = image.convert("RGB").resize((1100, round(1100 * image.height / image.width)), Image.Resampling.LANCZOS)
    out.parent.mkdir(exist_ok=True)
    small.quantize(128).save(out, optimize=True)


def between_points(lines: Path, out: Path) -> None:
    """What was seen against what was not, one point per setting, one panel per observation; interpolators are lines."""
    scores: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for line in map(json.loads, lines.read_text(encoding="utf-8").splitlines()):
        if "psnr" in line["metrics"] and line["image"] != "terrain":
            held = line["heldout"].get("psnr_between", line["heldout"]["psnr"])
            scores[line["observe"]][line["group"]].append((line["metrics"]["psnr"], held))
    figure = Figure(figsize=(5 * len(scores), 4), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (observe, groups) in zip(np.atleast_1d(figure.subplots(1, len(scores))), scores.items(), strict=True):
        for group, pairs in groups.items():
            seen, held = np.mean(pairs, axis=0)
            if np.isfinite(seen) and seen < 100:
                axes.scatter(seen, held)
                axes.annotate(group, (seen, held), textcoords="offset points", xytext=(4, 3), fontsize=6)
            else:
                axes.axhline(held, color="0.6", linewidth=0.8)
                axes.annotate(group, (0.01, held), xycoords=("axes fraction", "data"), fontsize=6, color="0.4")
        axes.set(title=observe, xlabel="seen, dB", ylabel="between, dB" if observe == "every:2" else "unseen, dB")
        axes.margins(0.2)
    out.parent.mkdir(exist_ok=True)
    figure.savefig(out)


SHOWN = ("bicubic", "siren", "al-sine, paper", "siren, with the filling", "al-sine")


def between_crops(lines: Path, out: Path) -> None:
    """A crop of a picture of which every other pixel was seen: truth, what was seen, and what was made of it."""
    image, panels = "div2k/04.png", {}
    for line in map(json.loads, lines.read_text(encoding="utf-8").splitlines()):
        if (line["image"], line["observe"]) == (image, "every:2") and line["group"] in SHOWN:
            pictures = line["pictures"]
            panels.setdefault("truth", pictures["reference"])
            panels.setdefault("seen", pictures["observed"])
            panels[f"{line['group']}\n{line['heldout']['psnr_between']:.2f} dB between"] = pictures["reconstruction"]
    figure = Figure(figsize=(2.6 * len(panels), 3.1), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (title, png) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(png))))
        axes.imshow(pixels[:96, :96], interpolation="nearest")
        axes.set_title(title, fontsize=8)
        axes.set_axis_off()
    out.parent.mkdir(exist_ok=True)
    figure.savefig(out)


def large_curve(page: Path, out: Path) -> None:
    """Seconds to 30 dB over the number of pixels, from the page's table; the line of equal time per pixel beside it."""
    found = re.findall(r"^\| ([\d,]+)² \| ([\d.]+) s \| ([\d.]+) s", page.read_text(encoding="utf-8"), re.M)
    sides, training, total = np.array([[float(text.replace(",", "")) for text in row] for row in found]).T
    pixels = sides**2
    figure = Figure(figsize=(6, 3.4), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.loglog(pixels, total, "o-", label="total")
    axes.loglog(pixels, training, "o-", label="training to 30 dB")
    axes.loglog(
        pixels, training[0] * pixels / pixels[0], color="0.6", linewidth=0.8, label="in proportion to the pixels"
    )
    axes.set_xticks(pixels, [f"{side:,.0f}²" for side in sides])
    axes.minorticks_off()
    axes.set(xlabel="pixels", ylabel="seconds")
    axes.legend(fontsize=8)
    figure.savefig(out)


if __name__ == "__main__":
    what, source, *more = sys.argv[1], *map(Path, sys.argv[2:])
    makers = {
        **dict.fromkeys(FIGURES, study),
        "overview": overview,
        "maps": maps,
        "alpha": alpha_curves,
        "between": between_points,
        "between-crops": between_crops,
        "large": large_curve,
    }
    makers[what]([source, *more] if what == "maps" else source, IMAGES / f"{what}.png")
