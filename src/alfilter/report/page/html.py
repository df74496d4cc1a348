"""One self-contained HTML page about one run: no network, light and dark, screen, phone and paper."""

from __future__ import annotations

import json
import math
import shlex
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from alfilter.report.page.style import CSS, SCRIPT
from alfilter.report.page.svg import convergence_svg

# name: (what is shown, unit, digits, one sentence)
METRICS = {
    "psnr": ("PSNR", "dB", 2, "Peak signal-to-noise ratio; higher is better, and 6 dB more halves the error."),
    "psnr_between": ("PSNR between", "dB", 2, "On the pixels [1::2, 1::2], farthest from those that were seen."),
    "ssim": ("SSIM", "", 4, "Structural similarity of small windows; 1 is identical."),
    "lpips": ("LPIPS", "", 4, "Perceived difference according to AlexNet's features; 0 is identical."),
    "mse": ("MSE", "", 6, "Mean squared error, in squared units of the values; lower is better."),
    "rmse": ("RMSE", "", 5, "Root of the mean squared error, in the units of the values; lower is better."),
    "r2": ("R²", "", 4, "Share of the values' variance that is explained; 1 is all of it."),
    "mae": ("MAE", "", 5, "Mean absolute error, in the units of the values; lower is better."),
    "l1": ("L1", "", 5, "Mean absolute error, in the units of the values; lower is better."),
    "snr": ("SNR", "dB", 2, "Power of the signal over power of the error, nothing clipped; higher is better."),
    "chamfer": ("Chamfer", "", 6, "Mean squared distance one way plus the other, in a box of side 1; lower is better."),
    "chamfer_half": ("Chamfer, half", "", 6, "Half of the sum, as the Occupancy Networks count it."),
    "chamfer_floor": ("Chamfer floor", "", 6, "The reference against itself (a sum): sampling alone scores this."),
    "hausdorff": ("Worst distance", "", 5, "The greatest distance of one surface to the other, in a box of side 1."),
    "sdf_near": ("Distance error near", "", 6, "Mean absolute error beside the surface, in a box of side 1."),
    "sdf_far": ("Distance error far", "", 6, "Mean absolute error around the shape, in a box of side 1."),
    "iou": ("IoU", "", 4, "Shared volume over joint volume; 1 is identical."),
    "normals": ("Normals", "", 4, "Mean agreement of the surface directions; 1 is identical."),
}
# name: (heading, alternative text, caption as HTML) of the figures that are drawn as charts
CHARTS = {
    "alpha": (
        "Where the band sits",
        "Map of the learned parameter alpha over the domain",
        "α(x) is the centre of the band of Fourier channels that passes at x. Flat parts need low channels; edges and "
        "texture pull it up. The right scale says which frequency a channel carries; the lines part low-pass, "
        "band-pass and high-pass.",
    ),
    "scales": (
        "What passes, scale by scale",
        "Small maps of the mean filter response, one for each dyadic scale",
        "H̄<sub>j</sub> is the mean response of the channels of scale <i>j</i>, from 0 (blocked) to 1 (passed); its "
        "square weighs how fast that frequency is learned there.",
    ),
    "map": (
        "The field",
        "The fitted field over its coordinates, in the user's units",
        "The field between and at the measured points, which are drawn over it.",
    ),
    "sparse": (
        "What was seen, and what was made of it",
        "Truth, seen pixels, error where seen, reconstruction, error and alpha in six panels",
        "Truth, masked input and the error where it was seen; reconstruction, the whole error, and α.",
    ),
    "waveform": (
        "Over time",
        "Truth, fit and error over time",
        "Amplitudes relative to the loudest sample, channels averaged. The error has a scale of its own.",
    ),
    "spectrogram": (
        "Error in time and frequency",
        "Spectrograms of truth, fit and error",
        "Power of short windows on one scale. Where the error is as bright as the truth, nothing was learned.",
    ),
    "planes": (
        "Slices",
        "Slices of truth, fit, error and alpha",
        "A row a slice: the middle one of every axis of a volume, or three moments of a video. The scores are of the "
        "whole, the other pictures on this page of the middle slice of the first axis.",
    ),
    "parity": (
        "Predicted against measured",
        "Scatter of predicted over measured values",
        "A point on the line is predicted exactly. Held-out points, where there are any, were never seen.",
    ),
    "error": (
        "Error in space",
        "Map of the absolute error over the picture",
        "The absolute error, averaged over the colour channels. The colours end at the 99.5th percentile.",
    ),
    "slice": (
        "A slice of the distance",
        "The signed distance in the middle of the domain: learned, true, and their difference",
        "The line is the surface. Close to it the distance has to be right; far away it counts a hundredth.",
    ),
    "spectrum": (
        "Error in frequency",
        "Radially averaged power spectra of the target and the reconstruction",
        "Mean power at each frequency. A reconstruction that falls below the target on the right shows spectral bias: "
        "fine detail is learned last.",
    ),
}
ALPHA_ONLY = "This method has no α: only al-sine and al-relu learn which frequencies pass where."
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def render_page(
    title: str,
    facts: Mapping[str, object],
    metrics: Mapping[str, object],
    pictures: Mapping[str, bytes],
    history: Sequence[Mapping[str, Any]],
    *,
    heldout: Mapping[str, object] | None = None,
    config: Mapping[str, Any] | None = None,
) -> str:
    """The whole page: `pictures` maps names (reference, alpha, …) to PNG bytes, `config` is config.json."""
    settings = config or {}
    body = [
        f"<header><h1>{escape(title)}</h1>{_facts(facts)}</header>",
        "<main>",
        _comparison(pictures),
        _section("The numbers", _numbers(metrics, heldout), _convergence(history, pictures)),
        _section("What the field learned", _learned(str(settings.get("method", "")), pictures)),
        _section("Where it is wrong", _wrong(pictures)),
        _section("How to repeat it", _repeat(settings)),
        "</main>",
    ]
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{CSS}</style>"
    )
    content = "\n".join(part for part in [*body, f"<script>{SCRIPT}</script>"] if part)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{content}</body></html>\n'


def flat_options(config: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    """The leaves of a nested dict under dotted names.

    >>> flat_options({"seed": 0, "training": {"lr": {"net": 0.1}}})
    [('seed', 0), ('training.lr.net', 0.1)]
    """
    rows: list[tuple[str, object]] = []
    for name, value in config.items():
        if isinstance(value, Mapping) and value:
            rows += flat_options(value, f"{prefix}{name}.")
        else:
            rows.append((f"{prefix}{name}", value))
    return rows


def shown_number(value: object, digits: int) -> str:
    """A number with this many decimals, or what stands there instead of one.

    >>> shown_number(31.2345, 2), shown_number(float("inf"), 2), shown_number(None, 2)
    ('31.23', '∞', '–')
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "–" if value is None else str(value)
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else "∞" if value > 0 else "−∞"
    small = value != 0 and abs(value) < 10.0**-digits
    return f"{value:.3g}" if small else f"{value:.{digits}f}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table whose columns sort when their heads are pressed; cells are ready HTML, `numbers` align right."""
    kind = [' class="number"' if column in numbers else "" for column in range(len(heads))]
    top = "".join(
        f'<th scope="col"{k}><button type="button">{escape(h)}</button></th>' for k, h in zip(kind, heads, strict=True)
    )
    lines = ("".join(f"<td{k}>{cell}</td>" for k, cell in zip(kind, row, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def image(data: bytes, alt: str) -> str:
    """An <img> with the picture inside; a small one keeps its pixels when it is enlarged."""
    width, height = png_size(data)
    pixels = ' class="pixels"' if width < 320 else ""
    source = f"data:image/png;base64,{b64encode(data).decode('ascii')}"
    return f'<img{pixels} src="{source}" alt="{escape(alt)}" width="{width}" height="{height}">'


def png_size(data: bytes) -> tuple[int, int]:
    """Width and height from a PNG's first chunk (bytes 16 to 24)."""
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def _section(heading: str, *parts: str) -> str:
    return f"<section><h2>{heading}</h2>{''.join(parts)}</section>"


def _facts(facts: Mapping[str, object]) -> str:
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>" for name, value in facts.items())
    return f'<dl class="facts">{rows}</dl>' if rows else ""


def _comparison(pictures: Mapping[str, bytes]) -> str:
    """Reference against reconstruction under one slider, or whichever of them exists, and what was seen."""
    reference, result = pictures.get("reference"), pictures.get("reconstruction")
    parts = []
    if reference and result:
        stack = image(reference, "The reference") + image(result, "The reconstruction")
        slider = (
            '<input type="range" min="0" max="100" value="50" aria-label="Share of the reference shown, in percent">'
        )
        label = f"<label><span>Reference</span>{slider}<span>Reconstruction</span></label>"
        # A small picture is enlarged, a portrait is kept from filling more than a screen.
        wide = f"min(46rem, {70 * png_size(reference)[0] / max(png_size(reference)[1], 1):.0f}vh)"
        parts.append(f'<figure class="compare" style="--wide: {wide}"><div class="stack">{stack}</div>{label}</figure>')
    else:
        pairs = ((reference, "The reference"), (result, "The reconstruction"))
        parts += [f"<figure>{image(data, alt)}<figcaption>{alt}</figcaption></figure>" for data, alt in pairs if data]
    if observed := pictures.get("observed"):
        caption = "<figcaption>What the field saw; everything else was held out.</figcaption>"
        parts.append(f"<figure>{image(observed, 'The samples the field saw')}{caption}</figure>")
    parts += [_chart(name, pictures) for name in ("map", "waveform", "planes", "sparse") if name in pictures]
    heading = "The sound" if "waveform" in pictures and not reference else "The picture"
    return _section(heading, *parts) if parts else ""


def _numbers(metrics: Mapping[str, object], heldout: Mapping[str, object] | None) -> str:
    """One row per metric: name, unit and meaning, the value on what was seen and on what was held out."""
    held = heldout or {}
    names = [*metrics, *(name for name in held if name not in metrics)]
    if not names:
        return "<p>No metrics were saved.</p>"
    rows = [_number_row(name, metrics.get(name), held.get(name), bool(heldout)) for name in names]
    if heldout:
        return table(["Metric", "Seen", "Held out"], rows, numbers=(1, 2))
    return table(["Metric", "Value"], rows, numbers=(1,)) + '<p class="soft">Nothing was held out.</p>'


def _number_row(name: str, seen: object, held: object, both: bool) -> list[str]:
    shown, unit, digits, meaning = METRICS.get(name, (name, "", 4, ""))
    explained = f"<small>{escape(meaning)}</small>" if meaning else ""
    values = [escape(shown_number(value, digits)) for value in ([seen, held] if both else [seen])]
    return [escape(f"{shown} in {unit}" if unit else shown) + explained, *values]


def _convergence(history: Sequence[Mapping[str, Any]], pictures: Mapping[str, bytes]) -> str:
    drawing = convergence_svg(history)
    if not drawing and "convergence" in pictures:
        drawing = image(pictures["convergence"], "PSNR over steps")
    if not drawing:
        return ""
    key = '<span class="key">Solid: seen.</span>'
    if 'class="held"' in drawing:
        key += ' <span class="key held">Dashed: held out.</span>'
    return f"<h3>Convergence</h3><figure>{drawing}<figcaption>{key}</figcaption></figure>"


def _learned(method: str, pictures: Mapping[str, bytes]) -> str:
    charts = _chart("alpha", pictures) + _chart("scales", pictures)
    missing = "No map of α was saved in this folder." if method.startswith("al-") or not method else ALPHA_ONLY
    return charts or f"<p>{missing}</p>"


def _wrong(pictures: Mapping[str, bytes]) -> str:
    charts = "".join(_chart(name, pictures) for name in ("error", "spectrum", "spectrogram", "slice", "parity"))
    return charts or "<p>No picture of the error was saved in this folder.</p>"


def _chart(name: str, pictures: Mapping[str, bytes]) -> str:
    if name not in pictures:
        return ""
    heading, alt, caption = CHARTS[name]
    figure = f'<figure class="chart">{image(pictures[name], alt)}<figcaption>{caption}</figcaption></figure>'
    return f"<h3>{heading}</h3>{figure}"


def _repeat(config: Mapping[str, Any]) -> str:
    """The command, then every setting that was in force."""
    command = config.get("command")
    line = shlex.join(str(word) for word in command) if isinstance(command, list) else command
    # A span per word keeps a narrow screen from breaking inside --options; copied text stays the same.
    words = " ".join(f"<span>{escape(word)}</span>" for word in str(line).split(" "))
    shown = f"<pre><code>{words}</code></pre>" if line else "<p>The command line was not saved.</p>"
    told = ", ".join(f"{name} {escape(str(config[name]))}" for name in ("version", "seed") if name in config)
    versions = f"<p>alfilter {told}.</p>" if told else ""
    leaves = flat_options({name: value for name, value in config.items() if name not in ("command", "version", "seed")})
    rows = [[f"<code>{escape(name)}</code>", f"<code>{escape(_json(value))}</code>"] for name, value in leaves]
    return shown + versions + (table(["Option", "Value"], rows) if rows else "")


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
