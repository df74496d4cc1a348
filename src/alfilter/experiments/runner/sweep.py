"""All runs of a study: here, side by side, or on a cluster; each result written once, whatever dies on the way."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from alfilter.errors import UserError
from alfilter.experiments.runner.job import Event, Job
from alfilter.experiments.runner.local import here, side_by_side
from alfilter.experiments.runner.progress import Board
from alfilter.experiments.runner.ray import on_ray
from alfilter.experiments.study import Experiment, Lines, execute
from alfilter.files import write_text


def run_experiment(
    study: Experiment,
    data: str,
    out: str | None,
    workers: int,
    say: Callable[[str], None] = print,
    *,
    threads: int | None = None,
    ray: str | None = None,
    live: bool = False,
) -> Lines:
    """All lines of a study: the finished ones from its folder, the others computed, each written as it ends.

    workers: runs side by side; 1 stays in this process. threads: of one run; without it one, or all cores where runs
    come one after the other. A result depends on the threads in its last digits and on nothing else here. ray: the
    address of a Ray cluster, or `local`. live: a table on the terminal instead of plain lines alone.
    """
    if not Path(data).is_dir():
        raise UserError(f"the images are expected in a folder, {data} is none; name it with --data")
    if workers < 1 or (threads is not None and threads < 1):
        raise UserError(f"--workers and --threads must be at least 1, got {workers} and {threads}")
    runs = study.runs()
    alone = workers == 1 and ray is None
    threads = threads or ((os.cpu_count() or 1) if alone else 1)
    with Ledger(Path(out or "runs/experiments") / f"{study.name}.jsonl") as ledger:
        missing = [run for name, run in {run.name: run for run in runs}.items() if name not in ledger.lines]
        say(f"{study.name}: {len(runs)} runs, {len(runs) - len(missing)} finished already")
        jobs = [Job(run, str(Path(data).resolve()), threads, study.execute or execute) for run in missing]
        failed: list[str] = []
        with Board(study.name, missing, say, live) as board:
            for event in events(jobs, workers, ray, study):
                if event.kind == "finished" and event.line is not None:
                    ledger.add(event.line)
                elif event.kind == "failed":
                    failed.append(event.reason)
                board.note(event)
        if failed:
            raise UserError(
                f"{len(failed)} of {len(runs)} runs failed, the first: {failed[0]}; "
                "the others are kept, and the same command repeats only these"
            )
        return [ledger.lines[run.name] for run in runs]


def events(jobs: Sequence[Job], workers: int, ray: str | None, study: Experiment) -> Iterator[Event]:
    """What happens to the jobs, wherever they are carried out."""
    if not jobs:
        return iter(())
    if ray is not None:
        return on_ray(jobs, ray, workers, study.source)
    return here(jobs) if workers == 1 else side_by_side(jobs, workers, study.source)


class Ledger:
    """The result lines of a study in one file: a line a run, whole lines only, one writer at a time.

    lines: what the file holds, by the name of the run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[str, dict[str, Any]] = {}
        self._stream: IO[str] | None = None
        self._lock: Any = None

    def __enter__(self) -> Ledger:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.path)
            self._mend()
            self._stream = self.path.open("a", encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {error.strerror or error}; give another --out") from error
        return self

    def __exit__(self, *error: object) -> None:
        for stream in (self._stream, self._lock):
            if stream is not None:
                stream.close()

    def add(self, line: dict[str, Any]) -> None:
        """Append a result and push it to the disk; one that is there already is left alone."""
        if line["name"] in self.lines:
            return
        assert self._stream is not None
        self._stream.write(json.dumps(line) + "\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self.lines[line["name"]] = line

    def _mend(self) -> None:
        """Read the file; rewrite it without the line that was being written when a machine stopped."""
        texts = self.path.read_text(encoding="utf-8", errors="replace").splitlines() if self.path.exists() else []
        self.lines = {line["name"]: line for line in map(_parsed, texts) if line is not None}
        if len(self.lines) != len(texts):
            write_text(self.path, "".join(json.dumps(line) + "\n" for line in self.lines.values()))


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and isinstance(line.get("name"), str) else None


def _locked(path: Path) -> Any:
    """An open file that no other study of the same name and folder can lock; nothing where locks are unknown."""
    try:
        import fcntl
    except ImportError:
        return None
    stream = (path.parent / f".{path.name}.lock").open("w")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        stream.close()
        raise UserError(f"another command writes {path} at the moment; wait for it, or give another --out") from error
    return stream
