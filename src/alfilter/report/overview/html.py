"""One self-contained HTML page about many runs: tables, curves, crops under a slider, maps, figures, verdicts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from alfilter.report.figures.pixels import chart
from alfilter.report.overview import pictures
from alfilter.report.overview.collect import FOLDERS, Collection, Entry, Facts
from alfilter.report.overview.curves import MAX_CURVES, curves_key, curves_svg, mean_curves
from alfilter.report.overview.tables import (
    Column,
    Row,
    Table,
    Value,
    around,
    difference_text,
    shown,
    signals_of,
    tabulate,
)
from alfilter.report.page.document import document
from alfilter.report.page.labels import CHARTS as RUN_CHARTS
from alfilter.report.page.labels import METRICS, Metric

TITLES = {FOLDERS: "Runs"}
_CLASS = {"holds": "holds", "does not hold": "fails", "not decided here": "open"}


def render_overview(
    collection: Collection, title: str = "Report", facts: Facts | None = None, baseline: str | None = None
) -> str:
    """The whole page. facts: what stands beside the numbers: printed values, verdicts, captions.

    baseline: the row that the others of its study are compared with.
    """
    facts = facts or Facts()
    studies = collection.studies()
    parts = [_header(title, collection, bool(facts.claims))]
    parts += ["<main>", _claims(facts.claims)]
    for name, entries in studies.items():
        reference = baseline if any(entry.group == baseline for entry in entries) else None
        parts.append(_study(name, entries, collection.figures.get(name, {}), facts, reference))
    parts.append("</main>")
    return document(title, parts, ["page", "overview"])


def _header(title: str, collection: Collection, claims: bool) -> str:
    studies = collection.studies()
    versions = sorted({entry.version for entry in collection.entries if entry.version})
    methods = {entry.method for entry in collection.entries}
    signals = {entry.signal for entry in collection.entries if entry.signal}
    summary = (
        f"{_count(len(collection.entries), 'finished run')}, {_count(len(methods), 'method')}, "
        f"{_count(len(signals), 'signal')}; alfilter {escape(', '.join(versions)) or 'of an unknown version'}."
    )
    links = [("claims", "The paper's claims")] if claims else []
    links += [(_anchor(name), TITLES.get(name, name)) for name in studies]
    nav = "".join(f'<a href="#{anchor}">{escape(word)}</a>' for anchor, word in links)
    return f"<header><h1>{escape(title)}</h1><p>{summary}</p><nav>{nav}</nav></header>"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _anchor(name: str) -> str:
    return "study-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _claims(claims: Sequence[Mapping[str, str]]) -> str:
    if not claims:
        return ""
    rows = "".join(_claim_row(**claim) for claim in claims)
    heads = "".join(f'<th scope="col"><button type="button">{h}</button></th>' for h in ("Claim", "Here", "Evidence"))
    table = f'<table class="wide claims"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<section id="claims"><h2>The paper\'s claims</h2><div class="scroll">{table}</div></section>'


def _claim_row(claim: str, where: str, verdict: str, evidence: str, command: str, size: str = "") -> str:
    return (
        f'<tr><td>{escape(claim)}<br><small>{escape(where)}</small></td><td class="verdict '
        f'{_CLASS.get(verdict, "partly")}">{escape(verdict)}</td><td>{escape(evidence)}<br>'
        f"<small>{escape(size)} <code>{escape(command)}</code></small></td></tr>"
    )


def _study(name: str, entries: Sequence[Entry], figures: dict[str, bytes], facts: Facts, baseline: str | None) -> str:
    title, printed = facts.printed.get(name, ("", {}))
    beside = (
        f'<p class="soft">Printed: the paper\'s table “{escape(title)}”. Bold is the best here.</p>' if printed else ""
    )
    table = tabulate(name, entries, printed, baseline=baseline)
    note = f'<p class="soft">{escape(table.note)}.</p>' if table.note else ""
    heading = f"{escape(TITLES.get(name, name))} <small>{_count(len(entries), 'run')}</small>"
    parts = [
        f'<section id="{_anchor(name)}"><h2>{heading}</h2>',
        html_table(table),
        note,
        beside,
        _per_signal(name, entries, baseline),
        _curves(entries),
        pictures.comparisons(entries),
        pictures.contact_sheet(entries),
        _figures(figures, facts),
        _charts(entries),
        "</section>",
    ]
    return "".join(parts)


def _per_signal(name: str, entries: Sequence[Entry], baseline: str | None) -> str:
    """A folded table for every signal, where there are several and something was repeated on them."""
    signals = signals_of(entries)
    if name == FOLDERS or len(signals) < 2:
        return ""
    tables = [tabulate(name, entries, baseline=baseline, signal=signal) for signal in signals]
    shown_tables = "".join(f"<h4>{escape(table.signal or '')}</h4>{html_table(table)}" for table in tables)
    return f"<details><summary>Signal by signal</summary>{shown_tables}</details>"


def html_table(table: Table) -> str:
    """A table whose columns sort; the best of a column stands out, printed values are in a column of their own."""
    heads = [_head("Setting", ""), _head("Runs", "number")]
    for column in table.columns:
        arrow = {1: " ↑", -1: " ↓", 0: ""}[column.better]
        heads.append(_head(column.label + arrow, "number", METRICS.get(column.metric, Metric("")).meaning))
        if column.has_printed:
            heads.append(_head("printed", "number printed", "What the paper prints"))
        if table.baseline is not None:
            heads.append(_head(f"Δ to {table.baseline}", "number", "Mean difference of paired runs, 95 % interval"))
    heads += [_head("Parameters", "number"), _head("Seconds", "number"), _head("Steps", "number")]
    body = "".join(_html_row(table, row) for row in table.rows)
    return (
        f'<div class="scroll"><table class="wide"><thead><tr>{"".join(heads)}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _head(word: str, kind: str, meaning: str = "") -> str:
    tooltip = f' title="{escape(meaning, quote=True)}"' if meaning else ""
    of = f' class="{kind}"' if kind else ""
    return f'<th scope="col"{of}{tooltip}><button type="button">{escape(word)}</button></th>'


def _html_row(table: Table, row: Row) -> str:
    cells = [f"<td>{escape(row.group)}</td>", _cell(str(row.runs), row.runs)]
    for index, (column, value) in enumerate(zip(table.columns, row.values, strict=True)):
        best = value.mean is not None and value.mean == table.best(index)
        cells.append(_cell(_value(column, value, best), value.mean))
        if column.has_printed:
            cells.append(_cell(shown(value.printed, column.digits), value.printed, " printed"))
        if table.baseline is not None:
            change = value.difference
            cells.append(_cell(difference_text(column, value), None if change is None else change.mean))
    for number, digits in ((row.params, 0), (row.seconds, 1), (row.steps, 0)):
        cells.append(_cell(shown(number, digits), number))
    return f"<tr>{''.join(cells)}</tr>"


def _value(column: Column, value: Value, best: bool) -> str:
    text = shown(value.mean, column.digits)
    spread = f"<small>{around(column, value)}</small>"
    return (f"<b>{text}</b>" if best else text) + (spread if around(column, value) else "")


def _cell(text: str, value: float | None, more: str = "") -> str:
    # what is missing sorts below everything
    return f'<td class="number{more}" data-value="{"-1e308" if value is None else repr(float(value))}">{text}</td>'


def _curves(entries: Sequence[Entry]) -> str:
    series = mean_curves(entries)
    if not series:
        return ""
    longest = max(float(steps[-1]) for _, steps, _ in series)
    drawings = [(curves_svg(series, "All steps", log=longest >= 100), "All steps.")]
    if longest > 150:
        drawings.insert(0, (curves_svg(series, "The first 100 steps", until=100), "The first 100 steps."))
    figures = "".join(f"<figure>{d}<figcaption>{word}</figcaption></figure>" for d, word in drawings if d)
    settings = {entry.group for entry in entries if len(entry.curve) > 1}
    left = (
        f'<p class="soft">The best {MAX_CURVES} of {len(settings)} settings.</p>' if len(settings) > MAX_CURVES else ""
    )
    note = '<p class="soft">Mean PSNR over the runs of a setting; the numbers are its last values in dB.</p>'
    return f'<h3>Convergence</h3><div class="pair">{figures}</div>{curves_key(series)}{left}{note}'


def _figures(figures: dict[str, bytes], facts: Facts) -> str:
    if not figures:
        return ""
    return "<h3>Figures</h3>" + "".join(_drawn(data, _figure_caption(name, facts)) for name, data in figures.items())


def _figure_caption(stem: str, facts: Facts) -> str:
    """A figure's caption from its file's name.

    >>> _figure_caption("image-fitting-figure-crops", Facts(captions={"crops": "Fine detail"}))
    'Fine detail'
    """
    return facts.captions.get(stem.rpartition("-figure-")[2].removesuffix("-paper"), stem.replace("-", " "))


def _drawn(data: bytes, caption: str) -> str:
    source, width, height = chart(data)
    text = escape(caption, quote=True)
    image = f'<img src="{source}" alt="{text}" width="{width}" height="{height}">'
    return f'<figure class="chart">{image}<figcaption>{text}</figcaption></figure>'


def _charts(entries: Sequence[Entry]) -> str:
    """The drawn figures of run folders, folded: they are the folder's own report."""
    parts = []
    for entry in entries:
        if not entry.charts:
            continue
        drawn = "".join(
            _drawn(data, f"{entry.group}: {_caption(name)}") for name, data in entry.charts.items() if name != "sparse"
        )
        parts.append(f"<details><summary>{escape(entry.group)}: α, error and spectrum</summary>{drawn}</details>")
    return "".join(parts)


def _caption(name: str) -> str:
    known: Any = RUN_CHARTS.get(name)
    return known[0] if known else name
