"""Progress of a run on stderr, and the signals that stop it."""

from __future__ import annotations

import logging
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from alfilter.runtime.fork_pool import STOP_SIGNALS
from alfilter.runtime.stages import Stage, Stopped, clock_text
from alfilter.training import Progress

_EVERY = 5.0  # seconds between two lines where there is no terminal


class StopSignals:
    """Ctrl-C, SIGTERM and a closed terminal end a run cleanly; a second one ends it at once.

    While the field is trained the first one is noted, and the training ends after the step. Inside `at_once` it raises
    `Stopped`: there is nothing to bring to an end.

    patient: further ones are ignored. torchrun forwards signals that the terminal has already sent, and itself kills
    what does not end.
    """

    def __init__(self, patient: bool = False) -> None:
        self.patient = patient
        self._received: int | None = None
        self._raises = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        for number in STOP_SIGNALS:
            if number not in (signal.SIGINT, signal.SIGTERM) and signal.getsignal(number) is signal.SIG_IGN:
                continue  # nohup: a closed terminal means nothing
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def asked(self) -> bool:
        """Whether the run should end now."""
        return self._received is not None

    @property
    def exit_code(self) -> int:
        """What the shell expects of a program ended by that signal."""
        return 128 + (self._received or signal.SIGINT)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Inside, every signal ends the work immediately, the first one as well."""
        self._raises = True
        for number in self._before:
            signal.signal(number, self._note)
        try:
            yield
        finally:
            self._raises = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        first, self._received = self._received is None, number
        if self._raises and (first or not self.patient):
            self._raises = False  # once: the way out is not to be interrupted
            raise Stopped(number)
        if self.patient:
            return
        for each, handler in self._before.items():  # the next one acts as it would without us
            signal.signal(each, handler)


class Display(logging.Handler):
    """A live line on a terminal, a line every few seconds elsewhere, nothing when quiet.

    Inside `with`, what the library logs is shown between these lines.
    """

    def __init__(self, quiet: bool = False) -> None:
        super().__init__()
        self.quiet = quiet
        self.live = sys.stderr.isatty() and not quiet
        self._shown = time.monotonic()
        self._width = 0
        self._stage = ""

    def __enter__(self) -> Display:
        logging.getLogger("alfilter").addHandler(self)
        return self

    def __exit__(self, *error: object) -> None:
        logging.getLogger("alfilter").removeHandler(self)
        self._end_line()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() != self._stage:  # which is on the screen already
            self.say(record.getMessage())

    def say(self, line: str) -> None:
        if not self.quiet:
            self._end_line()
            print(f"alfilter: {line}", file=sys.stderr)

    def update(self, progress: Progress) -> None:
        """Show how the training goes."""
        if self._is_due(progress.done):
            self._show(progress.done, describe(progress))

    def update_stage(self, stage: Stage) -> None:
        """Show how reading, scoring or drawing goes."""
        if stage.name != self._stage:
            self._stage = stage.name
            self._end_line()
            self._shown = 0.0 if self.live or stage.done is None else time.monotonic()
        if self._is_due(stage.done if stage.seconds > 1 else None):
            self._show(stage.done, describe_stage(stage))

    def _is_due(self, done: float | None) -> bool:
        pause = 0.1 if self.live else _EVERY
        if self.quiet or (time.monotonic() - self._shown < pause and done != 1):
            return False
        self._shown = time.monotonic()
        return True

    def _show(self, done: float | None, text: str) -> None:
        if not self.live:
            print(text, file=sys.stderr)
            return
        print(f"\r{bar(done or 0.0)} {text}".ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text) + 24

    def _end_line(self) -> None:
        if self._width:
            print(file=sys.stderr)
            self._width = 0


def describe(progress: Progress) -> str:
    """One line: progress, speed, time left, quality.

    >>> describe(Progress(step=20, done=0.5, loss=0.001, quality=30.0, rate=10.0, left=75.0, seconds=2.0))
    ' 50%  step 20  10.0 steps/s  1:15 left  30.00 dB'
    """
    rate = f"{progress.rate:.1f} steps/s" if progress.rate >= 1 else f"{1 / max(progress.rate, 1e-9):.1f} s/step"
    left, quality = f"{clock_text(progress.left)} left", f"{progress.quality:.2f} {progress.unit}"
    return f"{progress.done:4.0%}  step {progress.step}  {rate}  {left}  {quality}"


def describe_stage(stage: Stage) -> str:
    """One line: the stage, its progress and the time left.

    >>> describe_stage(Stage("scoring", 0.25, 75.0, 25.0))
    ' 25%  scoring  1:15 left'
    >>> describe_stage(Stage("scoring", None, None, 3.0)), describe_stage(Stage("scoring", None, None, 0.0))
    ('scoring  0:03', 'scoring')
    """
    if stage.done is None:
        return f"{stage.name}  {clock_text(stage.seconds)}" if stage.seconds >= 0.5 else stage.name
    left = "" if stage.left is None else f"  {clock_text(stage.left)} left"
    return f"{stage.done:4.0%}  {stage.name}{left}"


def bar(done: float, width: int = 20) -> str:
    """A bar of `width` characters.

    >>> bar(0.5, 4)
    '━━──'
    """
    full = round(done * width)
    return "━" * full + "─" * (width - full)
