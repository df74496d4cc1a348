"""Do memory and open files stay flat when one process fits for hours?

Fits small signals of every kind in a loop, each with workers, a checkpoint, a model file and a score, and notes the
resident memory and the open files after every round.

    python -m benchmarks.campaigns.soak --minutes 120          # from the repository's root
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from benchmarks.campaigns.originals import make_originals

from alfilter.runs.fitting import fit_task
from alfilter.tasks import Task, open_task
from alfilter.training import load, save

SMALL: dict[str, Any] = {"width": 8, "depth": 1}
FITS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("photo.png", "al-sine", {**SMALL, "levels": 3, "grid": 6}),
    ("photo.png", "al-grid", {**SMALL, "levels": 3, "table": 6}),
    ("photo.png", "octree", {**SMALL, "levels": 3, "capacity": 200}),
    ("photo.png", "acorn", {**SMALL, "tiles": 16, "deepest": 3, "patch": 2, "decoder": 8, "every": 5}),
    ("sound.wav", "siren", SMALL),
    ("volume.npy", "siren", SMALL),
    ("film.gif", "siren", SMALL),
    ("table.csv", "siren", SMALL),
    ("ball.ply", "siren", SMALL),
)


def open_one(home: Path, name: str) -> Task:
    columns = (("x", "y"), ("z",), None) if name == "table.csv" else ((), (), None)
    return open_task(str(home / name), columns=columns)


def one_round(home: Path, fits: tuple[tuple[str, str, dict[str, Any]], ...] = FITS) -> None:
    """Every fit once, from the file to the model file and back."""
    for name, method, options in fits:
        task = open_one(home, name)
        setting = {"steps": 12, "micro": 16, "batch": 32}
        checkpoint = home / "checkpoint"
        fitted = fit_task(task, method, preset="default", options=options, training=setting, checkpoint=checkpoint)
        checkpoint.unlink()
        save(fitted.field, home / "soak.safetensors")
        load(home / "soak.safetensors")(torch.zeros(4, task.in_dim))
        if name != "ball.ply":  # a surface at full resolution takes seconds
            task.evaluate(fitted.field)


def resident() -> float:
    """Megabytes in memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def children() -> int:
    return len(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def campaign(seconds: float) -> int:
    """Loop, and print the course of memory and files; 1 when one of them grew."""
    torch.set_num_threads(2)
    course: list[tuple[float, float, int, int]] = []
    with tempfile.TemporaryDirectory() as text:
        home = Path(text)
        make_originals(home)
        began = time.monotonic()
        while not course or time.monotonic() - began < seconds:
            one_round(home)
            gc.collect()
            course.append((time.monotonic() - began, resident(), open_files(), children()))
    shown = sorted({round(k * (len(course) - 1) / 9) for k in range(10)})
    print(f"{'seconds':>8}{'memory MB':>11}{'files':>7}{'processes':>11}")
    for number in shown:
        at, memory, files, processes = course[number]
        print(f"{at:>8.0f}{memory:>11.1f}{files:>7}{processes:>11}")
    print(f"{len(course)} rounds of {len(FITS)} fits in {course[-1][0]:.0f} s")
    settled = course[len(course) // 5 :]  # the first rounds load and compile
    first, last = settled[: max(1, len(settled) // 4)], settled[-max(1, len(settled) // 4) :]
    growth = min(row[1] for row in last) - max(row[1] for row in first)
    print(f"growth from the first quarter's most to the last quarter's least: {growth:+.1f} MB")
    grew = growth > 8 or min(row[2] for row in last) > max(row[2] for row in first) or last[-1][3] > first[0][3]
    return 1 if grew else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=120)
    return campaign(60 * parser.parse_args().minutes)


if __name__ == "__main__":
    sys.exit(main())
