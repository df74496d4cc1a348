"""`alfilter fit`: a signal in, a run folder with model, pictures and report out."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from alfilter.commands.shared import add_json, print_result, seconds, use_threads
from alfilter.errors import UserError

if TYPE_CHECKING:
    from alfilter.runs.request import FitRequest
    from alfilter.runtime.distributed import Processes


def add_fit(commands: Any) -> None:
    p = commands.add_parser("fit", help="fit a signal and write a run folder with model, pictures and report")
    p.add_argument(
        "signal",
        metavar="SIGNAL",
        help="a picture, sound, volume, video, folder of frames, mesh, table of points, or sample:NAME",
    )
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
    p.add_argument("--snapshots", type=int, default=0, metavar="N",
                   help="keep N moments of the training for 'alfilter view' (default: none)")  # fmt: skip
    p.add_argument("--quiet", action="store_true", help="no progress")
    add_json(p)
    p.set_defaults(command=_fit)


def _fit(arguments: argparse.Namespace) -> int:
    from alfilter.config import Training, parse_options
    from alfilter.methods import method
    from alfilter.runs.request import FitRequest
    from alfilter.runtime.distributed import process_group

    training = parse_options(Training, arguments.train, "training")
    if arguments.steps is not None:
        training["steps"] = arguments.steps
    if arguments.budget is not None:
        training["budget"] = seconds(arguments.budget)
    request = FitRequest(
        signal=arguments.signal,
        method=arguments.method,
        preset=arguments.preset,
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
        snapshots=arguments.snapshots,
        command=("alfilter", *(word for word in arguments.words if word not in ("--resume", "--overwrite"))),
    )
    use_threads(arguments.threads)
    with process_group() as processes:
        return _carry_out(request, processes, quiet=arguments.quiet, as_json=arguments.json)


def _carry_out(request: FitRequest, processes: Processes, *, quiet: bool, as_json: bool) -> int:
    """Fit, and tell; of several processes the first one speaks for all."""
    from alfilter.commands.progress import Display, StopSignals
    from alfilter.report.artifacts import finish_run
    from alfilter.runs.folder import RunFolder
    from alfilter.runs.run import run

    try:
        with StopSignals(processes.size > 1) as stop, Display(quiet=quiet or not processes.is_main) as display:
            line = run(request, on_progress=display.update, should_stop=stop.asked, say=display.say, finish=finish_run)
    except UserError:
        if processes.is_main:
            raise
        return 2
    finished = line.pop("finished")
    if not processes.is_main:
        return 0 if finished else stop.exit_code
    print_result(line, as_json)
    if not finished:
        print(f"alfilter: stopped at step {line['steps']}; the same command with --resume goes on", file=sys.stderr)
        return stop.exit_code
    print(f"alfilter: the report is {RunFolder(request.folder()).report}", file=sys.stderr)
    return 0


def _names(text: str | None) -> tuple[str, ...]:
    """Column names parted by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()
