"""Work in line: bounded, and taken out when nobody waits for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from alfilter.runtime.bounded_executor import Busy, Dropped, Lanes


def always() -> bool:
    return True


def test_results_and_errors_come_back() -> None:
    lanes = Lanes(1, 2)
    assert lanes.run(lambda: 7, always) == 7
    with pytest.raises(ZeroDivisionError):
        lanes.run(lambda: 1 // 0, always)
    assert (lanes.done, lanes.dropped) == (1, 0)
    lanes.close()


def test_what_nobody_waits_for_is_not_done() -> None:
    lanes, hold, ran = Lanes(1, 8), Event(), []
    with ThreadPoolExecutor(4) as people:
        first = people.submit(lanes.run, lambda: hold.wait(20), always)
        gone = [people.submit(lanes.run, lambda: ran.append(1), lambda: False, 0.005) for _ in range(3)]
        for future in gone:
            with pytest.raises(Dropped):
                future.result(timeout=20)
        hold.set()
        assert first.result(timeout=20)
    assert ran == []
    assert lanes.dropped == 3
    lanes.close()


def test_the_line_is_short() -> None:
    lanes, hold = Lanes(1, 2), Event()
    with ThreadPoolExecutor(3) as people:
        inside = [people.submit(lanes.run, lambda: hold.wait(20), always) for _ in range(3)]
        while lanes._inside < 3:
            pass
        with pytest.raises(Busy):
            lanes.run(lambda: None, always)
        hold.set()
        assert all(future.result(timeout=20) for future in inside)
    lanes.run(lambda: None, always)
    lanes.close()
