"""Runs of one picture side by side: crops under a slider with a choice of sides, and a sheet of error and α maps."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from alfilter.report.figures.arrays import Array
from alfilter.report.figures.pixels import coloured, crops, pixels, tag
from alfilter.report.overview.collect import Entry

MAX_PICTURES = 6
THUMB = 192  # side of a map on the sheet
PictureKey = tuple[str, str, int | None]


def by_picture(entries: Sequence[Entry]) -> dict[PictureKey, list[Entry]]:
    """Entries by the picture they show, one per setting (the first seed), at most six pictures."""
    groups: dict[PictureKey, dict[str, Entry]] = {}
    for entry in entries:
        if "reference" in entry.pictures and "reconstruction" in entry.pictures:
            groups.setdefault(entry.picture_key, {}).setdefault(entry.group, entry)
    return {key: list(rows.values()) for key, rows in list(groups.items())[:MAX_PICTURES]}


def comparisons(entries: Sequence[Entry]) -> str:
    """A slider per picture; its sides are any two of truth, what was seen, and the reconstructions."""
    groups = by_picture(entries)
    if not groups:
        return ""
    parts = "".join(_versus(key, rows) for key, rows in groups.items())
    hint = "Drag the line, or the slider; choose below what stands on its left and right."
    return f'<h3>Side by side</h3><p class="soft">{hint}</p><div class="scenes">{parts}</div>'


def _versus(key: PictureKey, rows: Sequence[Entry]) -> str:
    whole = {"Truth": pixels(rows[0].pictures["reference"])}
    if "observed" in rows[0].pictures:
        whole["Seen"] = pixels(rows[0].pictures["observed"])
    for entry in rows:
        whole[_label(entry)] = pixels(entry.pictures["reconstruction"])
    panes = crops(whole)
    shown = "".join(
        f"<figure>{tag(cut, f'{picture_name(key)}: {name}')}<figcaption>{escape(name)}</figcaption></figure>"
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
        f'<div class="versus"><h4>{escape(picture_name(key))}</h4><div class="stack">{shown}</div>{slider}'
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


def picture_name(key: PictureKey) -> str:
    """A picture's name without its folders, and how much of it was seen.

    >>> picture_name(("div2k/00.png", "random:0.05", 128))
    '00, random:0.05 seen, 128×128'
    """
    signal, observe, size = key
    parts = [Path(signal).stem or signal]
    parts += [f"{observe} seen"] if observe != "all" else []
    parts += [f"{size}×{size}"] if size else []
    return ", ".join(parts)


def contact_sheet(entries: Sequence[Entry]) -> str:
    """Reconstruction, error and α of every setting, the errors of a picture on one scale."""
    groups = by_picture(entries)
    if not groups:
        return ""
    parts = []
    for key, rows in groups.items():
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
            f"<details{' open' if key == next(iter(groups)) else ''}><summary>{escape(picture_name(key))}</summary>"
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
    alpha_range, images = "", [tag(pane, f"{entry.group}: {name}") for name, pane in cut.items()]
    if "alpha" in entry.pictures:
        alpha = pixels(entry.pictures["alpha"])[..., 0]
        step = max(1, -(-max(alpha.shape) // THUMB))
        images.append(tag(coloured(alpha[::step, ::step], "viridis", 0.0, 1.0), f"{entry.group}: α"))
        if entry.alpha:
            alpha_range = f", α {float(entry.alpha['low']):.1f} … {float(entry.alpha['high']):.1f}"
    caption = f"{escape(_label(entry))}<span>{alpha_range}</span>"
    return f'<figure class="card"><figcaption>{caption}</figcaption><div>{"".join(images)}</div></figure>'
