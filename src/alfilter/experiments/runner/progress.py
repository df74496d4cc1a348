"""Progress of a study: one live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from alfilter.experiments.runner.job import Event
from alfilter.experiments.study import Run
from alfilter.runtime.stages import clock_text


class StudyProgress:
    """Follows the events of a study. say: takes plain lines. live: a table of what runs is kept below them."""

    def __init__(self, title: str, runs: Sequence[Run], say: Callable[[str], None], live: bool = False) -> None:
        self.title, self.runs, self.say = title, runs, say
        self.running: dict[int, tuple[str, float]] = {}  # job: its worker, and since when
        self.ended = self.failed = self.repeated = 0
        self.began = time.monotonic()
        self._live: Any = _live(self) if live else None

    def __enter__(self) -> StudyProgress:
        if self._live is not None:
            self._live.start()
            self.say = self._live.console.print
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def note(self, event: Event) -> None:
        """Record an event, and report it if it is worth a line."""
        run = self.runs[event.number]
        self.running.pop(event.number, None)
        if event.kind == "started":
            self.running[event.number] = event.worker, time.monotonic()
        elif event.kind == "lost":
            self.repeated += 1
            self.say(f"worker {event.worker} was lost ({event.reason}); {label(run)} is restarted")
        elif event.kind == "failed":
            self.ended, self.failed = self.ended + 1, self.failed + 1
            self.say(f"{self.ended}/{len(self.runs)}  {label(run)}  failed: {event.reason}")
        elif event.line is not None:
            self.ended += 1
            self.say(f"{self.ended}/{len(self.runs)}  {label(run)}  {scores_in_words(event.line)}")

    def status(self) -> str:
        """One line: how far the study is."""
        parts = [f"{self.title}: {self.ended} of {len(self.runs)} ended"]
        parts += [f"{self.failed} failed"] if self.failed else []
        parts += [f"{self.repeated} restarted"] if self.repeated else []
        if 0 < self.ended < len(self.runs):
            left = (time.monotonic() - self.began) / self.ended * (len(self.runs) - self.ended)
            parts.append(f"{clock_text(left)} left")
        return ", ".join(parts)

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """What is running: worker, setting, signal, seed, for how long."""
        now = time.monotonic()
        busy = [(worker, self.runs[number], now - since) for number, (worker, since) in self.running.items()]
        return [(worker, run.group, run.image, str(run.seed), clock_text(spent)) for worker, run, spent in busy]

    def __rich__(self) -> Any:
        from rich.table import Table

        table = Table("worker", "setting", "signal", "seed", "time", title=self.status(), title_justify="left")
        for row in self.rows():
            table.add_row(*row)
        return table


def _live(progress: StudyProgress) -> Any:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False, markup=False)
    return Live(progress, console=console, refresh_per_second=2, transient=True)


def label(run: Run) -> str:
    """A run in a few words."""
    return f"{run.group}  {run.image}" + (f"  seed {run.seed}" if run.seed else "")


def scores_in_words(line: dict[str, Any]) -> str:
    """The scores of a line in a few words."""
    if line["metrics"].get("psnr") is not None:
        seen, held = line["metrics"]["psnr"], (line["heldout"] or {}).get("psnr")
        return f"{seen:.2f} dB" if held is None else f"{seen:.2f} dB seen, {held:.2f} dB held out"
    scores = {name: value for name, value in line["metrics"].items() if isinstance(value, int | float)}
    return ", ".join(f"{name} {value:.4g}" for name, value in scores.items())
