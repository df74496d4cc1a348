"""`alfilter report`: run folders and result lines in, one page or tables for a paper out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

FORMATS = ("html", "markdown", "csv", "latex")


def add_report(commands: Any) -> None:
    p = commands.add_parser("report", help="one page, or tables, about run folders and studies")
    p.add_argument("paths", metavar="DIR", nargs="+", help="run folders, folders of result lines, or .jsonl files")
    p.add_argument("--format", choices=FORMATS, default="html", help="html page, or tables (default: html)")
    p.add_argument("--out", metavar="FILE", help="where it goes (default: report.html; tables go to stdout)")
    p.add_argument("--baseline", metavar="ROW", help="compare the other rows of a study with this one, run by run")
    p.add_argument("--by-signal", action="store_true", help="also a table for every signal (the page always has them)")
    p.add_argument("--title", default="alfilter report", help="the page's heading")
    p.set_defaults(command=_report)


def _report(arguments: argparse.Namespace) -> int:
    from alfilter.commands.paper import paper_facts
    from alfilter.files import write_text
    from alfilter.report.overview.collect import collect
    from alfilter.report.overview.html import render_overview
    from alfilter.report.overview.tables import as_csv, as_latex, as_markdown, check_baseline, signals_of, tabulate

    collection = collect(arguments.paths)
    studies = collection.studies()
    facts = paper_facts({name: [entry.line for entry in rows] for name, rows in studies.items()})
    if arguments.baseline is not None:
        check_baseline(arguments.baseline, collection.entries)
    if arguments.format == "html":
        text = render_overview(collection, arguments.title, facts, arguments.baseline)
        out = arguments.out or "report.html"
    else:
        write = {"markdown": as_markdown, "csv": as_csv, "latex": as_latex}[arguments.format]
        tables = []
        for name, rows in studies.items():
            baseline = arguments.baseline if any(row.group == arguments.baseline for row in rows) else None
            tables.append(tabulate(name, rows, facts.printed.get(name, ("", {}))[1], baseline=baseline))
            signals = signals_of(rows) if arguments.by_signal else []
            tables += [tabulate(name, rows, baseline=baseline, signal=signal) for signal in signals]
        text, out = write(tables), arguments.out
    if out is None:
        sys.stdout.write(text)
        return 0
    write_text(Path(out), text)
    print(f"{out} {len(collection.entries)} runs, {len(text.encode()) / 1e6:.1f} MB")
    return 0
