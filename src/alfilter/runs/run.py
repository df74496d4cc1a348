"""A run: a signal fitted from a file into a run folder, resumable at any moment."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import torch

from alfilter import __version__
from alfilter.config import Training, configure
from alfilter.errors import UserError, nearest
from alfilter.evaluate import Scores
from alfilter.methods import parameter_count, preset
from alfilter.runs.checks import check_folder, check_same, is_quick_to_read, take_folder
from alfilter.runs.extension import (
    Extension,
    begin_extension,
    extension_line,
    extension_of,
    load_start,
    model_digest,
    model_options,
    stored_length,
    take_over,
)
from alfilter.runs.fitting import Fitted, PreparedFit, prepare
from alfilter.runs.folder import FILES, History, RunFolder
from alfilter.runs.lock import PathLock
from alfilter.runs.request import FitRequest, Setting, resolve, suited_preset
from alfilter.runs.snapshots import Snapshots, check_count, remove_snapshots
from alfilter.runtime.distributed import Processes, current, local_device
from alfilter.runtime.limits import processor_name
from alfilter.runtime.stages import Stopped, stage
from alfilter.runtime.thread_pool import single_threaded_ops, workers
from alfilter.tasks import Task, open_task
from alfilter.training import NotFinite, Progress, load, save

A = TypeVar("A")
Say = Callable[[str], None]
Finish = Callable[[RunFolder, Fitted, Scores], None]


def run(
    request: FitRequest,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    say: Say = lambda line: None,
    finish: Finish | None = None,
    at_once: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> dict[str, Any]:
    """Fit a signal into a run folder and return its result line.

    say: called with short lines about what is going on. finish: called once model and scores are in the folder, to add
    pictures and a report; the run counts as finished after it. at_once: inside what it returns, `Stopped` may be raised
    where should_stop would become true; after the training the result line then lacks what is still `missing`.
    """
    processes = current()
    alone = processes.size == 1  # one of several processes must not leave the others waiting
    now = at_once if alone else nullcontext
    with PathLock(request.folder()) as lock:
        with now():
            prepared = processes.run_on_all(lambda: prepare_run(request, processes, lock, say))
        return _run(prepared, request, processes, on_progress, should_stop, say, finish, at_once)


def _run(
    prepared: PreparedRun,
    request: FitRequest,
    processes: Processes,
    on_progress: Callable[[Progress], None] | None,
    should_stop: Callable[[], bool],
    say: Say,
    finish: Finish | None,
    at_once: Callable[[], AbstractContextManager[None]],
) -> dict[str, Any]:
    folder, field = prepared.folder, prepared.fit.field
    if processes.any(prepared.finished is not None):  # the first process has looked into the folder
        say(f"{folder} is finished already; nothing to do")
        return prepared.finished or {"finished": True}
    several = f" on {processes.size} processes" if processes.size > 1 else ""
    say(
        f"fitting {request.signal} with {request.method} ({parameter_count(field):,} parameters) into {folder}{several}"
    )
    say(plan_line(prepared, with_pictures=finish is not None))
    with at_once() if processes.size == 1 else nullcontext():
        prepared.fit.compile()
    try:
        with History(folder.history) as history:
            fitted = prepared.fit.fit(
                checkpoint=folder.checkpoint,
                checkpoint_every=request.checkpoint_every,
                on_progress=_both(prepared.snapshots.look, on_progress),
                on_log=history.append if processes.is_main else None,
                on_start=_both(history.truncate, prepared.snapshots.begin) if processes.is_main else None,
                should_stop=should_stop,
                done=prepared.done,
            )
    except NotFinite:
        if processes.is_main:
            save(field, folder.model)
        raise
    if not processes.is_main:
        return {"steps": fitted.result.steps, "finished": fitted.result.finished}
    if not fitted.result.finished:
        pictures = " and pictures" if finish is not None else ""
        say(f"stopping at step {fitted.result.steps}; scores{pictures} of this state follow, Ctrl-C leaves them out")
    return write_results(folder, request, fitted, finish, at_once, should_stop)


def plan_line(prepared: PreparedRun, with_pictures: bool) -> str:
    """What the run will do: how long the training is, and what comes after it."""
    training, task, (steps, seconds) = prepared.fit.setting.training, prepared.fit.task, prepared.done
    by_time = training.budget is not None
    length = f"{(training.budget or 0) - seconds:g} s" if by_time else f"{training.steps - steps:,} steps"
    if training.until is not None:
        length = f"until {training.until:g} dB, at most {length}"
    places, total = task.scored_places(), task.observation()
    if places is None:
        scoring = "scores"
    elif task.is_estimated and total is not None:
        scoring = f"scores from a sample of its {total[1]:,} samples"
    else:
        scoring = f"scores on {places:,} samples"
    return f"training takes {length}; then come {scoring}{', pictures and the report' if with_pictures else ''}"


@dataclass(frozen=True)
class PreparedRun:
    """All that a run needs; finished: the result line of a folder that needs none; done: see `alfilter.fit`."""

    folder: RunFolder
    fit: PreparedFit
    snapshots: Snapshots
    finished: dict[str, Any] | None
    done: tuple[int, float] = (0, 0.0)


def prepare_run(request: FitRequest, processes: Processes, lock: PathLock, say: Say) -> PreparedRun:
    """Read the signal, resolve the request, build the field, and (the first process) make the folder ready.

    lock: of the folder, taken as soon as it exists.
    """
    _check_request(request)
    device = local_device(choose_device(request.device), processes)
    folder = RunFolder(request.folder())
    is_quick = is_quick_to_read(request.signal)  # then what is wrong with the signal or the options is said first
    if processes.is_main and not is_quick:
        take_folder(folder, request, lock)
    columns = (request.coords, request.values, request.weight, request.noise)
    task = open_task(request.signal, request.observe, request.seed, columns=columns, say=say)
    model = load_start(request)
    if model is not None:
        request = replace(request, options=model_options(model, request), preset=request.preset or model.spec["preset"])
    if processes.is_main and is_quick and request.resume:  # a resumed run's length is read from the folder
        take_folder(folder, request, lock)
    notes: list[str] = []
    setting = resolve_request(request, task, folder, notes.append)
    if processes.is_main and is_quick and not request.resume:
        take_folder(folder, request, lock)
    for note in notes:
        say(note)
    prepared = prepare(task, setting, seed=request.seed, device=device)
    if model is not None:
        say(take_over(prepared.field, model))
    snapshots = Snapshots(folder.path, prepared.field, request.snapshots if processes.is_main else 0)
    config = _config(request, prepared, machine(device, processes))
    extension = Extension()
    if request.resume and folder.config.exists():
        stored = folder.read_config()
        check_same(folder, stored, config)
        extension = extension_of(folder, stored, config)
    elif request.resume:
        say(f"there is no run in {folder} to resume; a new one begins")
    if extension.earlier:
        if processes.size > 1:
            raise UserError("a run is made longer on one process; run it without torchrun")
        config["extended"] = list(extension.earlier)
        if not folder.checkpoint.exists():
            prepared.field.load_state_dict(load(folder.model).state_dict())
    finished = open_folder(folder, config, request, extension, lock, say) if processes.is_main else None
    if extension.is_new:
        say(extension_line(extension, config))
    return PreparedRun(folder, prepared, snapshots, finished, extension.done)


_REASONS = {
    "noisy": "samples are uncertain",
    "reconstruct": "samples are missing",
    "small": "fewer parameters than values",
}


def resolve_request(request: FitRequest, task: Task, folder: RunFolder, say: Say) -> Setting:
    """The setting of a request; a preset chosen by the signal is reported."""
    suited = suited_preset(request.method, task, request.params)
    if request.preset is None and suited in _REASONS and not request.resume:
        say(f"{_REASONS[suited]}: preset {suited} (preset default takes no account of it)")
    return resolve(
        task,
        request.method,
        preset=request.preset,
        options=request.options,
        params=request.params,
        training={**stored_length(request, folder), **request.training},
    )


@single_threaded_ops()
def write_results(
    folder: RunFolder,
    request: FitRequest,
    fitted: Fitted,
    finish: Finish | None,
    at_once: Callable[[], AbstractContextManager[None]] = nullcontext,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Write what a fit leaves behind, model and scores first, and return the result line.

    Stopped on the way, the line says what is `missing`, and the checkpoint stays, so that resuming makes it.
    should_stop: asked once, for a signal that came after the last step of a training.
    """
    save(fitted.field, folder.model)
    line: dict[str, Any] = {
        "method": request.method,
        "signal": request.signal,
        "steps": fitted.result.steps,
        "seconds": round(fitted.result.seconds, 3),
        "params": parameter_count(fitted.field),
        "metrics": None,
        "heldout": None,
        "estimate": None,
        "until": None,
        "model": str(folder.model),
        "finished": fitted.result.finished,
    }
    if fitted.training.until is not None:
        line["until"] = {"quality": fitted.training.until, "reached": fitted.result.reached}
    missing = ["scores", *(["pictures", "report"] if finish is not None else [])]
    if fitted.result.finished and should_stop():
        return {**line, "finished": False, "missing": missing}
    try:
        with at_once():
            with stage("scoring", fitted.task.scored_places()):
                scores = fitted.task.estimate(fitted.field)
            folder.write_metrics(line := {**line, **scores.plain()})
            missing.remove("scores")
            if finish is not None:
                finish(folder, fitted, scores)
    except Stopped:
        return {**line, "finished": False, "missing": missing}
    if fitted.result.finished:
        folder.checkpoint.unlink(missing_ok=True)
    return line


def choose_device(name: str) -> torch.device:
    """The device of that name; `auto` takes CUDA or MPS where there is one, else the CPU."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(device for device, there in available.items() if there))
    if name not in available:
        raise UserError(f"there is no device {name!r}; {nearest(name, ('auto', *available))}", arguments=["device"])
    if not available[name]:
        raise UserError(
            f"this machine has no {name} device that torch can use; leave the device out or give cpu",
            arguments=["device"],
        )
    return torch.device(name)


def open_folder(
    folder: RunFolder,
    config: dict[str, Any],
    request: FitRequest,
    extension: Extension,
    lock: PathLock,
    say: Say,
) -> dict[str, Any] | None:
    """Make the folder ready; returns the result line if the run in it is already finished."""
    is_new = not folder.path.exists()
    if is_new:
        _make_folder(folder)
        lock.acquire()
        check_folder(folder, request)
    resumed = request.resume and folder.config.exists()
    if resumed:
        stored = folder.read_config()
        line = folder.finished_result()
        if extension.is_new:
            begin_extension(folder)
        elif line is not None:
            return line
        for change in changed_machine(stored.get("machine"), config["machine"]):
            say(f"the run was started with {change}: sums are taken in another order, so its last digits may differ")
    try:
        folder.clear(() if resumed else FILES)
        if not resumed:
            remove_snapshots(folder.path)
    except OSError as error:
        raise UserError(
            f"cannot use the folder {folder}: {error.strerror or error}; give another one", arguments=["out"]
        ) from error
    try:
        folder.write_config(config)
    except UserError:
        if is_new:
            folder.path.rmdir()
        raise
    return None


def machine(device: torch.device, processes: Processes) -> dict[str, Any]:
    """What the last digits of a run depend on: the device, the processor, and the number of threads and processes."""
    return {"device": device.type, "processor": processor_name(), "threads": workers(), "processes": processes.size}


def changed_machine(before: Any, now: Mapping[str, Any]) -> list[str]:
    """What differs between the machine a run was started on and this one, in words.

    >>> changed_machine({"threads": 2, "device": "cpu"}, {"threads": 4, "device": "cpu"})
    ['threads 2, now 4']
    """
    if not isinstance(before, dict):
        return []
    return [f"{key} {before[key]}, now {value}" for key, value in now.items() if key in before and before[key] != value]


def _make_folder(folder: RunFolder) -> None:
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"cannot use the folder {folder}: {error.strerror or error}; give another one", arguments=["out"]
        ) from error


def _both(first: Callable[[A], None], second: Callable[[A], None] | None) -> Callable[[A], None]:
    """One call for two listeners, the second of which may be missing."""

    def call(event: A) -> None:
        first(event)
        if second is not None:
            second(event)

    return call


def _check_request(request: FitRequest) -> None:
    base = preset(request.method, request.preset or "default").training
    configure(Training, {**base, **request.training}, "training")
    if not 0 <= request.seed < 1 << 63:
        raise UserError(
            f"the seed must be a whole number from 0 to 2^63-1, got {request.seed}; give such a one", arguments=["seed"]
        )
    check_count(request.snapshots)
    if not 0 <= request.checkpoint_every < math.inf:
        raise UserError(
            f"checkpoint_every must be a number of seconds, got {request.checkpoint_every}; try 30",
            arguments=["checkpoint_every"],
        )
    if request.resume and request.overwrite:
        raise UserError("resume and overwrite exclude each other; give one of them", arguments=["resume", "overwrite"])


def _config(request: FitRequest, prepared: PreparedFit, machine: dict[str, Any]) -> dict[str, Any]:
    config = {
        "method": request.method,
        "preset": prepared.setting.preset,
        "signal": {"source": request.signal, **prepared.task.describe()},
        "options": prepared.field.spec["options"],
        "training": asdict(prepared.setting.training),
        "seed": request.seed,
        "machine": machine,
        "version": __version__,
        "command": list(request.command),
    }
    if request.start is not None:
        config["from"] = model_digest(request.start)
    plain: dict[str, Any] = json.loads(json.dumps(config))
    return plain
