"""Are settings that are chosen by held-out samples better than a preset?

    python benchmarks/held_out_choice.py [--steps 600] [--share 0.25] [--json]

al-grid on small signals of every sampled kind. A fifth of the seen samples is held out; short fits, which together take
`--share` of the fit's own steps, try one change of levels, table, α grid and λ at a time, and a change is kept when the
held-out samples gain more than 0.05 dB. Then both settings are fitted to all seen samples: PSNR in dB, on the samples
that neither has seen where there are any, else on all.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from alfilter.experiments.compare.noise import truth
from alfilter.methods import preset
from alfilter.methods.filtered_grids import alpha_nodes
from alfilter.runs import fit_task
from alfilter.runs.request import resolve
from alfilter.tasks import AudioTask, ImageTask, LightFieldTask, PointTask, VideoTask, VolumeTask
from alfilter.tasks.holdout import HoldoutTask
from machine import machine

MARGIN = 0.05  # dB below which two short fits are the same
METHOD = "al-grid"

Changes = Mapping[str, Any]


def signals() -> Iterator[tuple[str, Any, str | None]]:
    """Name, task, and the preset where it is not the one that suits the task."""
    from skimage.data import astronaut, camera

    draw = np.random.default_rng(0)
    colours, grey = astronaut()[:256:4, 128:384:4], camera()[64:320:4, 128:384:4]
    yield "picture", ImageTask.from_array(colours), None
    yield "picture, random:0.3", ImageTask.from_array(colours, "random:0.3"), None
    yield "picture, every:2", ImageTask.from_array(grey, "every:2"), None
    t = np.linspace(0, 1, 4096)
    yield "sound", AudioTask.from_array(np.sin(400 * t**2) * np.exp(-2 * t), 8000), None
    z, y, x = np.meshgrid(*[np.linspace(-1, 1, 25)] * 3, indexing="ij")
    blob = np.tanh(8 * (0.7 - np.sqrt(x**2 + y**2 + z**2))) * (1 + 0.2 * np.sin(20 * x) * (y > 0))
    yield "volume, slices:0:every:2", VolumeTask.from_array(blob, "slices:0:every:2"), None
    frames = np.stack([np.roll(grey, 2 * shift, 1)[:32, :32] for shift in range(9)])
    yield "video", VideoTask.from_array(frames[..., None]), None
    views = np.stack([[np.roll(grey, (u, v), (0, 1))[:24, :24, None] for v in range(3)] for u in range(3)])
    yield "light field, views:every:2", LightFieldTask.from_array(views, "views:every:2"), None
    places = draw.uniform(-1, 1, (800, 2))
    heights = np.exp(-4 * (places**2).sum(1)) + 0.1 * np.sin(9 * places[:, 0])
    yield "points", PointTask.from_array(places, heights, observe="random:0.8"), None
    times = np.sort(draw.random(1024))
    for name in ("blocks", "doppler"):
        clean = truth(name, times)
        noisy = clean + clean.std() / 7 * draw.standard_normal(len(times))
        yield f"noisy points: {name}", PointTask.from_array(times, noisy, observe="random:0.8"), "noisy"


def changes(task: Any, which: str | None) -> list[Changes]:
    """One at a time: a level fewer or more, a small table, α on half or twice the nodes, a fifth or five times λ."""
    setting = resolve(task, METHOD, preset=which)
    options = preset(METHOD, setting.preset).options_at(setting.density)
    nodes = options.get("grid") or alpha_nodes(task.in_dim, task.samples)
    per_axis = (nodes,) * task.in_dim if isinstance(nodes, int) else nodes
    return [
        {"levels": max(1, options["levels"] - 1)},
        {"levels": options["levels"] + 1},
        {"table": 10},
        {"grid": tuple(max(1, count // 2) for count in per_axis)},
        {"grid": tuple(2 * count for count in per_axis)},
        {"parsimony": setting.training.parsimony / 5},
        {"parsimony": setting.training.parsimony * 5},
    ]


def fitted(task: Any, which: str | None, chosen: Changes, steps: int, density: Any = None) -> Any:
    """The field of a setting that differs from the preset in what was chosen."""
    options = {name: value for name, value in chosen.items() if name != "parsimony"}
    training = {"steps": steps, **{name: value for name, value in chosen.items() if name == "parsimony"}}
    return fit_task(task, METHOD, preset=which, options=options, training=training, density=density).field


def choose(task: Any, which: str | None, steps: int, share: float) -> dict[str, Any]:
    """The changes that held-out samples gain from in short fits."""
    held, trials = HoldoutTask(task, 0.2), changes(task, which)
    which = resolve(task, METHOD, preset=which).preset
    short = max(1, round(share * steps / (1 + len(trials))))
    chosen: dict[str, Any] = {}
    best = held.judge(fitted(held, which, chosen, short, task.density()))
    for change in trials:
        score = held.judge(fitted(held, which, {**chosen, **change}, short, task.density()))
        if score > best + MARGIN:
            best, chosen = score, {**chosen, **change}
    return chosen


def compare(steps: int, share: float) -> list[dict[str, Any]]:
    """Both settings on every signal."""
    rows = []
    for name, task, which in signals():
        chosen = choose(task, which, steps, share)
        scores = [task.evaluate(fitted(task, which, setting, steps)) for setting in ({}, chosen)]
        before, after = ((score.heldout or score.metrics)["psnr"] for score in scores)
        rows.append({"signal": name, "preset": before, "chosen": after, "changes": chosen})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=600, help="of a fit")
    parser.add_argument("--share", type=float, default=0.25, help="of these, for all short fits together")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows = compare(arguments.steps, arguments.share)
    gain = statistics.mean(row["chosen"] - row["preset"] for row in rows)
    if arguments.json:
        print(json.dumps({"machine": machine(), "rows": rows, "gain": gain}))
        return
    print(f"{machine()}\n")
    print("| signal | preset, dB | chosen, dB | changes |\n|---|---|---|---|")
    for row in rows:
        words = ", ".join(f"{name} {value}" for name, value in row["changes"].items()) or "none"
        print(f"| {row['signal']} | {row['preset']:.2f} | {row['chosen']:.2f} | {words} |")
    print(f"gain in the mean of {len(rows)} signals: {gain:+.2f} dB")


if __name__ == "__main__":
    main()
