"""Snapshots of a run: the field at a few moments of its training, kept as ordinary model files."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from pathlib import Path

from alfilter.errors import UserError
from alfilter.methods import Field
from alfilter.runs.folder import SNAPSHOTS
from alfilter.training.loop import Progress
from alfilter.training.modelfile import save

MOST = 500  # of one run
_PARTIAL = r"\.\d{1,12}\.safetensors\.\w{8}\.safetensors"  # what a kill leaves of `files.replacing`


def list_snapshots(run: str | Path) -> dict[int, Path]:
    """The snapshots of a run folder, by the step they were taken after, in order."""
    folder = Path(run) / SNAPSHOTS
    if not folder.is_dir():
        return {}
    names = (re.fullmatch(r"(\d{1,12})\.safetensors", file.name) for file in folder.iterdir())
    return {int(name[1]): folder / name[0] for name in sorted((n for n in names if n), key=lambda n: int(n[1]))}


def moment(done: float, count: int) -> int:
    """How many of `count` snapshots are due when a share `done` of the run is over.

    They are taken at the shares (k/(count-1))², k = 0 … count-1: close together at the start, where most of the picture
    takes shape, and the last at the end.

    >>> [moment(done, 5) for done in (0.0, 0.06, 0.0625, 0.25, 0.99, 1.0)]
    [1, 1, 2, 3, 4, 5]
    """
    return 1 + math.floor((count - 1) * math.sqrt(done) + 1e-9)


def check_count(count: int) -> None:
    """Refuse a number of snapshots that is not possible."""
    if count != 0 and not 2 <= count <= MOST:
        raise UserError(
            f"the number of snapshots must be between 2 and {MOST}, got {count}; try 24", arguments=["snapshots"]
        )


class Snapshots:
    """Writes `snapshots/STEP.safetensors` while a run goes, `count` in all; none when `count` is 0.

    What is written depends on the run's position alone: a resumed run drops the snapshots that its checkpoint does not
    know and takes them again, to the same bytes where the length of the run is given in steps.
    """

    def __init__(self, run: Path, field: Field, count: int) -> None:
        check_count(count)
        self.run, self.field, self.count = run, field, count
        self._taken: int | None = None

    def begin(self, step: int) -> None:
        """Drop what lies beyond `step`, where the run starts or continues, and what a kill left half-written; take the
        first at step 0."""
        _remove_files(self.run / SNAPSHOTS, _PARTIAL)
        for taken, file in list_snapshots(self.run).items():
            if taken > step:
                file.unlink()
        if self.count and step == 0:
            self._take(0)
            self._taken = 1

    def look(self, progress: Progress) -> None:
        """Take a snapshot when one is due after this step."""
        if not self.count:
            return
        due = moment(progress.done, self.count)
        if self._taken is None:  # resumed: what was due a step before is there
            earlier = max(0.0, progress.done * (progress.step - 1) / progress.step)
            self._taken = moment(earlier, self.count)
        if due > self._taken:
            self._take(progress.step)
            self._taken = due

    def _take(self, step: int) -> None:
        folder = self.run / SNAPSHOTS
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"cannot make {folder}: {error.strerror or error}; give another folder") from error
        save(self.field, folder / f"{step}.safetensors")


def remove_snapshots(run: Path) -> None:
    """Remove the snapshots of a run and what a kill left half-written, and their folder when nothing else is in it."""
    _remove_files(run / SNAPSHOTS, rf"\d{{1,12}}\.safetensors|{_PARTIAL}")
    with suppress(OSError):
        (run / SNAPSHOTS).rmdir()


def _remove_files(folder: Path, pattern: str) -> None:
    for file in list(folder.iterdir()) if folder.is_dir() else []:
        if re.fullmatch(pattern, file.name):
            file.unlink(missing_ok=True)
