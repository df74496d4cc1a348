"""Commands about methods: list them, compare them in a repeatable study."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from typing import Any

from alfilter.commands.paper import at_scale, print_claims, print_paper, write_figures
from alfilter.commands.shared import add_json
from alfilter.errors import UserError, nearest


def add_methods(commands: Any) -> None:
    p = commands.add_parser("methods", help="list the methods, or the options of one")
    p.add_argument("method", metavar="METHOD", nargs="?")
    add_json(p)
    p.set_defaults(command=_methods)


def _methods(arguments: argparse.Namespace) -> int:
    from alfilter.commands.listing import method_options, method_rows, print_table

    rows = method_options(arguments.method) if arguments.method else method_rows(_warn)
    if arguments.json:
        print(json.dumps(rows))
    else:
        print_table(rows)
    return 0


def _warn(message: str) -> None:
    print(f"alfilter: {message}", file=sys.stderr)


def add_experiment(commands: Any) -> None:
    p = commands.add_parser("experiment", help="run one of the repeatable studies")
    p.add_argument("name", metavar="NAME", nargs="?", help="a study of the list, or a Python file with your own")
    p.add_argument("--list", action="store_true", help="name the studies")
    p.add_argument("--scale", choices=("cpu", "paper"), default="cpu",
                   help="paper: the paper's full protocol; cpu: its twin for two cores (default: cpu)")  # fmt: skip
    p.add_argument("--fetch", action="store_true", help="with --scale paper: fetch the data that can be had")
    p.add_argument(
        "--data", metavar="DIR", default="../shared/data", help="where the images are (default: ../shared/data)"
    )
    p.add_argument("--out", metavar="DIR", help="where the result lines go (default: runs/experiments)")
    p.add_argument("--workers", type=int, default=2, help="runs side by side, one core each (default: 2)")
    p.add_argument("--threads", type=int, help="cores of one run (default: 1; all when --workers is 1)")
    p.add_argument("--ray", metavar="ADDRESS", help="on a Ray cluster: its address, auto, or local for one made here")
    add_json(p)
    p.set_defaults(command=_experiment)


def _experiment(arguments: argparse.Namespace) -> int:
    from alfilter.experiments import EXPERIMENTS, PAPER, read_study, run_experiment

    if arguments.list or arguments.name is None:
        for name, study in EXPERIMENTS.items():
            print(f"{name:<16}{study.question}")
        print_paper()
        return 0
    if arguments.name == "claims":
        return print_claims(arguments.out)
    if arguments.name in PAPER or arguments.scale == "paper":
        study = at_scale(arguments.name, arguments.scale, arguments.data, arguments.fetch)
    elif arguments.name.endswith(".py"):
        study = read_study(arguments.name)
    elif arguments.name in EXPERIMENTS:
        study = EXPERIMENTS[arguments.name]
    else:
        raise UserError(f"there is no study {arguments.name!r}; {nearest(arguments.name, EXPERIMENTS)}")
    say = functools.partial(print, file=sys.stderr, flush=True)
    many: dict[str, Any] = {"threads": arguments.threads, "ray": arguments.ray, "live": sys.stderr.isatty()}
    lines = run_experiment(study, arguments.data, arguments.out, arguments.workers, say, **many)
    print(json.dumps(lines) if arguments.json else study.summarise(lines))
    _draw(arguments.name, lines, arguments.out, say)
    write_figures(arguments.name, study.name, lines, arguments.out, say)
    return 0


def _draw(name: str, lines: Any, out: str | None, say: Any) -> None:
    """The figure of a study that has one, beside its lines."""
    from alfilter.report.figures.studies import write_figure

    path = write_figure(name, lines, out or "runs/experiments")
    if path is not None:
        say(f"figure {path}")
