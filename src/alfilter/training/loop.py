"""The training loop, readable from top to bottom."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from alfilter.config import Training, configure, override
from alfilter.errors import UserError
from alfilter.methods import Field, method
from alfilter.methods import training as preset_training
from alfilter.runtime.distributed import current
from alfilter.runtime.fork_pool import WorkerLost, cpu_seconds
from alfilter.runtime.memory import keep_freed_memory
from alfilter.runtime.thread_pool import single_threaded_ops, workers
from alfilter.runtime.ways import use_way
from alfilter.tasks.base import Task
from alfilter.training.adam import Adam, Group
from alfilter.training.adaptation import adapt
from alfilter.training.checkpoint import Position, read_checkpoint, write_checkpoint
from alfilter.training.gradient import GradientWorkers, accumulate_gradient, on_device
from alfilter.training.preparation import prepare
from alfilter.training.schedule import is_settled, rate_factor
from alfilter.training.stopping import measured_quality, record_quality, seems_reached, update_running_loss

_KEEP_EVERY = 20  # steps between two copies of a model whose loss was finite
_EVERY_STEP = 100  # steps logged one by one before every tenth


class NotFinite(UserError):
    """The loss became NaN or infinite; the field was put back to its last good state."""


@dataclass(frozen=True)
class Progress:
    """What a run reports while it goes: `done` in [0, 1], `rate` in steps per second, `left` in seconds."""

    step: int
    done: float
    loss: float
    quality: float
    rate: float
    left: float
    seconds: float
    unit: str = "dB"


@dataclass
class Result:
    """What a fit did. finished is False when it was asked to stop early.

    reached: whether the quality `until` was, if there was one to reach.
    """

    steps: int
    seconds: float
    finished: bool
    reached: bool | None = None
    history: list[dict[str, Any]] = field(default_factory=list)


@single_threaded_ops()
def fit(
    field: Field,
    task: Task,
    *,
    training: Training | None = None,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 30.0,
    on_progress: Callable[[Progress], None] | None = None,
    on_log: Callable[[dict[str, Any]], None] | None = None,
    on_start: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    done: tuple[int, float] = (0, 0.0),
    **overrides: Any,
) -> Result:
    """Train `field` on `task` and leave it trained.

    training: the setting; without one, the recipe of the preset the field was built with, for a signal seen as densely
    as the task's is. overrides: single settings of
    it, such as steps=1000. seed: of the sampling. checkpoint: a file to continue from if it is there and to keep the
    run's state in, written every `checkpoint_every` seconds. on_progress: called after every step. on_log: called with
    every line of the history. on_start: called once with the step the run begins at. should_stop: asked between
    passes; True ends the run cleanly. done: steps and seconds that the field was trained before; the run counts
    on from there, with an optimiser and a cosine schedule that start over.

    Under torchrun all processes call this with the same field and task; the first one alone writes the checkpoint, and
    all must be able to read it.
    """
    _check_kinds(field, task)
    setting = _setting(field, task, training, overrides)
    processes = current()
    _check_sizes(field, task)
    task.set_sampling(setting.sampling)
    optimiser = make_optimiser(field, setting)
    identity = {"method": field.spec.get("method"), "options": _plain(field.spec.get("options")), "seed": seed,
                "training": asdict(setting), "signal": task.describe()}  # fmt: skip
    path = Path(checkpoint) if checkpoint is not None else None
    position = Position(*done, *done)
    if path is not None and path.exists():
        position = read_checkpoint(path, field, optimiser, identity)
    elif position.step == 0:
        field.set_range(*task.output_range())
        adapt(field, task, setting, 0, seed, 0.0)
    field.signal = task.facts()
    if setting.detail > 0 and (levels := task.pyramid()) is not None:
        field.signal["detail"] = levels.octaves
    field.train()
    keep_freed_memory()
    processes.check_same([position.step, *(float(p.detach().sum()) for p in field.parameters())], "states")
    good: dict[str, Tensor] = _copy(field)
    history: list[dict[str, Any]] = []
    if setting.fill > 0:
        task.filling()  # no step of a short budget is lost to it, and no rate falls before the first step
    position.way = way = prepare(field, task, setting, optimiser, processes, position.way)
    if on_start is not None:
        on_start(position.step)
    now = clock(setting)
    began = now() - position.seconds
    saved = time.monotonic()
    finished = False

    with use_way(way), closing(GradientWorkers(field, processes)) as gradient_workers:
        whole = not optimiser.adds_up()
        while not (finished := _is_over(setting, position)):
            over = _share(setting, position)
            factor = rate_factor(setting, position.step, over, restarted=position.first_step > 0)
            try:
                terms = accumulate_gradient(
                    gradient_workers, task, setting, position.step, seed, should_stop, whole, factor,
                    is_settled(setting, over),
                )  # fmt: skip
            except (WorkerLost, MemoryError):  # the step was not taken: what was learned before is kept
                if path is not None and processes.is_main:
                    write_checkpoint(path, field, optimiser, position, identity)
                raise
            if terms is None:  # asked to stop in the middle of a batch: the step was not taken
                break
            loss = sum(terms.values())
            if not math.isfinite(loss):
                field.load_state_dict(good)
                raise NotFinite(_explain(position.step + 1, position.step > 0, setting))
            if position.step % _KEEP_EVERY == 0:
                good = _copy(field)
            if path is not None and processes.is_main and time.monotonic() - saved >= checkpoint_every:
                # the gradient is not kept: a resumed run computes it again, from numbers whose loss is finite
                write_checkpoint(path, field, optimiser, position, identity)
                saved = time.monotonic()
            optimiser.step(factor, gradient_workers.take_sums())
            field.encoding.constrain()
            position.step += 1
            # before anything is kept: a state includes its adaptation
            adapt(field, task, setting, position.step, seed, _share(setting, position))
            position.seconds = processes.from_main(now() - began)  # one clock decides for all
            update_running_loss(position, terms["data"])
            if seems_reached(position, task, setting):  # the terms are the same in all processes
                record_quality(position, processes.from_main(measured_quality(field, task, setting, seed)), setting)
            if position.step <= _EVERY_STEP or position.step % 10 == 0 or _is_over(setting, position):
                line = _log_line(position, terms, task, setting, factor)
                history.append(line)
                if on_log is not None:
                    on_log(line)
            if on_progress is not None:
                on_progress(_progress(setting, position, terms["data"], task))
            if processes.any(should_stop()):
                break

    if not _is_sound(
        field, task, setting, max(0, position.step - 1), seed
    ):  # the last step has no successor whose loss would tell
        field.load_state_dict(good)
        raise NotFinite(_explain(max(1, position.step), position.step > 0, setting))
    if path is not None and processes.is_main:
        write_checkpoint(path, field, optimiser, position, identity)
    field.eval()
    reached = position.reached if setting.until is not None else None
    return Result(position.step, position.seconds, finished or _is_over(setting, position), reached, history)


def make_optimiser(field: Field, setting: Training) -> Adam:
    """Adam with two groups, the network's and the encoding's own parameters, each with its rate.

    The network's is η min(1, n/(width ⋅ depth)) where a preset says for which n = width ⋅ depth its η was found: at the
    rate of three layers of 160, eight of 256 end in noise.
    """
    network = Group(list(field.network.parameters()), setting.lr * _step_size(field, setting), setting.weight_decay)
    encoding = Group(list(field.encoding.parameters()), setting.lr_encoding)
    settings: dict[str, Any] = {name: getattr(setting, name) for name in ("beta2", "epsilon", "amsgrad", "clip")}
    return Adam([network, encoding], **settings)


def _step_size(field: Field, setting: Training) -> float:
    options = field.spec.get("options", {})
    size = options.get("width", 0) * options.get("depth", 0)
    return 1.0 if setting.neurons is None or size == 0 else min(1.0, setting.neurons / size)


def _setting(field: Field, task: Task, training: Training | None, overrides: dict[str, Any]) -> Training:
    if training is None:
        name = field.spec.get("method")
        by_hand = Training(batch=task.default_batch())  # of a field that no method built
        training = preset_training(name, _preset_name(field), task.density()) if name else by_hand
    checked = configure(Training, overrides, "training")
    changes = {name: getattr(checked, name) for name in overrides}
    return replace(training, **override({"neurons": training.neurons}, changes))


def _preset_name(field: Field) -> str:
    """The preset a field was built with; for options of its own `paper`, or `default` if its method has no `paper`."""
    presets = method(field.spec["method"]).presets
    return field.spec.get("preset") or ("paper" if "paper" in presets else "default")


def _check_kinds(field: Any, task: Any) -> None:
    if not isinstance(field, Field):
        raise UserError(f"fit takes a field, got {type(field).__name__}; alfilter.build(METHOD, …) makes one")
    if not isinstance(task, Task):
        ways = "alfilter.ImageTask.from_file(…) or .from_array(…) makes one of a picture, other tasks of other signals"
        raise UserError(f"fit takes a task, got {type(task).__name__}; {ways}")


def _check_sizes(field: Field, task: Task) -> None:
    if (field.in_dim, field.out_dim) != (task.in_dim, task.out_dim):
        raise UserError(
            f"the field maps {field.in_dim} → {field.out_dim} numbers, the signal {task.in_dim} → {task.out_dim}; "
            f"build it with in_dim={task.in_dim}, out_dim={task.out_dim}"
        )


def clock(setting: Training) -> Callable[[], float]:
    """What a budget counts: wall-clock seconds, or the CPU seconds of the workers divided by their number."""
    if setting.clock == "wall":
        return time.monotonic
    threads = workers()
    return lambda: cpu_seconds() / threads


def _share(setting: Training, position: Position) -> float:
    """How much of the run is over, in [0, 1]; of one that was made longer, how much since then."""
    if setting.budget is not None:
        done, whole = position.seconds - position.first_seconds, setting.budget - position.first_seconds
    else:
        done, whole = float(position.step - position.first_step), float(setting.steps - position.first_step)
    return min(1.0, done / whole) if whole > 0 else 1.0


def _is_over(setting: Training, position: Position) -> bool:
    return position.reached or _share(setting, position) >= 1.0


def _progress(setting: Training, position: Position, data: float, task: Task) -> Progress:
    rate = (position.step - position.first_step) / max(position.seconds - position.first_seconds, 1e-9)
    if setting.budget is not None:
        left = max(0.0, setting.budget - position.seconds)
    else:
        left = (setting.steps - position.step) / max(rate, 1e-9)
    share = 1.0 if position.reached else _share(setting, position)
    return Progress(position.step, share, data, task.quality(data), rate, left, position.seconds, task.unit)


def _log_line(
    position: Position, terms: dict[str, float], task: Task, setting: Training, factor: float
) -> dict[str, Any]:
    line: dict[str, Any] = {"step": position.step, "loss": sum(terms.values()), "psnr": task.quality(terms["data"])}
    line |= {name: terms[name] for name in ("fill", "detail", "tv", "parsimony") if name in terms}
    rates = {"network": setting.lr * factor, "encoding": setting.lr_encoding * factor}
    return {**line, "lr": rates, "seconds": round(position.seconds, 3)}


def _is_sound(field: Field, task: Task, setting: Training, step: int, seed: int) -> bool:
    """Whether the field's numbers and its loss on one piece of a step's samples are finite."""
    if not all(bool(torch.isfinite(parameter).all()) for parameter in field.parameters()):
        return False
    with torch.inference_mode():
        x, y = on_device(task.load(task.pieces(step, seed, setting.batch, setting.micro)[0]), field)
        return math.isfinite(task.loss(field(x), y).item())


def _explain(step: int, learned: bool, setting: Training) -> str:
    if not learned:
        return f"the loss is NaN or infinite at step {step}, before anything was learned; remove NaN from the signal"
    return (
        f"the loss became NaN or infinite at step {step}; a smaller learning rate is the usual remedy "
        f"(lr={setting.lr:g}, lr_encoding={setting.lr_encoding:g} were used): the model of the last good step is kept"
    )


def _copy(field: Field) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in field.state_dict().items()}


def _plain(options: Any) -> Any:
    """Options as JSON would give them back, so that a stored identity compares equal."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in options.items()} if options else options
