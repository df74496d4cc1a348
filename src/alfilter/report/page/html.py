"""One self-contained HTML page about one run: no network, light and dark, screen, phone and paper."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from alfilter.report.page.document import document, image, png_size, table
from alfilter.report.page.labels import ALPHA_ONLY, CHARTS, COMPARED, KINDS, METRICS, Metric
from alfilter.report.page.svg import convergence_svg


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
        _comparison(pictures, _kind(settings)),
        _section("The numbers", _numbers(metrics, heldout), _convergence(history, pictures)),
        _section("What the field learned", _learned(str(settings.get("method", "")), pictures)),
        _section("Where it is wrong", _wrong(pictures)),
        _section("How to repeat it", _repeat(settings)),
        "</main>",
    ]
    return document(title, body, ["page"])


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


def _section(heading: str, *parts: str) -> str:
    return f"<section><h2>{heading}</h2>{''.join(parts)}</section>"


def _facts(facts: Mapping[str, object]) -> str:
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>" for name, value in facts.items())
    return f'<dl class="facts">{rows}</dl>' if rows else ""


def _comparison(pictures: Mapping[str, bytes], kind: str) -> str:
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
        stack = f'<div class="stack">{stack}</div>{label}<figcaption>{COMPARED}</figcaption>'
        parts.append(f'<figure class="compare" style="--wide: {wide}">{stack}</figure>')
    else:
        pairs = ((reference, "The reference"), (result, "The reconstruction"))
        parts += [f"<figure>{image(data, alt)}<figcaption>{alt}</figcaption></figure>" for data, alt in pairs if data]
    if observed := pictures.get("observed"):
        caption = "<figcaption>What the field saw; everything else was held out.</figcaption>"
        parts.append(f"<figure>{image(observed, 'The samples the field saw')}{caption}</figure>")
    parts += [_chart(name, pictures) for name in ("map", "waveform", "planes", "sparse") if name in pictures]
    return _section(KINDS.get(kind, KINDS["image"]), *parts) if parts else ""


def _kind(config: Mapping[str, Any]) -> str:
    """The kind of the fitted signal, as config.json names it."""
    signal = config.get("signal")
    return str(signal.get("kind", "")) if isinstance(signal, Mapping) else ""


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
    label = METRICS.get(name, Metric(name))
    explained = f"<small>{escape(label.meaning)}</small>" if label.meaning else ""
    values = [escape(shown_number(value, label.digits)) for value in ([seen, held] if both else [seen])]
    return [escape(f"{label.name} in {label.unit}" if label.unit else label.name) + explained, *values]


def _convergence(history: Sequence[Mapping[str, Any]], pictures: Mapping[str, bytes]) -> str:
    drawing = convergence_svg(history)
    if not drawing and "convergence" in pictures:
        drawing = image(pictures["convergence"], "PSNR over steps")
    if not drawing:
        return ""
    return f"<h3>Convergence</h3><figure>{drawing}<figcaption>PSNR on the seen samples.</figcaption></figure>"


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
    """The command, then every option that was in force, folded."""
    command = config.get("command")
    line = shlex.join(str(word) for word in command) if isinstance(command, list) else command
    # A span per word keeps a narrow screen from breaking inside --options; copied text stays the same.
    words = " ".join(f"<span>{escape(word)}</span>" for word in str(line).split(" "))
    shown = f"<pre><code>{words}</code></pre>" if line else "<p>The command line was not saved.</p>"
    named = ", ".join(f"{name} {escape(str(config[name]))}" for name in ("version", "seed") if name in config)
    versions = f"<p>alfilter {named}.</p>" if named else ""
    leaves = flat_options({name: value for name, value in config.items() if name not in ("command", "version", "seed")})
    rows = [[f"<code>{escape(name)}</code>", f"<code>{escape(_json(value))}</code>"] for name, value in leaves]
    options = f"<details><summary>All {len(rows)} options</summary>{table(['Option', 'Value'], rows)}</details>"
    return shown + versions + (options if rows else "")


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
