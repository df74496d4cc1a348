"""What a person sees while a run goes, and the two signals that end it."""

from __future__ import annotations

import io
import logging
import os
import re
import signal
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.commands.progress import Display, StopSignals, bar, describe
from alfilter.runtime.stages import Stage, Stopped
from alfilter.training import Progress


def at(step: int, done: float, **more: float) -> Progress:
    return Progress(step, done, **{"loss": 0.01, "quality": 20.0, "rate": 4.0, "left": 3.0, "seconds": 1.0, **more})


@given(st.floats(0, 1), st.floats(1e-9, 1e6), st.floats(0, 1e7), st.floats(-50, 200))
def test_a_line_has_rate_time_and_quality(done: float, rate: float, left: float, quality: float) -> None:
    line = describe(at(7, done, rate=rate, left=left, quality=quality))
    assert re.fullmatch(r" *\d+%  step 7  [\d.]+ (steps/s|s/step)  (\d+:)?\d?\d:\d\d left  -?[\d.]+ dB", line)


def test_slow_runs_say_seconds_per_step() -> None:
    assert describe(at(3, 0.25, rate=0.5, left=61)) == " 25%  step 3  2.0 s/step  1:01 left  20.00 dB"


@given(st.floats(0, 1), st.integers(1, 60))
def test_bar(done: float, width: int) -> None:
    assert len(bar(done, width)) == width
    assert bar(done, width) == bar(done, width).replace("─━", "")


def test_without_a_terminal_lines_are_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(float(n) for n in range(1000))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Display() as display:
        for step in range(1, 21):
            display.update(at(step, step / 20))
    lines = sys.stderr.getvalue().splitlines()  # type: ignore[union-attr]
    assert 2 <= len(lines) <= 5
    assert lines[-1].startswith("100%")


def test_a_terminal_gets_one_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    clock = iter(float(n) for n in range(1000))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Display() as display:
        display.update(at(1, 0.5))
        display.update(at(2, 1.0))
    shown = sys.stderr.getvalue()  # type: ignore[union-attr]
    assert shown.count("\n") == 1
    assert shown.count("\r") == 2
    assert "━" * 20 in shown


def test_what_the_library_logs_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    log = logging.getLogger("alfilter")
    with Display() as display:
        display.update_stage(Stage("compiling kernels", None, None, 0.0))
        log.warning("compiling kernels")
        log.warning("the disk is full")
    assert capsys.readouterr().err.splitlines() == ["compiling kernels", "alfilter: the disk is full"]
    assert display not in log.handlers


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Display(quiet=True) as display:
        display.say("hello")
        display.update(at(1, 1.0))
        logging.getLogger("alfilter").warning("hello")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_first_signal_asks_and_the_handlers_come_back(number: signal.Signals, code: int) -> None:
    before = signal.getsignal(number)
    received: list[int] = []
    signal.signal(number, lambda n, frame: received.append(n))
    try:
        with StopSignals() as stop:
            assert not stop.asked()
            os.kill(os.getpid(), number)
            assert stop.asked()
            assert (stop.exit_code, received) == (code, [])
            os.kill(os.getpid(), number)  # the second acts as it would without us
            assert received == [number]
    finally:
        signal.signal(number, before)


def test_a_closed_terminal_means_nothing_under_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopSignals() as stop:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not stop.asked()
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_at_once_the_first_signal_ends_what_goes_on(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with StopSignals() as stop:
        with pytest.raises(Stopped) as stopped, stop.at_once():
            os.kill(os.getpid(), number)
        assert (stopped.value.number, stop.asked(), stop.exit_code) == (number, True, 128 + number)
    assert signal.getsignal(number) is before


def test_a_signal_noted_before_does_not_keep_the_next_from_acting() -> None:
    """The training was ended by the first one; the second ends the scoring."""
    with StopSignals() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Stopped), stop.at_once():
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_patient_run_finishes_its_scores_after_a_repeated_signal() -> None:
    with StopSignals(patient=True) as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        with stop.at_once():
            os.kill(os.getpid(), signal.SIGTERM)
        assert stop.asked()


def test_stages_are_shown_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(float(n) for n in range(0, 1000, 3))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with Display() as display:
        for done in (0.0, 0.25, 0.5, 1.0):
            display.update_stage(Stage("scoring", done, 8 * (1 - done), 8 * done))
    lines = sys.stderr.getvalue().splitlines()  # type: ignore[union-attr]
    assert " 25%  scoring  0:06 left" in lines
    assert lines[-1] == "100%  scoring  0:00 left"
