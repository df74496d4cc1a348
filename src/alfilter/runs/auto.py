"""`auto`: L, B, the α grid, ω0 and λ from the observed samples alone, by holding some of them out.

A fifth of the seen samples is held out; short fits, a quarter of the fit's own length in all, try one change at a time
from what the preset proposes for the sampling density, and a change stays when the held-out samples are better by
more than `MARGIN`. Nothing that the user held out is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from alfilter.config import Training
from alfilter.errors import UserError
from alfilter.methods import method, preset
from alfilter.runs.fitting import fit_task
from alfilter.runs.request import resolve
from alfilter.tasks import GridTask, PointTask
from alfilter.tasks.holdout import HoldoutTask
from alfilter.training import clock

SHARE = 0.25  # of the fit's own length, for all trials together; the rest of the 0.3 allowed is for starting them
MARGIN = 0.05  # dB below which two short fits are the same
_HELD = 0.2

Changes = Mapping[str, Any]


@dataclass
class Choice:
    """What was chosen, and the trials that say why."""

    options: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    trials: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


def choose(
    name: str,
    which: str | None,
    task: GridTask | PointTask,
    options: Changes,
    settings: Changes,
    seed: int = 0,
    say: Callable[[str], None] = lambda line: None,
) -> Choice:
    """Options and training for a task. options, settings: what the user fixed; those are not searched."""
    setting = resolve(task, name, preset=which, options=options, training=settings)
    goal, density = setting.training, setting.density
    start = {**preset(name, setting.preset).options_at(density), **options}
    if "bandwidth" not in {known.name for known in fields(method(name).options)}:
        raise UserError(f"option 'auto' chooses α's settings, {name} has none; fit al-sine, or leave it out")
    now = clock(goal)
    began = now()
    held = HoldoutTask(task, _HELD, seed)
    if goal.fill > 0:
        held.filling()  # once for all trials, and not out of the first one's time
    choice, best, tried = Choice(), -float("inf"), 0
    stages = _stages(start, {**options, **settings}, task.in_dim)
    count = 1 + sum(len(stage) for stage in stages)
    spent = (now() - began) / goal.budget if goal.budget is not None else 0.0  # by the filling
    short = _shortened(goal, (SHARE - min(spent, SHARE / 2)) / count)
    everything: list[list[Changes]] = [[{}], *stages]
    for number, stage in enumerate(everything):
        for changes in stage:
            if goal.budget is not None and tried and now() - began > 0.27 * goal.budget:
                break  # the trials are slower than planned: what is known must do
            mine = {key: value for key, value in changes.items() if key != "tv"}
            recipe = replace(short, tv=changes.get("tv", choice.training.get("tv", short.tv)))
            trial = {**options, **choice.options, **mine}
            fitted = fit_task(
                held, name, preset=setting.preset, options=trial, training=recipe, density=density, seed=seed
            )
            score, tried = held.judge(fitted.field), tried + 1
            choice.trials.append({"changes": dict(changes), "psnr": round(score, 3)})
            if number == 0 or score > best + MARGIN:
                best = score
                choice.options |= mine
                if "tv" in changes:
                    choice.training["tv"] = changes["tv"]
    choice.seconds = round(now() - began, 3)
    for line in explain(choice, {**start, "tv": goal.tv}, len(held.validation)):
        say(line)
    return choice


def explain(choice: Choice, start: Changes, held: int) -> list[str]:
    """What was chosen and why, in lines."""
    names = {"levels": "L", "bandwidth": "B", "grid": "α grid", "omega": "ω0", "tv": "λ"}
    chosen = {**start, **choice.options, **choice.training}
    values = ", ".join(f"{names[key]} {_short(chosen.get(key))}" for key in names)
    first = choice.trials[0]["psnr"]
    lines = [f"auto: chose {values} in {choice.seconds:.1f} s, judged by {held} seen samples that were held out"]
    for trial in choice.trials[1:]:
        words = ", ".join(f"{names[key]} {_short(value)}" for key, value in trial["changes"].items())
        lines.append(f"auto: {words}: {trial['psnr']:.2f} dB (the start: {first:.2f})")
    return lines


def _stages(start: Changes, fixed: Changes, dims: int) -> list[list[Changes]]:
    """Changes to try, one group after the other, without what the user fixed."""
    omega, levels, band = start.get("omega"), int(start.get("levels", 8)), float(start.get("bandwidth", 20.0))
    grid = start.get("grid")
    stages: list[list[Changes]] = [
        [{"omega": round(omega * factor, 2)} for factor in (0.7, 1.4)] if omega else [],
        [{"levels": min(levels + 2, 12), "bandwidth": band + 2.0 * dims}],
        [{"grid": 2 * grid if dims < 3 else grid + 4}] if isinstance(grid, int) else [{"grid": 16 if dims < 3 else 8}],
        [{"tv": 1e-3}],
    ]
    return [[changes for changes in stage if not set(changes) & set(fixed)] for stage in stages]


def _shortened(goal: Training, part: float) -> Training:
    """The training of one trial, which takes that part of the whole."""
    rate = {"lr": min(2 * goal.lr, 2e-3), "schedule": "cosine", "decay": 0.1}
    if goal.budget is not None:
        return replace(goal, budget=max(0.1, goal.budget * part), **rate)  # type: ignore[arg-type]
    return replace(goal, steps=max(1, int(goal.steps * part)), **rate)  # type: ignore[arg-type]


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "per sample" if value is None else str(value)
