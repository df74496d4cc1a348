"""Result lines as tables: one row per setting; means, spreads and differences; the paper's value beside them."""

from __future__ import annotations

import csv
import io
import math
import re
import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from alfilter.errors import UserError
from alfilter.metrics.summary import Difference, Summary, paired, summarise
from alfilter.report.overview.collect import Entry, Values
from alfilter.report.page.labels import METRICS, Metric


@dataclass(frozen=True)
class Column:
    """A metric of a table. is_heldout: measured on held-out samples. better: 1 more, -1 less, 0 neither is better."""

    metric: str
    is_heldout: bool
    label: str
    digits: int
    better: int
    has_printed: bool = False


@dataclass(frozen=True)
class Value:
    """Mean and standard deviations over runs, what the paper prints, and the difference to the table's baseline."""

    summary: Summary
    printed: float | None = None
    difference: Difference | None = None

    @property
    def mean(self) -> float | None:
        return self.summary.mean


@dataclass(frozen=True)
class Row:
    """One setting of a study."""

    group: str
    runs: int
    values: tuple[Value, ...]
    params: float | None
    seconds: float | None
    steps: float | None


@dataclass(frozen=True)
class Table:
    """The table of one study, or of one of its signals. baseline: the row that the others are compared with."""

    study: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    signal: str | None = None
    baseline: str | None = None

    @property
    def title(self) -> str:
        return self.study if self.signal is None else f"{self.study}: {self.signal}"

    @property
    def note(self) -> str:
        """What the numbers around the means are."""
        seeds = any(value.summary.over_seeds is not None for row in self.rows for value in row.values)
        signals = any(value.summary.over_signals is not None for row in self.rows for value in row.values)
        parts = ["± standard deviation over signals"] if signals else []
        parts += ["in brackets over the seeds of a signal"] if seeds else []
        parts += (
            [f"Δ: mean difference to {self.baseline} on the same signals and seeds, with its 95 % interval"]
            if (self.baseline is not None)
            else []
        )
        return "; ".join(parts)

    def best(self, index: int) -> float | None:
        """The best mean of a column, where one direction is better and there is a choice.

        Only rows with as many runs as any other count: one lucky picture is no mean.
        """
        most = max((row.values[index].summary.runs for row in self.rows), default=0)
        means = [row.values[index].mean for row in self.rows if row.values[index].summary.runs == most]
        known = [mean for mean in means if mean is not None]
        better = self.columns[index].better
        if not better or len(known) < 2:
            return None
        return max(known) if better > 0 else min(known)


def tabulate(
    study: str,
    entries: Sequence[Entry],
    printed: Values | None = None,
    *,
    baseline: str | None = None,
    signal: str | None = None,
) -> Table:
    """The table of a study's entries, rows in order of appearance; what was seen in different ways is never mixed.

    printed: row → metric → what the paper prints. baseline: the row that the others are compared with, run by run.
    signal: the only one that counts.
    """
    entries = [entry for entry in entries if signal is None or entry.signal == signal]
    groups: dict[str, list[Entry]] = {}
    several = len({entry.observe for entry in entries}) > 1
    for entry in entries:
        groups.setdefault(f"{entry.group} · {entry.observe}" if several else entry.group, []).append(entry)
    values = printed or {}
    columns = tuple(_columns(entries, {name for row in values.values() for name in row}))
    rows = [
        _row(group, members, columns, values.get(group, {}), _reference(group, groups, baseline))
        for group, members in groups.items()
    ]
    return Table(study, columns, tuple(rows), signal, baseline)


def signals_of(entries: Sequence[Entry]) -> list[str]:
    """The signals of some entries, in order of appearance."""
    return list(dict.fromkeys(entry.signal for entry in entries))


def check_baseline(name: str, entries: Sequence[Entry]) -> None:
    """Refuse a baseline that no row is called."""
    groups = list(dict.fromkeys(entry.group for entry in entries))
    if name not in groups:
        raise UserError(f"the baseline must be one of the rows {', '.join(groups)}, got {name!r}; name one of them")


def _reference(group: str, groups: Mapping[str, Sequence[Entry]], baseline: str | None) -> Sequence[Entry]:
    """The runs of the baseline that a row is compared with: those that saw as much."""
    if baseline is None or group.partition(" · ")[0] == baseline:
        return ()
    observed = group[len(group.partition(" · ")[0]) :]
    return groups.get(baseline + observed, ())


def _columns(entries: Sequence[Entry], printed: set[str]) -> list[Column]:
    columns = []
    for is_heldout in (False, True):
        parts = [entry.heldout if is_heldout else entry.metrics for entry in entries]
        names = dict.fromkeys(name for part in parts for name, value in part.items() if _number(value) is not None)
        for name in names:
            label = METRICS.get(name, Metric(name.replace("_", " ")))
            head = f"{label.name}{', held out' if is_heldout else ''}{f', {label.unit}' if label.unit else ''}"
            has_printed = name in printed and not is_heldout
            columns.append(Column(name, is_heldout, head, label.digits, label.better, has_printed))
    return columns


def _row(
    group: str,
    members: Sequence[Entry],
    columns: Sequence[Column],
    printed: Mapping[str, float],
    reference: Sequence[Entry],
) -> Row:
    values = []
    for column in columns:
        scores = _values(members, column)
        beside = printed.get(column.metric) if column.has_printed else None
        difference = paired(_by_run(scores), _by_run(_values(reference, column)))
        values.append(Value(summarise([(entry.picture_key, value) for entry, value in scores]), beside, difference))
    params, seconds, steps = (
        _mean([number for entry in members if (number := _number(getattr(entry, name))) is not None])
        for name in ("params", "seconds", "steps")
    )
    return Row(group, len(members), tuple(values), params, seconds, steps)


def _values(members: Sequence[Entry], column: Column) -> list[tuple[Entry, float]]:
    """The runs that have a column's metric."""
    parts = [(entry, entry.heldout if column.is_heldout else entry.metrics) for entry in members]
    return [(entry, value) for entry, part in parts if (value := _number(part.get(column.metric))) is not None]


def _by_run(values: Sequence[tuple[Entry, float]]) -> dict[tuple[Hashable, Hashable], float]:
    return {(entry.picture_key, entry.seed): value for entry, value in values}


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def shown(value: float | None, digits: int) -> str:
    """A number for a reader; what is too small for its decimals, or large, in powers of ten.

    >>> shown(46.274, 2), shown(2.4e-6, 6), shown(None, 2), shown(150019.0, 0)
    ('46.27', '2.40e-06', '–', '150,019')
    """
    if value is None:
        return "–"
    if value != 0 and abs(value) < 10.0 ** (1 - digits) and digits > 2:
        return f"{value:.2e}"
    return f"{value:,.{digits}f}"


def around(column: Column, value: Value) -> str:
    """What follows a mean: its spread over signals, and in brackets over the seeds of one.

    >>> around(Column("psnr", False, "PSNR", 2, 1), Value(Summary(40.0, 0.714, 0.05, 4)))
    ' ± 0.71 (± 0.05)'
    """
    signals, seeds = value.summary.over_signals, value.summary.over_seeds
    text = f" ± {shown(signals, column.digits)}" if signals is not None else ""
    return text + (f" (± {shown(seeds, column.digits)})" if seeds is not None else "")


def difference_text(column: Column, value: Value) -> str:
    """A difference to the baseline with its interval and the number of pairs.

    >>> difference_text(Column("psnr", False, "PSNR", 2, 1), Value(Summary(40.0, None, None, 3), None,
    ...                 Difference(1.5, 1.0, 2.0, 3)))
    '+1.50 [+1.00, +2.00], 3 pairs'
    """
    change = value.difference
    if change is None:
        return "–"
    numbers = [signed(each, column.digits) for each in (change.mean, change.low, change.high) if each is not None]
    interval = f" [{numbers[1]}, {numbers[2]}]" if len(numbers) == 3 else ""
    return f"{numbers[0]}{interval}, {change.pairs} pair{'' if change.pairs == 1 else 's'}"


def signed(value: float, digits: int) -> str:
    """A number with its sign.

    >>> signed(0.5, 2), signed(-2.4e-6, 6)
    ('+0.50', '-2.40e-06')
    """
    return ("" if value < 0 else "+") + shown(value, digits)


def as_markdown(tables: Sequence[Table]) -> str:
    """A heading, a pipe table and what its numbers are, per table."""
    parts = [
        f"## {table.title}\n\n{_markdown(table)}" + (f"\n\n{table.note}." if table.note else "") for table in tables
    ]
    return "\n\n".join(parts) + "\n"


def _markdown(table: Table) -> str:
    heads = ["setting", "runs", *_heads(table), "parameters", "seconds"]
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for row in table.rows:
        cells = _cells(table, row, "**{}**")
        rows.append([_piped(row.group), str(row.runs), *cells, shown(row.params, 0), shown(row.seconds, 1)])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def _cells(table: Table, row: Row, bold: str) -> list[str]:
    """The numbers of a row under `_heads`, the best of a column as `bold` formats it."""
    cells = []
    for index, (column, value) in enumerate(zip(table.columns, row.values, strict=True)):
        text = shown(value.mean, column.digits)
        best = value.mean is not None and value.mean == table.best(index)
        cells.append((bold.format(text) if best else text) + around(column, value))
        if column.has_printed:
            cells.append(shown(value.printed, column.digits))
        if table.baseline is not None:
            cells.append(difference_text(column, value))
    return cells


def _heads(table: Table) -> list[str]:
    heads = []
    for column in table.columns:
        heads += [column.label, *(["printed"] if column.has_printed else [])]
        heads += [f"Δ to {table.baseline}"] if table.baseline is not None else []
    return heads


def _piped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def as_csv(tables: Sequence[Table]) -> str:
    """Tidy data for other programs: a line per study, signal (empty: all), setting and metric, all digits."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["study", "signal", "setting", "metric", "part", "runs", "mean", "over_signals", "over_seeds",
                     "printed", "baseline", "difference", "low", "high", "pairs"])  # fmt: skip
    for table in tables:
        for row in table.rows:
            for column, value in zip(table.columns, row.values, strict=True):
                part, summary = "held out" if column.is_heldout else "seen", value.summary
                numbers = [_exact(x) for x in (summary.mean, summary.over_signals, summary.over_seeds, value.printed)]
                named = [table.study, table.signal or "", row.group, column.metric, part, summary.runs]
                apart = ["", "", "", ""]
                if (change := value.difference) is not None:
                    apart = [_exact(change.mean), _exact(change.low), _exact(change.high), str(change.pairs)]
                writer.writerow([*named, *numbers, table.baseline or "", *apart])
            for name in ("params", "seconds", "steps"):
                named = [table.study, table.signal or "", row.group, name, "", row.runs]
                writer.writerow([*named, _exact(getattr(row, name)), *[""] * 8])
    return stream.getvalue()


def _exact(value: float | None) -> str:
    return "" if value is None else repr(value)


def as_latex(tables: Sequence[Table]) -> str:
    """A booktabs table per study, the best of each column bold; needs \\usepackage{booktabs}."""
    return "\n\n".join(_latex(table) for table in tables) + "\n"


def _latex(table: Table) -> str:
    heads = ["Setting", "Runs", *(_tex(head) for head in _heads(table))]
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_tex(table.title)}: means over the runs{_tex('; ' + table.note if table.note else '')}.}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        r"    \toprule",
        f"    {' & '.join(heads)} " + r"\\",
        r"    \midrule",
    ]
    for row in table.rows:
        numbers = [_tex_numbers(cell) for cell in _cells(table, row, r"\textbf{{{}}}")]
        lines.append(f"    {' & '.join([_tex(row.group), str(row.runs), *numbers])} " + r"\\")
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", r"\end{table}"])


_TEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "α": r"$\alpha$", "ω": r"$\omega$", "κ": r"$\kappa$",
        "²": "$^2$", "×": r"$\times$", "γ": r"$\gamma$", "λ": r"$\lambda$", "±": r"$\pm$", "–": "--",
        "Δ": r"$\Delta$"}  # fmt: skip


def _tex(text: str) -> str:
    """Text that LaTeX sets as it stands.

    >>> _tex("al-sine, α & 5 %")
    'al-sine, $\\\\alpha$ \\\\& 5 \\\\%'
    """
    return "".join(_TEX.get(letter, letter) for letter in text)


def _tex_numbers(text: str) -> str:
    r"""Numbers and signs in a text.

    >>> print(_tex_numbers("-2.40e-06 ± 1.00"))
    $-2.40\times10^{-6}$ $\pm$ 1.00
    """
    powers = re.sub(r"([-+]?[0-9.]+)e([-+]?[0-9]+)", lambda m: rf"${m[1]}\times10^{{{int(m[2])}}}$", text)
    return powers.replace("±", r"$\pm$").replace("–", "--")
