"""`alfilter methods`: the paper's table of systems with our columns, and the options of one method."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from alfilter.commands.shared import add_json, print_json


def add_methods(commands: Any) -> None:
    p = commands.add_parser("methods", help="list the methods, or the options of one")
    p.add_argument("method", metavar="METHOD", nargs="?")
    add_json(p)
    p.set_defaults(command=_methods)


def _methods(arguments: argparse.Namespace) -> int:
    rows = method_options(arguments.method) if arguments.method else method_rows(_warn)
    if arguments.json:
        print_json({"options" if arguments.method else "methods": rows})
    else:
        print_table(rows)
    return 0


def _warn(message: str) -> None:
    print(f"alfilter: {message}", file=sys.stderr)


def method_rows(warn: Callable[[str], None]) -> list[dict[str, Any]]:
    """One row per method: the facts of the paper's Table 1, and what its default costs on a colour picture of 512×512.

    params: trained numbers. mflop: matrix products of a training step, per point. warn: called with each method of an
    installed package that cannot be used.
    """
    from alfilter.methods import METHODS, build, parameter_count
    from alfilter.methods.sizing import cost_per_point

    rows = []
    for reason in METHODS.broken().values():
        warn(reason)
    for name, row in METHODS.items():
        try:
            field = build(name, in_dim=2, out_dim=3, preset="default", samples=(512, 512))
            cost = cost_per_point(field)
        except Exception as error:
            if METHODS.provider(name) is None:
                raise
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            warn(f"method {name!r} of the {METHODS.provider(name)} cannot be built ({reason})")
            continue
        rows.append(
            {
                "method": name,
                "year": row.year,
                "adaptive": row.adaptive,
                "explicit": row.explicit,
                "positional": row.positional,
                "params": parameter_count(field),
                "mflop": round(cost, 3),
                "presets": ", ".join(row.presets),
                "what": row.title,
            }
        )
    return rows


def method_options(name: str) -> list[dict[str, Any]]:
    """One row per option of a method: its name, its default, what it means."""
    from alfilter.methods import method

    known = fields(method(name).options)
    return [{"option": f.name, "default": f.default, "meaning": f.metadata.get("doc", "")} for f in known]


def print_table(rows: list[dict[str, Any]]) -> None:
    """Rows as columns of text."""
    heads = list(rows[0])
    cells = [heads, *([str(row[head]) for head in heads] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(heads))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
