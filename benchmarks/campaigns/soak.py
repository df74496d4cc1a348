"""Do memory and open files stay flat when one process fits for hours?

Fits small signals of every kind in a loop, each with a checkpoint, a model file and a score, every tenth round with two
workers, and prints the resident memory and the open files as it goes. A round counts for a minute at most, so that a
process that is stopped (SIGSTOP) and goes on later does not count the pause.

    python -m benchmarks.campaigns.soak --minutes 120          # from the repository's root
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from benchmarks.campaigns.originals import make_originals

from alfilter.runs.fitting import fit_task
from alfilter.tasks import Task, open_task
from alfilter.training import load, save

LONGEST_ROUND = 60.0  # seconds; a longer one was stopped in between
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
    named = {"columns": (("x", "y"), ("z",), None, None)} if name == "table.csv" else {}
    return open_task(str(home / name), **named)


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


@dataclass(frozen=True)
class Row:
    """What one round left."""

    seconds: float
    memory: float
    files: int
    processes: int

    def __str__(self) -> str:
        return f"{self.seconds:>8.0f}{self.memory:>11.1f}{self.files:>7}{self.processes:>11}"


def campaign(seconds: float, every: float = 300) -> int:
    """Loop, and print the course of memory and files every so many seconds; 1 when one of them grew."""
    course: list[Row] = []
    print(f"{'seconds':>8}{'memory MB':>11}{'files':>7}{'processes':>11}", flush=True)
    with tempfile.TemporaryDirectory() as text:
        home = Path(text)
        make_originals(home)
        elapsed, shown = 0.0, -every
        while elapsed < seconds:
            began = time.monotonic()
            torch.set_num_threads(2 if len(course) % 10 == 9 else 1)
            one_round(home)
            gc.collect()
            elapsed += min(time.monotonic() - began, LONGEST_ROUND)
            course.append(Row(elapsed, resident(), open_files(), children()))
            if course[-1].seconds >= shown + every:
                shown = course[-1].seconds
                print(course[-1], flush=True)
    print(course[-1])
    ended, used = course[-1].seconds, sum(os.times()[:4])
    print(f"{len(course)} rounds of {len(FITS)} fits in {ended:.0f} s, {used:.0f} s of them on a processor")
    growth, grew = judge(course)
    print(f"growth from the first quarter's most to the last quarter's least: {growth:+.1f} MB")
    return 1 if grew else 0


def judge(course: list[Row]) -> tuple[float, bool]:
    """Megabytes by which memory grew once it had settled, and whether anything grew."""
    settled = course[len(course) // 5 :]  # the first rounds load and compile
    quarter = max(1, len(settled) // 4)
    first, last = settled[:quarter], settled[-quarter:]
    growth = min(row.memory for row in last) - max(row.memory for row in first)
    files = min(row.files for row in last) > max(row.files for row in first)
    return growth, growth > 8 or files or last[-1].processes > first[0].processes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=120)
    return campaign(60 * parser.parse_args().minutes)


if __name__ == "__main__":
    sys.exit(main())
