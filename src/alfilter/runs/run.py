"""A run folder: a signal fitted from a file to a report, resumable at any moment."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any, TypeVar

import torch

from alfilter import __version__
from alfilter.config import Training, configure
from alfilter.errors import UserError, nearest
from alfilter.files import write_text
from alfilter.methods import Field, build, parameter_count, preset, preset_for, sized, training
from alfilter.report.artifacts import judge
from alfilter.report.page.run import PICTURES
from alfilter.runs.auto import choose, suited_preset
from alfilter.runtime.distributed import Processes, current, local_device
from alfilter.tasks import GridTask, PointTask, Task, open_task
from alfilter.training import NotFinite, Progress, Result, density_of, fit, save
from alfilter.training.checkpoint import first_difference
from alfilter.training.snapshots import Snapshots, remove_snapshots

MODEL, CONFIG, METRICS, HISTORY = "model.safetensors", "config.json", "metrics.json", "history.jsonl"
CHECKPOINT = "checkpoint.safetensors"
A = TypeVar("A")
_FILES = (MODEL, CONFIG, METRICS, HISTORY, CHECKPOINT, "report.html", *(f"{name}.png" for name in PICTURES))


@dataclass(frozen=True)
class Order:
    """What a user asks for: the words of `alfilter fit`."""

    signal: str
    method: str = "al-sine"
    preset: str = "default"
    options: Mapping[str, Any] = field(default_factory=dict)
    params: int | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    observe: str = "all"
    coords: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    weight: str | None = None
    pick: bool = False  # no preset was named: take the one that suits the signal
    auto: bool = False  # choose L, B, the α grid, ω0 and λ from the seen samples
    chosen: Mapping[str, Any] | None = None  # what `auto` chose, kept with the run
    out: str | None = None
    resume: bool = False
    overwrite: bool = False
    checkpoint_every: float = 30.0
    snapshots: int = 0  # how many moments of the training to keep as models
    device: str = "auto"
    command: tuple[str, ...] = ()

    def folder(self) -> Path:
        """Where the run goes: `out`, or a name made of the signal's and the method's."""
        file = Path(self.signal.removesuffix(".gz"))  # volume.nii.gz is a volume
        stem = self.signal.removeprefix("sample:") if self.signal.startswith("sample:") else file.stem
        return Path(self.out) if self.out is not None else Path("runs") / f"{stem}-{self.method}"


def run(
    order: Order,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Fit a signal into a run folder and return its result line. say: told what is going on, in short lines."""
    processes = current()
    ready = processes.run_on_all(lambda: prepare(order, processes, say))
    if processes.any(ready.finished is not None):  # the first process has looked into the folder
        say(f"{ready.folder} is finished already; nothing to do")
        return ready.finished or {"finished": True}
    order, folder, model = ready.order, ready.folder, ready.model
    several = f" on {processes.size} processes" if processes.size > 1 else ""
    say(f"fitting {order.signal} with {order.method} ({parameter_count(model):,} parameters) into {folder}{several}")
    try:
        with History(folder / HISTORY) as history:
            result = fit(
                model,
                ready.task,
                training=ready.setting,
                seed=order.seed,
                checkpoint=folder / CHECKPOINT,
                checkpoint_every=order.checkpoint_every,
                on_progress=_both(ready.snapshots.look, on_progress),
                on_log=history.add if processes.is_main else None,
                on_start=_both(history.cut, ready.snapshots.begin) if processes.is_main else None,
                should_stop=should_stop,
            )
    except NotFinite:
        if processes.is_main:
            save(model, folder / MODEL)
        raise
    if not processes.is_main:
        return {"steps": result.steps, "finished": result.finished}
    return finish(folder, order, model, ready.task, result)


@dataclass(frozen=True)
class Ready:
    """All that a fit needs; finished: the result line of a folder that needs none."""

    order: Order
    folder: Path
    task: Task
    setting: Training
    model: Field
    snapshots: Snapshots
    finished: dict[str, Any] | None


def prepare(order: Order, processes: Processes, say: Callable[[str], None]) -> Ready:
    """Read the signal, build the field, and (the first process) make the folder ready."""
    configure(Training, {**preset(order.method, order.preset).training, **order.training}, "training")
    folder = order.folder()
    _check_order(order)
    device = local_device(choose_device(order.device), processes)
    if processes.size > 1 and order.auto:
        raise UserError("--auto tries settings on one process; run it without torchrun and give what it chose")
    if processes.is_main:
        _check_folder(folder, order)
    columns = (order.coords, order.values, order.weight)
    task = open_task(order.signal, order.observe, order.seed, columns=columns, say=say)
    order = settle(order, task, folder, say)
    setting = training(order.method, order.preset, density_of(task), **order.training)
    options = dict(order.options)
    if order.params is not None:
        sizes = task.in_dim, task.out_dim, task.samples
        options = sized(order.method, order.params, *sizes, preset=order.preset, **options)
    model = build(
        order.method,
        in_dim=task.in_dim,
        out_dim=task.out_dim,
        preset=order.preset,
        samples=task.samples,
        seen=density_of(task),
        seed=order.seed,
        **options,
    )
    model.to(device)
    snapshots = Snapshots(folder, model, order.snapshots if processes.is_main else 0)
    config = _config(order, model, task, setting)
    finished = open_folder(folder, config, order) if processes.is_main else None
    return Ready(order, folder, task, setting, model, snapshots, finished)


def _both(first: Callable[[A], None], second: Callable[[A], None] | None) -> Callable[[A], None]:
    """One call for two listeners, the second of which may be missing."""

    def call(told: A) -> None:
        first(told)
        if second is not None:
            second(told)

    return call


def settle(order: Order, task: Task, folder: Path, say: Callable[[str], None]) -> Order:
    """The order with its preset picked and, if asked, the choices of `auto`; a resumed run keeps its own.

    The preset is the one that was named, or the one that suits the signal; then its variant for the signal's kind.
    """
    if order.pick and (which := suited_preset(order.method, task)) != order.preset:
        if not order.resume:
            say(f"samples are missing: preset {which} (--preset default takes the other)")
        order = replace(order, preset=which)
    order = replace(order, preset=preset_for(order.method, order.preset, task.describe()["kind"]))
    if not order.auto:
        return order
    if not isinstance(task, GridTask | PointTask):
        raise UserError(f"--auto keeps seen samples back, {order.signal} has no fixed ones; leave --auto out")
    stored = _read_object(folder / CONFIG).get("auto") if order.resume and (folder / CONFIG).exists() else None
    if not isinstance(stored, dict):
        chosen = choose(order.method, order.preset, task, order.options, order.training, order.seed, say)
        stored = {"options": chosen.options, "training": chosen.training, "trials": chosen.trials}
    options, settings = ({**stored.get(name, {}), **given} for name, given in
                         (("options", order.options), ("training", order.training)))  # fmt: skip
    return replace(order, options=options, training=settings, chosen=stored)


def finish(folder: Path, order: Order, model: Field, task: Task, result: Result) -> dict[str, Any]:
    """Write what a fit leaves behind: model, scores, pictures, report; and return the result line."""
    from alfilter.report import write_report

    save(model, folder / MODEL)
    scores = judge(folder, model, task, read_lines(folder / HISTORY))
    line = {
        "method": order.method,
        "signal": order.signal,
        "steps": result.steps,
        "seconds": round(result.seconds, 3),
        "params": parameter_count(model),
        **scores.plain(),
        "model": str(folder / MODEL),
        "finished": result.finished,
    }
    write_text(folder / METRICS, json.dumps(line, indent=2) + "\n")
    write_report(folder)
    if result.finished:
        (folder / CHECKPOINT).unlink(missing_ok=True)
    return line


def choose_device(name: str) -> torch.device:
    """The device of that name; `auto` takes CUDA or MPS where there is one, else the CPU."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(device for device, there in available.items() if there))
    if name not in available:
        raise UserError(f"there is no device {name!r}; {nearest(name, ('auto', *available))}")
    if not available[name]:
        raise UserError(f"this machine has no {name} device that torch can use; leave --device out or give cpu")
    return torch.device(name)


class History:
    """`history.jsonl`, a line at a time; a resumed run drops the lines its checkpoint does not know."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: IO[str] | None = None

    def __enter__(self) -> History:
        return self

    def __exit__(self, *error: object) -> None:
        if self._stream is not None:
            with suppress(OSError):  # every line was flushed when it was added
                self._stream.close()

    def cut(self, step: int) -> None:
        """Keep the lines up to a step, and go on after them."""
        kept = [line for line in read_lines(self.path) if line["step"] <= step]
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in kept))

    def add(self, line: dict[str, Any]) -> None:
        """Append a line and hand it to the system at once, so that a kill loses nothing."""
        try:
            if self._stream is None:
                self._stream = self.path.open("a", encoding="utf-8")
            self._stream.write(json.dumps(line) + "\n")
            self._stream.flush()
        except OSError as error:
            raise UserError(
                f"cannot write {self.path}: {error.strerror or error}; free some space, --resume"
            ) from error


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file; a last line that was cut off by a kill is left out."""
    if not path.exists():
        return []
    lines = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            break
        if not isinstance(line, dict) or not isinstance(line.get("step"), int):
            break
        lines.append(line)
    return lines


def open_folder(folder: Path, config: dict[str, Any], order: Order) -> dict[str, Any] | None:
    """Make the folder ready; the result line when the run it holds is finished already."""
    stored = folder / CONFIG
    resumed = order.resume and stored.exists()
    if resumed:
        _check_same(folder, _read_object(stored), config)
        done = _read_object(folder / METRICS) if (folder / METRICS).exists() else {}
        # the checkpoint goes last: while it is there, something after the training may be missing
        if done.get("finished") and (folder / MODEL).exists() and not (folder / CHECKPOINT).exists():
            return done
    try:
        _clear(folder, () if resumed else _FILES)
        if not resumed:
            remove_snapshots(folder)
        made = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot use the folder {folder}: {error.strerror or error}; give another --out") from error
    try:
        write_text(stored, json.dumps(config, indent=2) + "\n")
    except UserError:
        if made:
            folder.rmdir()
        raise
    return None


def _clear(folder: Path, names: Sequence[str]) -> None:
    """Remove the named files, and the half-written ones that a kill left behind."""
    for name in names:
        if (folder / name).is_file() or (folder / name).is_symlink():
            (folder / name).unlink()
    if folder.is_dir():
        for file in list(folder.iterdir()):
            if _is_half_written(file.name):
                file.unlink(missing_ok=True)


def _is_half_written(name: str) -> bool:
    """Whether a file is a neighbour that `files.replacing` writes before it takes its place."""
    return any(re.fullmatch(rf"\.{re.escape(known)}\.\w{{8}}{Path(known).suffix}", name) for known in _FILES)


def _check_order(order: Order) -> None:
    if not 0 <= order.seed < 1 << 63:
        raise UserError(f"--seed must be a whole number from 0 to 2^63-1, got {order.seed}")
    if not 0 <= order.checkpoint_every < math.inf:
        raise UserError(f"--checkpoint-every must be a number of seconds, got {order.checkpoint_every}; try 30")
    if order.resume and order.overwrite:
        raise UserError("--resume and --overwrite exclude each other; give one of them")


def _check_folder(folder: Path, order: Order) -> None:
    """Before any work: never write over what is there without being told to."""
    try:
        if folder.exists() and not folder.is_dir():
            raise UserError(f"--out must be a folder, {folder} is a file; give another name")
        if not folder.exists():
            return
        held = [file.name for file in folder.iterdir() if not _is_half_written(file.name)]
        source = Path(order.signal).resolve()
    except (OSError, RuntimeError) as error:
        raise UserError(f"cannot use the folder {folder}: {error}; give another --out") from error
    if order.resume and held and CONFIG not in held:
        raise UserError(f"{folder} holds files but no run to resume; give another --out")
    if held and not (order.resume or order.overwrite):
        raise UserError(f"{folder} holds files already; give --resume, --overwrite or another --out")
    if source.parent == folder.resolve() and source.name in _FILES:
        raise UserError(f"{order.signal} is a file of the run that would be written over; give another --out")


def _check_same(folder: Path, stored: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    for key in ("method", "seed", "signal", "options", "training"):  # options follow from what comes before
        old, new = (_comparable(table.get(key)) for table in (stored, config))
        if old != new:
            was, asked = first_difference(old, new)
            raise UserError(f"the run in {folder} has {key} {was}, asked was {asked}; give the same, or --overwrite")


def _comparable(value: Any) -> Any:
    """A signal is known by its content: the file may have moved since."""
    return {k: v for k, v in value.items() if k != "source"} if isinstance(value, dict) else value


def _config(order: Order, model: Field, task: Task, setting: Training) -> dict[str, Any]:
    config = {
        "method": order.method,
        "preset": order.preset,
        "signal": {"source": order.signal, **task.describe()},
        "options": model.spec["options"],
        "training": asdict(setting),
        "seed": order.seed,
        "version": __version__,
        "command": list(order.command),
    }
    if order.chosen is not None:
        config["auto"] = order.chosen
    plain: dict[str, Any] = json.loads(json.dumps(config))
    return plain


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}); start again with --overwrite") from error
    if not isinstance(value, dict):
        raise UserError(f"{path} does not hold a table; start again with --overwrite")
    return value
