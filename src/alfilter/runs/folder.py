"""The run folder: its file names, how its files are read and written, and when a run is finished."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from alfilter.errors import UserError
from alfilter.files import write_text

MODEL = "model.safetensors"
CHECKPOINT = "checkpoint.safetensors"
CONFIG = "config.json"
METRICS = "metrics.json"
HISTORY = "history.jsonl"
REPORT = "report.html"
SNAPSHOTS = "snapshots"
PICTURES = (
    "reference",
    "reconstruction",
    "observed",
    "alpha",
    "scales",
    "error",
    "spectrum",
    "slice",
    "convergence",
    "map",
    "parity",
    "sparse",
    "waveform",
    "spectrogram",
    "planes",
)
FILES = (MODEL, CONFIG, METRICS, HISTORY, CHECKPOINT, REPORT, *(f"{name}.png" for name in PICTURES))


class RunFolder:
    """A folder that holds one run.

    >>> RunFolder("runs/photo").model.as_posix()
    'runs/photo/model.safetensors'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.model = self.path / MODEL
        self.checkpoint = self.path / CHECKPOINT
        self.config = self.path / CONFIG
        self.metrics = self.path / METRICS
        self.history = self.path / HISTORY
        self.report = self.path / REPORT

    def __str__(self) -> str:
        return str(self.path)

    @classmethod
    def of_model(cls, file: str | Path) -> RunFolder | None:
        """The run that a model file belongs to; none for a model saved under another name, beside a run or alone.

        >>> print(RunFolder.of_model("runs/photo/model.safetensors"), RunFolder.of_model("runs/photo/mine.safetensors"))
        runs/photo None
        """
        return cls(Path(file).parent) if Path(file).name == MODEL else None

    def picture(self, name: str) -> Path:
        """The file of a picture, one of `PICTURES`."""
        return self.path / f"{name}.png"

    def pictures(self) -> dict[str, Path]:
        """The pictures that are there, by name."""
        files = {name: self.picture(name) for name in PICTURES}
        return {name: file for name, file in files.items() if file.is_file()}

    @property
    def holds_results(self) -> bool:
        """Whether there is a run with scores: one that ended, finished or stopped early."""
        return self.config.is_file() and self.metrics.is_file()

    @property
    def holds_run(self) -> bool:
        """Whether a config or a result line is there as a run writes them: other programs have a config.json too."""
        config, line = _object_of(self.config), _object_of(self.metrics)
        return {"method", "signal", "training"} <= config.keys() or _is_result(line)

    def read_config(self) -> dict[str, Any]:
        """What was fitted, and how."""
        return read_json(self.config)

    def read_metrics(self) -> dict[str, Any]:
        """The run's result line."""
        return read_json(self.metrics)

    def read_history(self) -> list[dict[str, Any]]:
        """The lines of the training so far; a last line that was cut off by a kill is left out."""
        return read_history(self.history)

    def write_config(self, config: Mapping[str, Any]) -> None:
        write_text(self.config, json.dumps(config, indent=2) + "\n")

    def write_metrics(self, line: Mapping[str, Any]) -> None:
        write_text(self.metrics, json.dumps(line, indent=2) + "\n")

    def finished_result(self) -> dict[str, Any] | None:
        """The result line of a run with nothing left to do, or none.

        The checkpoint is removed last: while it is there, a picture or the report may be missing.
        """
        line = self.read_metrics() if self.metrics.exists() else {}
        if not line.get("finished") or not self.model.exists() or self.checkpoint.exists():
            return None
        if not _is_result(line):
            raise UserError(
                f"{self.metrics} is not the result of a run, it is damaged; overwrite the run", arguments=["overwrite"]
            )
        return line

    def contents(self) -> list[str]:
        """The names of the files that are there, without those a kill left half-written."""
        return [file.name for file in self.path.iterdir() if not _is_partial(file.name)] if self.path.exists() else []

    def clear(self, names: Iterable[str] = FILES) -> None:
        """Remove the named files of a run and the half-written ones; any other file in the folder stays."""
        for name in names:
            if (self.path / name).is_file() or (self.path / name).is_symlink():
                (self.path / name).unlink()
        if self.path.is_dir():
            for file in [file for file in self.path.iterdir() if _is_partial(file.name)]:
                file.unlink(missing_ok=True)


def _is_result(line: Mapping[str, Any]) -> bool:
    """Whether a run's line has all that is printed of it."""
    until = line.get("until")
    tables = [line.get(name) for name in ("metrics", "heldout", "estimate")]
    goal = until is None or (isinstance(until, dict) and isinstance(until.get("quality"), int | float))
    return (
        {"method", "signal", "steps", "seconds", "params", "model"} <= line.keys()
        and all(table is None or isinstance(table, dict) for table in tables)
        and goal
        and (until is None or "reached" in until)
    )


def _object_of(path: Path) -> dict[str, Any]:
    """The JSON object of a file; an empty one where the file is missing or damaged."""
    try:
        return read_json(path)
    except UserError:
        return {}


def _is_partial(name: str) -> bool:
    """Whether a file is a temporary neighbour of a run's file, as `files.replacing` writes it."""
    return any(re.fullmatch(rf"\.{re.escape(known)}\.\w{{8}}{Path(known).suffix}", name) for known in FILES)


class History:
    """`history.jsonl`, open for appending; a resumed run drops the lines its checkpoint does not know."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: IO[str] | None = None

    def __enter__(self) -> History:
        return self

    def __exit__(self, *error: object) -> None:
        if self._stream is not None:
            with suppress(OSError):  # every line was flushed when it was added
                self._stream.close()

    def truncate(self, step: int) -> None:
        """Drop the lines after a step."""
        lines = [line for line in read_history(self.path) if line["step"] <= step]
        write_text(self.path, "".join(json.dumps(line) + "\n" for line in lines))

    def append(self, line: Mapping[str, Any]) -> None:
        """Add a line."""
        try:
            if self._stream is None:
                self._stream = self.path.open("a", encoding="utf-8")
            append_json_line(self._stream, line)
        except OSError as error:
            raise UserError(
                f"cannot write {self.path}: {error.strerror or error}; free some space and resume the run"
            ) from error


def read_history(path: Path) -> list[dict[str, Any]]:
    """The lines of a `history.jsonl` up to the first that is damaged; no file has no lines."""
    lines = []
    for line in read_json_lines(path):
        if line is None or not isinstance(line.get("step"), int):
            break
        lines.append(line)
    return lines


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object of a file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {str(path)!r}: {error.strerror or error}; check its permissions") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{str(path)!r} is not UTF-8 text; run the fit again") from error
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise UserError(f"{str(path)!r} is not valid JSON at line {line}; run the fit again") from error
    if not isinstance(value, dict):
        raise UserError(f"{str(path)!r}: expected a JSON object, got {type(value).__name__}; run the fit again")
    return value


def read_json_lines(path: Path) -> list[dict[str, Any] | None]:
    """The objects of a JSON Lines file, line by line; none for a line that holds no object. No file has no lines.

    A process that is killed while it writes leaves half a line: what to do about it is the reader's choice.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"cannot read {str(path)!r}: {error.strerror or error}; check its permissions") from error
    return [_object(line) for line in text.splitlines()]


def read_result_lines(path: Path) -> list[dict[str, Any]]:
    """The result lines of a study's file: whole ones (a machine may stop within one), the last of repeated ones."""
    lines = [line for line in read_json_lines(path) if line is not None and isinstance(line.get("metrics"), dict)]
    return list({line["name"]: line for line in lines if isinstance(line.get("name"), str)}.values())


def append_json_line(stream: IO[str], line: Mapping[str, Any]) -> None:
    """Write an object as one line and hand it to the system at once, so that a kill loses nothing."""
    stream.write(json.dumps(line) + "\n")
    stream.flush()


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
