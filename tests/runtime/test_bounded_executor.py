"""Queued work: bounded, and removed when nobody waits for it."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from threading import Event

import pytest

from alfilter.runtime.bounded_executor import BoundedExecutor, Cancelled, QueueFull


def always() -> bool:
    return True


def test_results_and_errors_come_back() -> None:
    executor = BoundedExecutor(1, 2)
    assert executor.run(lambda: 7, always) == 7
    with pytest.raises(ZeroDivisionError):
        executor.run(lambda: 1 // 0, always)
    assert (executor.completed, executor.cancelled) == (1, 0)
    executor.close()


def test_work_that_ends_just_after_a_poll_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """It finishes between the timeout of a poll and the look at whether it is done."""

    class JustDone(Future[int]):
        def result(self, timeout: float | None = None) -> int:
            if not self.done():
                self.set_result(7)
                raise NotYet
            return super().result(timeout)

    executor = BoundedExecutor(1, 2)
    monkeypatch.setattr(executor._pool, "submit", lambda *work: JustDone())
    assert executor.run(lambda: 7, always) == 7
    executor.close()


def test_the_works_own_timeout_comes_back() -> None:
    def late() -> int:
        raise TimeoutError("of its own")

    executor = BoundedExecutor(1, 2)
    with pytest.raises(TimeoutError, match="of its own"):
        executor.run(late, always)
    executor.close()


def test_what_nobody_waits_for_is_not_done() -> None:
    executor, hold, ran = BoundedExecutor(1, 8), Event(), []
    with ThreadPoolExecutor(4) as clients:
        first = clients.submit(executor.run, lambda: hold.wait(20), always)
        gone = [clients.submit(executor.run, lambda: ran.append(1), lambda: False, 0.005) for _ in range(3)]
        for future in gone:
            with pytest.raises(Cancelled):
                future.result(timeout=20)
        hold.set()
        assert first.result(timeout=20)
    assert ran == []
    assert executor.cancelled == 3
    executor.close()


def test_the_queue_is_bounded() -> None:
    executor, hold = BoundedExecutor(1, 2), Event()
    accepted = [Event() for _ in range(3)]

    def tell(event: Event) -> bool:  # asked of accepted work only
        event.set()
        return True

    with ThreadPoolExecutor(3) as clients:
        results = [
            clients.submit(executor.run, lambda: hold.wait(20), lambda event=event: tell(event), 0.005)
            for event in accepted
        ]
        assert all(event.wait(20) for event in accepted)
        with pytest.raises(QueueFull):
            executor.run(lambda: None, always)
        hold.set()
        assert all(future.result(timeout=20) for future in results)
    executor.run(lambda: None, always)
    executor.close()
