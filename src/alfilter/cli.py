"""The command line: words in, one result on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from alfilter import __version__
from alfilter.errors import UserError, nearest

if TYPE_CHECKING:
    from alfilter.methods import Field

# Only what --help needs is imported above: torch and the rest come in with the command that uses them.

Command = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like every other mistake's; options are never guessed from a start."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see '{self.prog} --help'")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 2 for a user's mistake, 130 or 143 for a run that was told to stop."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _check_command(words)
        arguments = parser().parse_args(words)
        arguments.words = words
        command: Command = arguments.command
        code = command(arguments)
        sys.stdout.flush()  # here, where a full disk or a reader that left can still be answered
        return code
    except UserError as error:
        print(f"alfilter: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("alfilter: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output went away
        _discard_output()
        return 0
    except OSError as error:
        _discard_output()
        print(f"alfilter: the system refused: {error}; check the space and the paths", file=sys.stderr)
        return 2


def _discard_output() -> None:
    """Let the interpreter flush what is left on stdout into nothing instead of complaining once more."""
    with suppress(OSError):  # stdout may be no file at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser() -> Parser:
    """The whole command line."""
    top = Parser(prog="alfilter", description="Fit signals with neural fields whose local frequency can be seen.")
    top.add_argument("--version", action="version", version=f"alfilter {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    _add_fit(commands)
    _add_render(commands)
    _add_eval(commands)
    _add_predict(commands)
    _add_info(commands)
    _add_methods(commands)
    _add_experiment(commands)
    return top


COMMANDS = ("fit", "render", "eval", "predict", "info", "methods", "experiment")


def _check_command(words: list[str]) -> None:
    """Name the nearest command for one that does not exist."""
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        raise UserError(f"there is no command {words[0]!r}; {nearest(words[0], COMMANDS)}")


# ── fit ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_fit(commands: Any) -> None:
    p = commands.add_parser("fit", help="fit a signal and write a run folder with model, pictures and report")
    p.add_argument("signal", metavar="SIGNAL", help="a picture, a table of points, or sample:NAME (sample:astronaut)")
    p.add_argument("--method", default="al-sine", help="see 'alfilter methods' (default: al-sine)")
    p.add_argument("--preset", help="default, paper, source, reconstruct (the default when samples are missing)")
    p.add_argument("--auto", action="store_true", help="choose L, B, the α grid, ω0 and λ from the seen samples")
    length = p.add_mutually_exclusive_group()
    length.add_argument("--steps", type=int, help="optimiser steps")
    length.add_argument("--budget", help="training time instead of steps: 90s, 5m, 1h")
    p.add_argument("--seed", type=int, default=0, help="of the start and the sampling (default: 0)")
    p.add_argument("--observe", default="all", help="samples that are seen: all, every:2, random:0.35, mask:FILE")
    p.add_argument("--coords", metavar="A,B", help="a table's columns that say where: 1 to 4 names")
    p.add_argument("--values", metavar="C,D", help="a table's columns to fit")
    p.add_argument("--weight", metavar="W", help="a table's column that weighs its rows")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="options",
                   help="an option of the method, e.g. levels=6; may be repeated")  # fmt: skip
    p.add_argument("--train", action="append", default=[], metavar="NAME=VALUE",
                   help="a setting of the training, e.g. lr=5e-4 or batch=8192; may be repeated")  # fmt: skip
    p.add_argument("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    p.add_argument("--params", type=int, metavar="N", help="size the method to N parameters, within 5 %%")
    p.add_argument("--threads", type=int, help="cores to use (default: all)")
    p.add_argument("--out", metavar="DIR", help="the run folder (default: runs/SIGNAL-METHOD)")
    p.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    p.add_argument("--overwrite", action="store_true", help="replace the run in the folder")
    p.add_argument("--checkpoint-every", type=float, default=30.0, metavar="SECONDS",
                   help="time between two states a killed run can go on from (default: 30)")  # fmt: skip
    p.add_argument("--quiet", action="store_true", help="no progress")
    _add_json(p)
    p.set_defaults(command=_fit)


def _fit(arguments: argparse.Namespace) -> int:
    from alfilter.config import Training, parse_options
    from alfilter.methods import method
    from alfilter.progress import Display, StopSignals
    from alfilter.runs import Order, run

    training = parse_options(Training, arguments.train, "training")
    if arguments.steps is not None:
        training["steps"] = arguments.steps
    if arguments.budget is not None:
        training["budget"] = seconds(arguments.budget)
    order = Order(
        signal=arguments.signal,
        method=arguments.method,
        preset=arguments.preset or "default",
        pick=arguments.preset is None,
        auto=arguments.auto,
        options=parse_options(method(arguments.method).options, arguments.options, arguments.method),
        params=arguments.params,
        training=training,
        seed=arguments.seed,
        observe=arguments.observe,
        coords=_names(arguments.coords),
        values=_names(arguments.values),
        weight=arguments.weight,
        out=arguments.out,
        resume=arguments.resume,
        overwrite=arguments.overwrite,
        device=arguments.device,
        checkpoint_every=arguments.checkpoint_every,
        command=("alfilter", *(word for word in arguments.words if word not in ("--resume", "--overwrite"))),
    )
    _use_threads(arguments.threads)
    with StopSignals() as stop, Display(quiet=arguments.quiet) as display:
        line = run(order, on_progress=display.update, should_stop=stop.asked, say=display.say)
    finished = line.pop("finished")
    _print_result(line, arguments.json)
    folder = order.folder()
    if not finished:
        print(f"alfilter: stopped at step {line['steps']}; the same command with --resume goes on", file=sys.stderr)
        return stop.exit_code
    print(f"alfilter: the report is {folder / 'report.html'}", file=sys.stderr)
    return 0


def _names(text: str | None) -> tuple[str, ...]:
    """Column names parted by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()


def seconds(text: str) -> float:
    """A duration in seconds.

    >>> seconds("90s"), seconds("1.5m"), seconds("1h"), seconds("20")
    (90.0, 90.0, 3600.0, 20.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(s|m|h|)", text.strip())
    if match is None or float(match[1]) <= 0:
        raise UserError(f"a time looks like 90s, 5m or 1h, got {text!r}")
    return float(match[1]) * {"s": 1, "": 1, "m": 60, "h": 3600}[match[2]]


def _use_threads(count: int | None) -> None:
    if count is not None:
        if not 1 <= count <= 1024:
            raise UserError(f"--threads must be between 1 and 1024, got {count}; the number of cores is best")
        import torch

        torch.set_num_threads(count)


def _print_result(line: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(line))
        return
    for group, values in (("", line["metrics"]), ("held out ", line["heldout"] or {})):
        for name, value in values.items():
            print(f"{group + name:<16}{'infinite' if value is None else f'{value:.4f}'}")
    for name in ("steps", "seconds", "params", "model"):
        if name in line:
            print(f"{name:<16}{line[name]}")


# ── render, eval, info, methods ──────────────────────────────────────────────────────────────────────────────────────


def _add_render(commands: Any) -> None:
    p = commands.add_parser("render", help="write a picture of a model at any size and of any region")
    p.add_argument("model", metavar="MODEL")
    p.add_argument("out", metavar="OUT", help="a .png, .jpg, .webp, .tif or .bmp file")
    size = p.add_mutually_exclusive_group()
    size.add_argument("--size", help="WIDTHxHEIGHT in pixels")
    size.add_argument("--scale", type=float, help="pixels per pixel of the fitted picture")
    p.add_argument(
        "--region", metavar="X0,Y0,X1,Y1", help="a box in pixels of the fitted picture; X1 and Y1 are outside"
    )
    p.add_argument("--level", type=int, help="an output of a method that has several (bacon): 1 is the coarsest")
    p.add_argument("--bits", type=int, help="8, 16, or 32 for float TIFF (default: as the fitted picture)")
    p.set_defaults(command=_render)


def _render(arguments: argparse.Namespace) -> int:
    from alfilter.rendering import View, render_file
    from alfilter.training import load

    view = View(size=arguments.size, scale=arguments.scale, region=arguments.region, level=arguments.level)
    shape = render_file(load(arguments.model), arguments.out, view, arguments.bits)
    print(f"{arguments.out} {shape[1]}x{shape[0]}")
    return 0


def _add_eval(commands: Any) -> None:
    p = commands.add_parser("eval", help="score a model against a signal")
    p.add_argument("model", metavar="MODEL")
    p.add_argument("signal", metavar="SIGNAL")
    p.add_argument(
        "--lpips", metavar="FILE", nargs="?", const="", help="also LPIPS; weights from FILE or $ALFILTER_LPIPS"
    )
    _add_json(p)
    p.set_defaults(command=_eval)


def _eval(arguments: argparse.Namespace) -> int:
    from alfilter.rendering import score
    from alfilter.training import load

    field = load(arguments.model)
    line = {
        "method": field.spec["method"],
        "signal": arguments.signal,
        "model": arguments.model,
        "params": _params(field),
    }
    scores = score(field, arguments.signal, arguments.lpips)
    _print_result({**line, **scores}, arguments.json)
    return 0


def _add_predict(commands: Any) -> None:
    p = commands.add_parser("predict", help="write a fitted table's values at new points")
    p.add_argument("model", metavar="MODEL")
    p.add_argument("query", metavar="QUERY", help="a table with the coordinates' columns: .csv, .npz, .npy, .parquet")
    p.add_argument("--out", metavar="FILE", help=".csv, .tsv, .npz or .parquet (default: CSV on stdout)")
    p.set_defaults(command=_predict)


def _predict(arguments: argparse.Namespace) -> int:
    from alfilter.predicting import predict_file
    from alfilter.training import load

    total, beyond = predict_file(load(arguments.model), arguments.query, arguments.out)
    print(f"alfilter: {beyond} of {total} points lie outside the fitted region", file=sys.stderr)
    return 0


def _add_info(commands: Any) -> None:
    p = commands.add_parser("info", help="say what a model file holds")
    p.add_argument("model", metavar="MODEL")
    _add_json(p)
    p.set_defaults(command=_info)


def _info(arguments: argparse.Namespace) -> int:
    from alfilter.training import load

    field = load(arguments.model)
    facts = {**field.spec, "params": _params(field), "signal": field.signal}
    if arguments.json:
        print(json.dumps(facts))
        return 0
    for name, value in facts.items():
        for key, entry in value.items() if isinstance(value, dict) else ((None, value),):
            print(f"{name if key is None else f'{name}.{key}':<24}{entry}")
    return 0


def _params(field: Field) -> int:
    from alfilter.methods import parameter_count

    return parameter_count(field)


def _add_methods(commands: Any) -> None:
    p = commands.add_parser("methods", help="list the methods, or the options of one")
    p.add_argument("method", metavar="METHOD", nargs="?")
    _add_json(p)
    p.set_defaults(command=_methods)


def _methods(arguments: argparse.Namespace) -> int:
    from alfilter.listing import method_options, method_rows, print_table

    rows = method_options(arguments.method) if arguments.method else method_rows()
    if arguments.json:
        print(json.dumps(rows))
    else:
        print_table(rows)
    return 0


# ── experiment ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _add_experiment(commands: Any) -> None:
    p = commands.add_parser("experiment", help="run one of the repeatable studies")
    p.add_argument("name", metavar="NAME", nargs="?")
    p.add_argument("--list", action="store_true", help="name the studies")
    p.add_argument(
        "--data", metavar="DIR", default="../shared/data", help="where the images are (default: ../shared/data)"
    )
    p.add_argument("--out", metavar="DIR", help="where the result lines go (default: runs/experiments)")
    p.add_argument("--workers", type=int, default=2, help="runs side by side, one core each (default: 2)")
    _add_json(p)
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
    return 0


def _add_json(p: argparse.ArgumentParser) -> None:
    p.add_argument("--json", action="store_true", help="one JSON object on stdout")


if __name__ == "__main__":
    sys.exit(main())
