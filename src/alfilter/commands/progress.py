"""What a person sees while a run goes, on stderr, and how they stop it."""

from __future__ import annotations

import signal
import sys
import time
from types import FrameType
from typing import Any

from alfilter.runtime.fork_pool import STOP_SIGNALS
from alfilter.training import Progress

_EVERY = 5.0  # seconds between two lines where there is no terminal


class StopSignals:
    """Ctrl-C, SIGTERM and a closed terminal end a run in good order; a second one ends it at once.

    patient: further ones are ignored. torchrun passes on what the terminal has sent already, and kills by itself what
    does not end.
    """

    def __init__(self, patient: bool = False) -> None:
        self.patient = patient
        self._received: int | None = None
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

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._received = number
        if self.patient:
            return
        for each, handler in self._before.items():  # the next one acts as it would without us
            signal.signal(each, handler)


class Display:
    """A live line on a terminal, a line every few seconds elsewhere, nothing when quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.live = sys.stderr.isatty() and not quiet
        self._shown = time.monotonic()
        self._width = 0

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *error: object) -> None:
        if self._width:
            print(file=sys.stderr)

    def say(self, line: str) -> None:
        if not self.quiet:
            print(f"alfilter: {line}", file=sys.stderr)

    def update(self, progress: Progress) -> None:
        pause = 0.1 if self.live else _EVERY
        if self.quiet or (time.monotonic() - self._shown < pause and progress.done < 1):
            return
        self._shown = time.monotonic()
        text = describe(progress)
        if not self.live:
            print(text, file=sys.stderr)
            return
        print(f"\r{bar(progress.done)} {text}".ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(text) + 24


def describe(progress: Progress) -> str:
    """One line: how far, how fast, how long still, how good.

    >>> describe(Progress(step=20, done=0.5, loss=0.001, quality=30.0, rate=10.0, left=75.0, seconds=2.0))
    ' 50%  step 20  10.0 steps/s  1:15 left  30.00 dB'
    """
    left = round(progress.left)
    rate = f"{progress.rate:.1f} steps/s" if progress.rate >= 1 else f"{1 / max(progress.rate, 1e-9):.1f} s/step"
    clock = f"{left // 60}:{left % 60:02d} left"
    return f"{progress.done:4.0%}  step {progress.step}  {rate}  {clock}  {progress.quality:.2f} {progress.unit}"


def bar(done: float, width: int = 20) -> str:
    """A bar of `width` characters.

    >>> bar(0.5, 4)
    '━━──'
    """
    full = round(done * width)
    return "━" * full + "─" * (width - full)
