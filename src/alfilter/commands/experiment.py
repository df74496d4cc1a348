"""`alfilter experiment`: run a repeatable study, list the studies, fetch their data."""

from __future__ import annotations

import argparse
import functools
import sys
from typing import TYPE_CHECKING, Any

from alfilter.commands.paper import print_claims
from alfilter.commands.shared import add_json, print_json, whole
from alfilter.errors import UserError

if TYPE_CHECKING:
    from alfilter.experiments import Study
    from alfilter.experiments.data import MissingData


def add_experiment(commands: Any) -> None:
    p = commands.add_parser("experiment", help="run one of the repeatable studies")
    p.add_argument("name", metavar="NAME", nargs="?", help="a study of the list, or a Python file with your own")
    p.add_argument("--list", action="store_true", help="name the studies")
    p.add_argument("--scale", choices=("cpu", "half", "paper"), default="cpu",
                   help="paper: full protocol; half: all sizes halved; cpu: a small twin (default: cpu)")  # fmt: skip
    p.add_argument("--fetch", action="store_true", help="fetch the public pictures that the data folder lacks")
    p.add_argument("--data", metavar="DIR",
                   help="where the data is (default: $ALFILTER_DATA, or ~/.cache/alfilter/data)")  # fmt: skip
    p.add_argument("--out", metavar="DIR", help="where the result lines go (default: runs/experiments)")
    p.add_argument("--workers", type=whole, default=2, help="runs side by side, one core each (default: 2)")
    p.add_argument("--threads", type=whole, help="cores of one run (default: 1; all when --workers is 1)")
    p.add_argument("--ray", metavar="ADDRESS", help="on a Ray cluster: its address, auto, or local for one made here")
    add_json(p)
    p.set_defaults(command=_experiment)


def _experiment(arguments: argparse.Namespace) -> int:
    from alfilter.experiments.data import data_folder, fetch_missing

    data = arguments.data or data_folder()
    say = functools.partial(print, file=sys.stderr, flush=True)
    if arguments.fetch:
        fetched = len(fetch_missing(data))
        say(f"{fetched} files fetched into {data}")
        if arguments.name is None and arguments.json:
            print_json({"fetched": fetched, "data": str(data)})
    if arguments.name == "claims":
        return print_claims(arguments.out, arguments.json)
    if arguments.list or (arguments.name is None and not arguments.fetch):
        return _print_studies(arguments.json)
    return 0 if arguments.name is None else _run(arguments, data, say)


def _print_studies(as_json: bool) -> int:
    from alfilter.experiments import STUDIES

    if as_json:
        print_json({"studies": {name: study.question for name, study in STUDIES.declared.items()}})
        return 0
    for name, study in STUDIES.declared.items():
        print(f"{name:<16}{study.question}")
    print(f"{'claims':<16}every claim of the paper that finished studies can judge, with its verdict")
    return 0


def _run(arguments: argparse.Namespace, data: str, say: Any) -> int:
    from alfilter.experiments import run_study
    from alfilter.experiments.data import MissingData
    from alfilter.experiments.runner.sweep import RESULTS
    from alfilter.report.figures.registry import write_figure

    many: dict[str, Any] = {"threads": arguments.threads, "ray": arguments.ray, "live": sys.stderr.isatty()}
    try:
        study = _study(arguments.name, arguments.scale, data)
        lines = run_study(study, data, arguments.out, arguments.workers, say, **many)
    except MissingData as error:
        raise UserError(f"{error}; {_advice(error)}") from error
    if arguments.json:
        print_json({"study": study.name, "lines": lines})
    else:
        print(study.summarise(lines))
    path = write_figure(arguments.name, study.name, lines, arguments.out or RESULTS)
    if path is not None:
        say(f"figure {path}")
    return 0


def _study(name: str, scale: str, data: str) -> Study:
    """A study of the list at a scale, or the one that a file declares."""
    from alfilter.experiments import STUDIES, read_study

    return (read_study(name) if name.endswith(".py") else STUDIES[name]).at_scale(scale, data)


def _advice(error: MissingData) -> str:
    fetch = "fetch what is missing with 'alfilter experiment --fetch', or " if error.fetchable else ""
    return f"{fetch}name the folder that has it with --data"
