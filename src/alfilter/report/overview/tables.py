"""Result lines as tables: one row per setting, mean and spread per metric, the paper's value beside it."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from alfilter.report.overview.collect import Entry
from alfilter.report.overview.facts import Values
from alfilter.report.page.labels import METRICS

HIGHER = ("psnr", "psnr_between", "ssim", "iou", "normals", "r2", "snr")  # of these more is better
KNOWN_LOWER = ("lpips", "mse", "rmse", "mae", "l1", "chamfer", "chamfer_half", "hausdorff", "sdf_near", "sdf_far")


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
    """Mean and standard deviation over `count` runs, and what the paper prints."""

    mean: float | None
    spread: float | None
    count: int
    printed: float | None = None


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
    """The table of one study."""

    study: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def best(self, index: int) -> float | None:
        """The best mean of a column, where one direction is better and there is a choice.

        Only rows with as many runs as any other count: one lucky picture is no mean.
        """
        most = max((row.values[index].count for row in self.rows), default=0)
        means = [row.values[index].mean for row in self.rows if row.values[index].count == most]
        known = [mean for mean in means if mean is not None]
        better = self.columns[index].better
        if not better or len(known) < 2:
            return None
        return max(known) if better > 0 else min(known)


def tabulate(study: str, entries: Sequence[Entry], printed: Values | None = None) -> Table:
    """The table of a study's entries, rows in order of appearance; what was seen in different ways is never mixed.

    printed: row → metric → what the paper prints.
    """
    groups: dict[str, list[Entry]] = {}
    several = len({entry.observe for entry in entries}) > 1
    for entry in entries:
        groups.setdefault(f"{entry.group} · {entry.observe}" if several else entry.group, []).append(entry)
    values = printed or {}
    columns = tuple(_columns(entries, {name for row in values.values() for name in row}))
    rows = [_row(group, members, columns, values.get(group, {})) for group, members in groups.items()]
    return Table(study, columns, tuple(rows))


def _columns(entries: Sequence[Entry], printed: set[str]) -> list[Column]:
    columns = []
    for is_heldout in (False, True):
        parts = [entry.heldout if is_heldout else entry.metrics for entry in entries]
        names = dict.fromkeys(name for part in parts for name, value in part.items() if _number(value) is not None)
        for name in names:
            shown, unit, digits, _ = METRICS.get(name, (name.replace("_", " "), "", 4, ""))
            label = f"{shown}{', held out' if is_heldout else ''}{f', {unit}' if unit else ''}"
            better = 1 if name in HIGHER else -1 if name in KNOWN_LOWER else 0
            columns.append(Column(name, is_heldout, label, digits, better, name in printed and not is_heldout))
    return columns


def _row(group: str, members: Sequence[Entry], columns: Sequence[Column], printed: Mapping[str, float]) -> Row:
    values = []
    for column in columns:
        parts = [entry.heldout if column.is_heldout else entry.metrics for entry in members]
        values_of_runs = [number for part in parts if (number := _number(part.get(column.metric))) is not None]
        beside = printed.get(column.metric) if column.has_printed else None
        values.append(Value(*_mean(values_of_runs), len(values_of_runs), beside))
    params, seconds, steps = (
        _mean([number for entry in members if (number := _number(getattr(entry, name))) is not None])[0]
        for name in ("params", "seconds", "steps")
    )
    return Row(group, len(members), tuple(values), params, seconds, steps)


def _mean(values: Sequence[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


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


def as_markdown(tables: Sequence[Table]) -> str:
    """A heading and a pipe table per study."""
    return "\n\n".join(f"## {table.study}\n\n{_markdown(table)}" for table in tables) + "\n"


def _markdown(table: Table) -> str:
    heads = ["setting", "runs", *_heads(table), "parameters", "seconds"]
    rows = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    for row in table.rows:
        cells = []
        for index, (column, value) in enumerate(zip(table.columns, row.values, strict=True)):
            text = shown(value.mean, column.digits)
            best = value.mean is not None and value.mean == table.best(index)
            around = f" ± {shown(value.spread, column.digits)}" if value.spread is not None else ""
            cells.append(f"**{text}**{around}" if best else f"{text}{around}")
            if column.has_printed:
                cells.append(shown(value.printed, column.digits))
        rows.append([_piped(row.group), str(row.runs), *cells, shown(row.params, 0), shown(row.seconds, 1)])
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def _heads(table: Table) -> list[str]:
    return [word for column in table.columns for word in (column.label, *(["printed"] if column.has_printed else []))]


def _piped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def as_csv(tables: Sequence[Table]) -> str:
    """Tidy data for other programs: a line per study, setting and metric, all digits."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["study", "setting", "metric", "part", "runs", "mean", "spread", "printed"])
    for table in tables:
        for row in table.rows:
            for column, value in zip(table.columns, row.values, strict=True):
                part = "held out" if column.is_heldout else "seen"
                numbers = ["" if x is None else repr(x) for x in (value.mean, value.spread, value.printed)]
                writer.writerow([table.study, row.group, column.metric, part, value.count, *numbers])
            for name in ("params", "seconds", "steps"):
                number = getattr(row, name)
                text = "" if number is None else repr(number)
                writer.writerow([table.study, row.group, name, "", row.runs, text, "", ""])
    return stream.getvalue()


def as_latex(tables: Sequence[Table]) -> str:
    """A booktabs table per study, the best of each column bold; needs \\usepackage{booktabs}."""
    return "\n\n".join(_latex(table) for table in tables) + "\n"


def _latex(table: Table) -> str:
    heads = ["Setting", *(_tex(head) for head in _heads(table))]
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_tex(table.study)}: mean $\pm$ standard deviation over the runs.}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
        r"    \toprule",
        f"    {' & '.join(heads)} " + r"\\",
        r"    \midrule",
    ]
    for row in table.rows:
        cells = [_tex(row.group)]
        for index, (column, value) in enumerate(zip(table.columns, row.values, strict=True)):
            text = _tex_number(shown(value.mean, column.digits))
            best = value.mean is not None and value.mean == table.best(index)
            around = rf" $\pm$ {_tex_number(shown(value.spread, column.digits))}" if value.spread is not None else ""
            cells.append(rf"\textbf{{{text}}}{around}" if best else f"{text}{around}")
            if column.has_printed:
                cells.append(_tex_number(shown(value.printed, column.digits)))
        lines.append(f"    {' & '.join(cells)} " + r"\\")
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", r"\end{table}"])


_TEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "α": r"$\alpha$", "ω": r"$\omega$", "κ": r"$\kappa$",
        "²": "$^2$", "×": r"$\times$", "γ": r"$\gamma$", "λ": r"$\lambda$", "±": r"$\pm$", "–": "--"}  # fmt: skip


def _tex(text: str) -> str:
    """Text that LaTeX sets as it stands.

    >>> _tex("al-sine, α & 5 %")
    'al-sine, $\\\\alpha$ \\\\& 5 \\\\%'
    """
    return "".join(_TEX.get(letter, letter) for letter in text)


def _tex_number(text: str) -> str:
    """A number, 2.40e-06 as 2.40 × 10⁻⁶."""
    if "e" not in text:
        return text.replace("–", "--")
    digits, power = text.split("e")
    return rf"${digits}\times10^{{{int(power)}}}$"
