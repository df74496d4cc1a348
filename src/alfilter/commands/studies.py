"""Commands about methods: list them, compare them in a repeatable study."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from typing import Any

from alfilter.commands.shared import add_json
from alfilter.errors import UserError, nearest


def add_methods(commands: Any) -> None:
    p = commands.add_parser("methods", help="list the methods, or the options of one")
    p.add_argument("method", metavar="METHOD", nargs="?")
    add_json(p)
    p.set_defaults(command=_methods)


def _methods(arguments: argparse.Namespace) -> int:
    from alfilter.listing import method_options, method_rows, print_table

    rows = method_options(arguments.method) if arguments.method else method_rows()
    if arguments.json:
        print(json.dumps(rows))
    else:
        print_table(rows)
    return 0


def add_experiment(commands: Any) -> None:
    p = commands.add_parser("experiment", help="run one of the repeatable studies")
    p.add_argument("name", metavar="NAME", nargs="?")
    p.add_argument("--list", action="store_true", help="name the studies")
    p.add_argument(
        "--data", metavar="DIR", default="../shared/data", help="where the images are (default: ../shared/data)"
    )
    p.add_argument("--out", metavar="DIR", help="where the result lines go (default: runs/experiments)")
    p.add_argument("--workers", type=int, default=2, help="runs side by side, one core each (default: 2)")
    add_json(p)
    p.set_defaults(command=_experiment)


def _experiment(arguments: argparse.Namespace) -> int:
    from alfilter.experiments import EXPERIMENTS, run_experiment

    if arguments.list or arguments.name is None:
        for name, study in EXPERIMENTS.items():
            print(f"{name:<16}{study.question}")
        return 0
    if arguments.name not in EXPERIMENTS:
        raise UserError(f"there is no study {arguments.name!r}; {nearest(arguments.name, EXPERIMENTS)}")
    study = EXPERIMENTS[arguments.name]
    say = functools.partial(print, file=sys.stderr, flush=True)
    lines = run_experiment(study, arguments.data, arguments.out, arguments.workers, say)
    print(json.dumps(lines) if arguments.json else study.summarise(lines))
    _draw(arguments.name, lines, arguments.out, say)
    return 0


def _draw(name: str, lines: Any, out: str | None, say: Any) -> None:
    """The figure of a study that has one, beside its lines."""
    from alfilter.report.studies import write_figure

    path = write_figure(name, lines, out or "runs/experiments")
    if path is not None:
        say(f"figure {path}")
