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
    p.add_argument("name", metavar="NAME", nargs="?", help="a study of the list, or a Python file with your own")
    p.add_argument("--list", action="store_true", help="name the studies")
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
    from alfilter.experiments import EXPERIMENTS, read_study, run_experiment

    if arguments.list or arguments.name is None:
        for name, study in EXPERIMENTS.items():
            print(f"{name:<16}{study.question}")
        return 0
    if arguments.name.endswith(".py"):
        study = read_study(arguments.name)
    elif arguments.name in EXPERIMENTS:
        study = EXPERIMENTS[arguments.name]
    else:
        raise UserError(f"there is no study {arguments.name!r}; {nearest(arguments.name, EXPERIMENTS)}")
    say = functools.partial(print, file=sys.stderr, flush=True)
    many: dict[str, Any] = {"threads": arguments.threads, "ray": arguments.ray, "live": sys.stderr.isatty()}
    lines = run_experiment(study, arguments.data, arguments.out, arguments.workers, say, **many)
    print(json.dumps(lines) if arguments.json else study.summarise(lines))
    return 0
