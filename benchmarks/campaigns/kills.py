"""Does a run that is killed anywhere end in the same bytes as one that is left alone?

Fits pictures, light fields, shapes, points and adaptive grids with two workers and snapshots; sends SIGKILL, SIGTERM or
SIGINT to the process, to one of its workers or to the whole group at random moments, resumes, and compares: the same
model, snapshots and scores, no process left behind, no file more or less.

    python -m benchmarks.campaigns.kills --kills 200          # from the repository's root
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.campaigns.originals import make_originals
from benchmarks.campaigns.processes import context, without_pictures
from benchmarks.campaigns.warm import HOME, ONLY

SMALL = ("--set", "width=8", "--set", "depth=1")
GROUP = ("--threads", "2", "--train", "micro=16", "--snapshots", "4", "--checkpoint-every", "0", "--quiet", "--json")
SCENES: dict[str, tuple[str, ...]] = {
    # by layers, a step has worker processes
    "picture": ("photo.png", "--method", "al-sine", *SMALL, "--set", "levels=3", "--set", "grid=6", "--steps", "30",
                "--train", "kernels=layers"),
    "al-grid": ("photo.png", "--method", "al-grid", *SMALL, "--set", "levels=3", "--set", "table=6", "--steps", "30"),
    "views": ("views.npz", "--method", "al-grid", *SMALL, "--set", "levels=2", "--set", "table=8", "--steps", "30"),
    "octree": ("photo.png", "--method", "octree", *SMALL, "--set", "levels=3", "--set", "capacity=200", "--steps",
               "30"),
    "acorn": ("photo.png", "--method", "acorn", *SMALL, "--set", "tiles=16", "--set", "deepest=3", "--set", "patch=2",
              "--set", "decoder=8", "--set", "every=5", "--steps", "30"),
    "shape": ("ball.ply", "--method", "al-sine", *SMALL, "--set", "levels=2", "--set", "grid=4", "--train", "batch=64",
              "--steps", "30"),
    "points": ("table.csv", "--coords", "x,y", "--values", "z", "--method", "siren", *SMALL, "--steps", "30"),
}  # fmt: skip
HOW = ("kill", "term", "int", "group-kill", "group-term", "group-int", "worker-kill")
ENDS = {"kill": {-9}, "term": {143, -15}, "int": {130}, "worker-kill": {2}}  # a finished run ends with 0


@dataclass
class Reference:
    """What an undisturbed run left: its files, and how long it took."""

    files: dict[str, bytes]
    seconds: float


class Command:
    """`alfilter WORDS` in a process group of its own."""

    def __init__(self, words: list[str], log: Path) -> None:
        self.process = context().Process(target=_child, args=(words, str(log)))
        self.process.start()
        assert self.process.pid is not None
        self.pid: int = self.process.pid
        with suppress(ProcessLookupError):
            while os.getpgid(self.pid) != self.pid and self.process.is_alive():  # it is not ready to be struck
                time.sleep(0.002)

    def wait(self, seconds: float = 1800) -> int | None:
        self.process.join(seconds)
        if self.process.is_alive():
            os.killpg(self.pid, signal.SIGKILL)
            self.process.join()
            return None
        code: int | None = self.process.exitcode
        return code

    def workers(self) -> list[int]:
        with suppress(OSError):
            return [int(word) for word in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]
        return []

    def group(self) -> list[int]:
        """The processes of its group that are still there."""
        left = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError, IndexError, ValueError):
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    if int(fields[2]) == self.pid and fields[0] != "Z":
                        left.append(int(entry.name))
        return left


def strike(command: Command, how: str, moment: Callable[[], bool], chance: random.Random) -> bool:
    """Send the signal of that name as soon as the moment has come; whether the command still ran."""
    while not moment() and command.process.is_alive():
        time.sleep(0.005)
    if not command.process.is_alive():
        return False
    number = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "int": signal.SIGINT}[how.split("-")[-1]]
    with suppress(ProcessLookupError):
        if how.startswith("group"):
            os.killpg(command.pid, number)
        elif how.startswith("worker"):
            workers = command.workers()
            if workers:
                os.kill(chance.choice(workers), number)
        else:
            os.kill(command.pid, number)
    return True


def after(seconds: float) -> Callable[[], bool]:
    """The moment that comes so many seconds from now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def trial(
    name: str,
    how: str,
    home: Path,
    work: Path,
    reference: Reference,
    chance: random.Random,
    number: int,
    moment: Callable[[Path], Callable[[], bool]] | None = None,
) -> tuple[str | None, int]:
    """One run, struck once or more until it has finished; what was wrong with it, and how often it was struck.

    moment: when to strike, for a run folder; anywhere within an undisturbed run's time if it is not given.
    """
    folder, log = work / f"{number}-{name}", work / f"{number}.log"
    words = fit_words(name, home, folder)
    strikes = 0
    for attempt in range(12):
        command = Command([*words, "--resume"], log)
        struck = attempt < 3
        if struck:
            when = moment(folder) if moment else after(chance.random() * reference.seconds)
            strikes += strike(command, how, when, chance)
        code = command.wait()
        if wrong := _left_behind(command):
            return wrong, strikes
        if code == 0:
            return compare(folder, reference, log), strikes
        kind = how.removeprefix("group-")
        if not struck or code not in ENDS[kind]:
            return f"exit code {code} after {how}: {log.read_text()[-300:]!r}", strikes
    return "never finished", strikes


def _left_behind(command: Command) -> str | None:
    for _ in range(100):
        if not command.group():
            return None
        time.sleep(0.05)
    return f"processes left: {command.group()}"


def compare(folder: Path, reference: Reference, log: Path) -> str | None:
    """What differs from the undisturbed run."""
    files = results(folder)
    if set(files) != set(reference.files):
        return f"files differ: {sorted(set(files) ^ set(reference.files))}"
    odd = [name for name, data in files.items() if data != reference.files[name]]
    if odd:
        return f"{odd[0]} has other bytes"
    return "a traceback" if "Traceback" in log.read_text() else None


def results(folder: Path) -> dict[str, bytes]:
    """The files of a run as they should be again: times are left out."""
    contents = {}
    for file in sorted(folder.rglob("*")):
        if not file.is_file():
            continue
        data, name = file.read_bytes(), str(file.relative_to(folder))
        if name == "metrics.json":
            data = json.dumps(_without(json.loads(data), ("seconds", "model"))).encode()
        elif name == "history.jsonl":
            data = json.dumps([_without(json.loads(line), ("seconds",)) for line in data.splitlines()]).encode()
        elif name == "config.json":
            data = b""
        contents[name] = data
    return contents


def _without(table: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name not in names}


def fit_words(name: str, home: Path, folder: Path) -> list[str]:
    source, *rest = SCENES[name]
    return ["fit", str(home / source), *rest, *GROUP, "--out", str(folder)]


def _child(words: list[str], log: str) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    without_pictures()
    from alfilter.cli import main

    try:
        os.setpgid(0, 0)  # from here on it is struck
        code = main(words)
    except KeyboardInterrupt:  # before the command began, or after it ended
        code = 130
    sys.exit(code)


def campaign(kills: int, seed: int, only: str = "") -> int:
    """Strike until `kills` signals were sent, print a table; the number of failures."""
    chance, began, failures, sent, number = random.Random(seed), time.monotonic(), 0, 0, 0
    table: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as text:
        home, work = Path(text) / "originals", Path(text) / "work"
        home.mkdir()
        work.mkdir()
        make_originals(home)
        kinds = ("image", "octree", "acorn", "grid", "views", "points", "shape")  # read before the processes start
        os.environ[HOME], os.environ[ONLY] = str(home), " ".join(f"{kind}.safetensors" for kind in kinds)
        scenes = [name for name in SCENES if only in name]
        references = {name: undisturbed(name, home, work) for name in scenes}
        while sent < kills:
            name, how = scenes[number % len(scenes)], HOW[number // len(scenes) % len(HOW)]
            wrong, strikes = trial(name, how, home, work, references[name], chance, number)
            sent, number = sent + strikes, number + 1
            counts = table.setdefault(name, Counter())
            counts.update({"runs": 1, "signals": strikes, "failed": wrong is not None})
            if wrong is not None:
                failures += 1
                print(f"{name} {how} (trial {number - 1}): {wrong}", flush=True)
            if number % len(scenes) == 0:
                print(f"{number} runs, {sent} signals, {failures} failed", file=sys.stderr, flush=True)
    print(f"{'scene':<10}{'runs':>6}{'signals':>9}{'failed':>8}")
    for name, counts in table.items():
        print(f"{name:<10}{counts['runs']:>6}{counts['signals']:>9}{counts['failed']:>8}")
    print(f"{'all':<10}{number:>6}{sent:>9}{failures:>8}   seed {seed}, {time.monotonic() - began:.0f} s")
    return failures


def undisturbed(name: str, home: Path, work: Path) -> Reference:
    """What two runs left that nothing happened to, and how long the faster one took."""
    references = []
    for number in range(2):
        folder, log, began = work / f"{name}-{number}", work / f"{name}.log", time.monotonic()
        code = Command(fit_words(name, home, folder), log).wait()
        if code != 0:
            raise SystemExit(f"{name} ends with {code} when it is left alone: {log.read_text()[-500:]}")
        references.append(Reference(results(folder), time.monotonic() - began))
    if references[0].files != references[1].files:
        raise SystemExit(f"{name} gives other bytes the second time")
    return min(references, key=lambda reference: reference.seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="scenes whose name holds this")
    words = parser.parse_args()
    return 1 if campaign(words.kills, words.seed, words.only) else 0


if __name__ == "__main__":
    sys.exit(main())
