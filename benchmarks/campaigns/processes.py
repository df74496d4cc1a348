"""One command in one process, with limits, and what became of it."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, NamedTuple

HEAVY = [
    *(
        "alfilter.cli",
        "alfilter.runs.run",
        "alfilter.runs.score",
        "alfilter.render.run.finish",
        "alfilter.render.image",
    ),
    *("alfilter.render.image", "alfilter.render.media", "alfilter.render.mesh", "alfilter.render.points"),
    *("PIL.Image", "tifffile", "trimesh"),
    *("av", "pyarrow.parquet", "scipy.spatial", "benchmarks.campaigns.processes", "benchmarks.campaigns.warm"),
]
MEMORY = 1 << 30  # bytes beyond what the imported modules take
SECONDS = 60


class Outcome(NamedTuple):
    """What a command did: its exit code (negative: a signal), its streams, and how long it took."""

    code: int | None
    out: str
    err: str
    seconds: float


def context() -> Any:
    """Processes come from a server that has imported everything already: each is new, and starts in milliseconds."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(HEAVY)
    return server


class Job:
    """A running command in a folder of its own."""

    def __init__(self, server: Any, words: list[str], folder: Path, seconds: float, memory: int) -> None:
        self.folder, self.began, self.patience = folder, time.monotonic(), 20 * seconds
        self.process: ForkServerProcess = server.Process(target=_child, args=(words, str(folder), seconds, memory))
        self.process.start()

    def is_over(self) -> bool:
        if self.process.is_alive() and time.monotonic() - self.began > self.patience:
            self.process.kill()
            self.process.join()
        return not self.process.is_alive()

    def outcome(self) -> Outcome:
        self.process.join()
        texts = [(self.folder / name).read_text("utf-8", "replace") if (self.folder / name).exists() else ""
                 for name in (".out", ".err")]  # fmt: skip
        code = self.process.exitcode
        self.process.close()
        return Outcome(code, *texts, time.monotonic() - self.began)


def run_all(
    cases: Iterable[tuple[Any, list[str], Path]],
    *,
    at_once: int = 2,
    seconds: float = SECONDS,
    memory: int = MEMORY,
) -> Iterator[tuple[Any, Outcome]]:
    """The outcome of every case (label, words, folder), as they end."""
    server, running = context(), dict[int, tuple[Any, Job]]()
    for number, (label, words, folder) in enumerate(cases):
        while len(running) >= at_once:
            yield from _ended(running)
        running[number] = label, Job(server, words, folder, seconds, memory)
    while running:
        yield from _ended(running)


def _ended(running: dict[int, tuple[Any, Job]]) -> Iterator[tuple[Any, Outcome]]:
    over = [number for number, (_, job) in running.items() if job.is_over()]
    if not over:
        time.sleep(0.005)
    for number in over:
        label, job = running.pop(number)
        yield label, job.outcome()


def _child(words: list[str], folder: str, seconds: float, memory: int) -> None:
    os.chdir(folder)
    for number, name in ((1, ".out"), (2, ".err")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    without_pictures()
    from alfilter.cli import main

    sys.exit(main(words))


def without_pictures() -> None:
    """Draw nothing and score no surface: that takes most of the time of a tiny run, and reads no file."""
    import alfilter.render.run.finish as artifacts
    from alfilter.tasks import SdfTask

    nothing: Callable[..., None] = lambda folder, fitted, scores: None  # noqa: E731
    artifacts.finish_run = nothing
    SdfTask.evaluate = lambda task, field: task.compare(field, None)  # type: ignore[method-assign]
