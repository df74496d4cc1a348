"""Runs of one picture side by side: crops under a slider with a choice of sides, and a sheet of error and α maps."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from alfilter.report.figures.arrays import Array
from alfilter.report.figures.pixels import coloured, crops, pixels, tag
from alfilter.report.overview.collect import Entry

MOST_SCENES = 6
THUMB = 192  # side of a map on the sheet
Scene = tuple[str, str, int | None]


def scenes_of(entries: Sequence[Entry]) -> dict[Scene, list[Entry]]:
    """Entries with pictures by what they show, one a setting (the first seed), at most six scenes."""
    found: dict[Scene, dict[str, Entry]] = {}
    for entry in entries:
        if "reference" in entry.pictures and "reconstruction" in entry.pictures:
            found.setdefault(entry.scene, {}).setdefault(entry.group, entry)
    return {scene: list(rows.values()) for scene, rows in list(found.items())[:MOST_SCENES]}


def comparisons(entries: Sequence[Entry]) -> str:
    """A slider a scene; its sides are any two of truth, what was seen, and the reconstructions."""
    found = scenes_of(entries)
    if not found:
        return ""
    parts = "".join(_versus(scene, rows) for scene, rows in found.items())
    told = "Drag the line, or the slider; choose below what stands on its left and right."
    return f'<h3>Side by side</h3><p class="soft">{told}</p><div class="scenes">{parts}</div>'


def _versus(scene: Scene, rows: Sequence[Entry]) -> str:
    whole = {"Truth": pixels(rows[0].pictures["reference"])}
    if "observed" in rows[0].pictures:
        whole["Seen"] = pixels(rows[0].pictures["observed"])
    for entry in rows:
        whole[_label(entry)] = pixels(entry.pictures["reconstruction"])
    panes = crops(whole)
    shown = "".join(
        f"<figure>{tag(cut, f'{scene_name(scene)}: {name}')}<figcaption>{escape(name)}</figcaption></figure>"
        for name, cut in panes.items()
    )
    names, best = list(panes), _best(rows)
    right = names.index(best) if best in names else len(names) - 1
    sides = "".join(
        f'<select aria-label="{side} side">{_choices(names, chosen)}</select>'
        for side, chosen in (("Left", 0), ("Right", right))
    )
    slider = '<input type="range" min="0" max="100" value="50" aria-label="Where the two sides meet, in percent">'
    return (
        f'<div class="versus"><h4>{escape(scene_name(scene))}</h4><div class="stack">{shown}</div>{slider}'
        f'<div class="sides">{sides}</div></div>'
    )


def _choices(names: Sequence[str], chosen: int) -> str:
    return "".join(
        f'<option value="{k}"{" selected" if k == chosen else ""}>{escape(name)}</option>'
        for k, name in enumerate(names)
    )


def _best(rows: Sequence[Entry]) -> str:
    scored = [(value, entry) for entry in rows if (value := _quality(entry)) is not None]
    return _label(max(scored, key=lambda pair: pair[0])[1] if scored else rows[-1])


def _quality(entry: Entry) -> float | None:
    """What a picture is judged by: unseen pixels where there are any."""
    value = entry.heldout.get("psnr", entry.metrics.get("psnr"))
    return None if value is None else float(value)


def _label(entry: Entry) -> str:
    """A setting with its quality, as a reader chooses it."""
    value = _quality(entry)
    return entry.group if value is None else f"{entry.group}, {value:.1f} dB{' unseen' if entry.heldout else ''}"


def scene_name(scene: Scene) -> str:
    """A picture's name without its folders, and how much of it was seen.

    >>> scene_name(("div2k/00.png", "random:0.05", 128))
    '00, random:0.05 seen, 128×128'
    """
    signal, observe, size = scene
    parts = [Path(signal).stem or signal]
    parts += [f"{observe} seen"] if observe != "all" else []
    parts += [f"{size}×{size}"] if size else []
    return ", ".join(parts)


def contact_sheet(entries: Sequence[Entry]) -> str:
    """Reconstruction, error and α of every setting, the errors of a scene on one scale."""
    found = scenes_of(entries)
    if not found:
        return ""
    parts = []
    for scene, rows in found.items():
        truth = pixels(rows[0].pictures["reference"])
        errors = {entry.group: _error(entry, truth) for entry in rows}
        known = [error for error in errors.values() if error is not None]
        top = max(0.01, float(np.median([np.percentile(error, 99) for error in known]))) if known else 0.1
        cards = "".join(_card(entry, errors[entry.group], top) for entry in rows)
        scale = (
            f'<p class="scale"><span>error 0<i class="magma"></i>{top:.2g} and more</span>'
            f'<span>α lowest<i class="viridis"></i>highest, in channels</span></p>'
        )
        parts.append(
            f"<details{' open' if scene == next(iter(found)) else ''}><summary>{escape(scene_name(scene))}</summary>"
            f'<div class="sheet">{cards}</div>{scale}</details>'
        )
    return f"<h3>Reconstruction, error, α</h3>{''.join(parts)}"


def _error(entry: Entry, truth: Array) -> Array | None:
    shown = pixels(entry.pictures["reconstruction"])
    error: Array = np.abs(shown - truth).mean(-1) if shown.shape == truth.shape else np.zeros((0, 0))
    return error if error.size else None


def _card(entry: Entry, error: Array | None, top: float) -> str:
    panes = {"reconstruction": pixels(entry.pictures["reconstruction"])}
    if error is not None:
        panes["error"] = coloured(error, "magma", 0.0, top)
    cut = crops(panes, THUMB)
    told, images = "", [tag(pane, f"{entry.group}: {name}") for name, pane in cut.items()]
    if "alpha" in entry.pictures:
        alpha = pixels(entry.pictures["alpha"])[..., 0]
        step = max(1, -(-max(alpha.shape) // THUMB))
        images.append(tag(coloured(alpha[::step, ::step], "viridis", 0.0, 1.0), f"{entry.group}: α"))
        if entry.alpha:
            told = f", α {float(entry.alpha['low']):.1f} … {float(entry.alpha['high']):.1f}"
    caption = f"{escape(_label(entry))}<span>{told}</span>"
    return f'<figure class="card"><figcaption>{caption}</figcaption><div>{"".join(images)}</div></figure>'
