"""`alfilter fit`: a signal in, a run folder with model, pictures and report out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from alfilter.commands.shared import add_json, decibels, print_result, real, seconds, use_threads, whole
from alfilter.errors import UserError

if TYPE_CHECKING:
    from alfilter.runs.request import FitRequest
    from alfilter.runtime.distributed import Processes


def add_fit(commands: Any) -> None:
    p = commands.add_parser("fit", help="fit a signal and write a run folder with model, pictures and report")
    p.add_argument(
        "signal",
        metavar="SIGNAL",
        help="a picture, sound, volume, video, light field, folder of frames or views, mesh, table of points, "
        "sample:NAME, or a run folder, whose run is continued",
    )
    p.add_argument(
        "--method",
        help="see 'alfilter methods' (default: al-grid, or that of the model to start from; al-sine for preset paper)",
    )
    p.add_argument("--preset", help="default, paper, source, noisy, reconstruct (the default when samples are missing)")
    length = p.add_mutually_exclusive_group()
    length.add_argument("--steps", type=whole, help="optimiser steps")
    length.add_argument("--budget", help="training time instead of steps: 90s, 5m, 1h; scores and pictures come after")
    p.add_argument("--until", metavar="QUALITY", help="end the training when this is reached: 45dB")
    p.add_argument("--from", metavar="MODEL", dest="start", help="start from a model or a run folder")
    p.add_argument("--seed", type=whole, default=0, help="of the start and the sampling (default: 0)")
    p.add_argument(
        "--observe",
        default="all",
        help="samples that are seen: all, every:2, random:0.35, mask:FILE; whole frames:every:2, slices:AXIS:every:2, "
        "views:every:2 or, one by one, frames:0,4,8, slices:AXIS:0,4,8, views:0,0;2,2",
    )
    p.add_argument("--coords", metavar="A,B", help="a table's columns that say where: 1 to 4 names")
    p.add_argument("--values", metavar="C,D", help="a table's columns to fit")
    p.add_argument("--weight", metavar="W", help="a table's column that weighs its rows")
    p.add_argument("--noise", metavar="S", help="a table's column of standard deviations: rows weigh 1/S²")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="options",
                   help="an option of the method, e.g. levels=6; may be repeated")  # fmt: skip
    p.add_argument("--train", action="append", default=[], metavar="NAME=VALUE",
                   help="a setting of the training, e.g. lr=5e-4 or batch=8192; may be repeated")  # fmt: skip
    p.add_argument("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    p.add_argument("--params", type=whole, metavar="N", help="size the method to N parameters, within 5 %%")
    p.add_argument("--threads", type=whole, help="cores to use (default: all)")
    p.add_argument("--out", metavar="DIR", help="the run folder (default: runs/SIGNAL-METHOD)")
    p.add_argument(
        "--resume",
        action="store_true",
        help="continue the run in the folder; a larger --steps or --budget makes it longer",
    )
    p.add_argument("--overwrite", action="store_true", help="replace the run in the folder")
    p.add_argument("--checkpoint-every", type=real, default=30.0, metavar="SECONDS",
                   help="time between two states a killed run can resume from (default: 30)")  # fmt: skip
    p.add_argument("--snapshots", type=whole, default=0, metavar="N",
                   help="keep N moments of the training for 'alfilter view' (default: none)")  # fmt: skip
    p.add_argument("--quiet", action="store_true", help="no progress")
    add_json(p)
    p.set_defaults(command=_fit)


def _fit(arguments: argparse.Namespace) -> int:
    from alfilter.config import Training
    from alfilter.methods import method
    from alfilter.runs.extension import continued
    from alfilter.runs.folder import RunFolder
    from alfilter.runs.models import load
    from alfilter.runs.request import FitRequest, suited_method
    from alfilter.runtime.distributed import process_group

    name = arguments.method or suited_method(arguments.preset)
    if arguments.start is not None and arguments.method is None:
        name = load(arguments.start).spec["method"]
    kind = method(name).options
    training = _options(Training, arguments.train, "training", (kind, "--set"))
    if arguments.steps is not None:
        training["steps"] = arguments.steps
    if arguments.budget is not None:
        training["budget"] = seconds(arguments.budget)
    if arguments.until is not None:
        training["until"] = decibels(arguments.until)
    request = FitRequest(
        signal=arguments.signal,
        method=name,
        preset=arguments.preset,
        options=_options(kind, arguments.options, name, (Training, "--train")),
        params=arguments.params,
        training=training,
        seed=arguments.seed,
        observe=arguments.observe,
        coords=_names(arguments.coords),
        values=_names(arguments.values),
        weight=arguments.weight,
        noise=arguments.noise,
        start=arguments.start,
        out=arguments.out,
        resume=arguments.resume,
        overwrite=arguments.overwrite,
        device=arguments.device,
        checkpoint_every=arguments.checkpoint_every,
        snapshots=arguments.snapshots,
        command=("alfilter", *(word for word in arguments.words if word not in ("--resume", "--overwrite"))),
    )
    if (folder := RunFolder(arguments.signal)).config.is_file():
        _check_continued(arguments)
        request = continued(folder, request)
    use_threads(arguments.threads)
    with process_group() as processes:
        return _carry_out(request, processes, quiet=arguments.quiet, as_json=arguments.json)


def _options(kind: type, pairs: Sequence[str], owner: str, other: tuple[type, str]) -> dict[str, Any]:
    """The options of a kind in `name=value` words; one that belongs to the other kind is sent to that one's flag."""
    from alfilter.config import option_names, parse_options

    theirs, flag = other
    for pair in pairs:
        name = pair.partition("=")[0]
        if name in option_names(theirs) and name not in option_names(kind):
            raise UserError(f"{owner} has no option {name!r}; it is one of {flag}: {flag} {pair}")
    return parse_options(kind, pairs, owner)


def _check_continued(arguments: argparse.Namespace) -> None:
    """A continued run keeps its settings; only its length may change."""
    for name in ("method", "preset", "params", "coords", "values", "weight", "noise", "out", "start", "options"):
        if getattr(arguments, name):
            flag = {"start": "from", "options": "set"}.get(name, name)
            raise UserError(f"{arguments.signal} is a run folder, whose run keeps its settings; leave --{flag} out")
    if arguments.overwrite:
        raise UserError(f"{arguments.signal} is a run folder; to replace its run, give the signal and --out")


def _carry_out(request: FitRequest, processes: Processes, *, quiet: bool, as_json: bool) -> int:
    """Fit, and tell; of several processes the first one speaks for all."""
    from alfilter.commands.progress import Display, StopSignals
    from alfilter.render.run.finish import finish_run
    from alfilter.runs.folder import RunFolder
    from alfilter.runs.run import run
    from alfilter.runtime.stages import watching

    display = Display(quiet=quiet or not processes.is_main)
    try:
        with StopSignals(processes.size > 1) as stop, display, watching(display.update_stage):
            line = run(
                request, on_progress=display.update, should_stop=stop.asked, say=display.say, finish=finish_run,
                at_once=stop.at_once,
            )  # fmt: skip
    except UserError:
        if processes.is_main:
            raise
        return 2
    finished, missing = line.pop("finished"), line.pop("missing", [])
    line = {**line, "estimate": line.get("estimate"), "until": line.get("until")}  # older runs do not have them
    if not processes.is_main:
        return 0 if finished else stop.exit_code
    print_result(line, as_json)
    if finished and line["until"] and not line["until"]["reached"]:
        print(
            f"alfilter: {line['until']['quality']:g} dB were not reached; --resume with more steps continues",
            file=sys.stderr,
        )
    if not finished:
        what = f"stopped at step {line['steps']}"
        if missing:
            what += f"; the model is saved, {', '.join(missing)} are missing"
        print(f"alfilter: {what}; the same command with --resume continues", file=sys.stderr)
        return stop.exit_code
    print(f"alfilter: the report is {RunFolder(request.folder()).report}", file=sys.stderr)
    return 0


def _names(text: str | None) -> tuple[str, ...]:
    """Column names separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()
