"""Pieces side by side give what one after the other gives, and leave torch's threads as they were."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from tests.support.processor import flushes_denormals, shrink

from alfilter.runtime.thread_pool import (
    HelperThread,
    _pool,
    flushed_denormals,
    for_slices,
    parallel_map,
    run_beside,
    single_threaded_ops,
    use_one_thread,
    workers,
)


@pytest.mark.parametrize("count", [1, 2])
def test_the_order_is_kept_and_every_piece_has_one_thread(count: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        assert parallel_map(lambda n: n * n, range(7)) == [0, 1, 4, 9, 16, 25, 36]
        assert parallel_map(lambda n: torch.get_num_threads(), range(4)) == [1] * 4
        with single_threaded_ops():
            assert workers() == count
            assert torch.get_num_threads() == 1
            with single_threaded_ops():
                assert workers() == count
        assert torch.get_num_threads() == workers() == count
    finally:
        torch.set_num_threads(before)


def test_a_thread_keeps_its_one_core_whatever_others_set_before_it_first_asks() -> None:
    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(1, initializer=use_one_thread) as pool:
            pool.submit(int).result()
            torch.set_num_threads(2)
            assert pool.submit(torch.get_num_threads).result() == 1
    finally:
        torch.set_num_threads(before)


def test_the_first_error_is_raised_and_the_threads_come_back() -> None:
    def fail(n: int) -> int:
        raise ValueError(f"piece {n}")

    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="piece 0"), single_threaded_ops():
        parallel_map(fail, range(3))
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("count", "length", "slices"), [(1, 1 << 21, 1), (3, (1 << 21) + 1, 3), (3, 1 << 20, 1), (3, 5, 1), (3, 0, 1)]
)
def test_slices_make_up_the_whole(count: int, length: int, slices: int) -> None:
    seen, parts = torch.zeros(length), []
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        for_slices(lambda part: (seen[part].add_(1), parts.append(part)), length)
    finally:
        torch.set_num_threads(before)
    assert bool((seen == 1).all())
    assert len(parts) == slices, "threads are woken where there is work for them, and only there"


def test_helpers_give_results_in_order_and_are_ready_again_after_an_error() -> None:
    helpers = [HelperThread() for _ in range(2)]

    def fail() -> int:
        raise ValueError("a helper's own")

    try:
        assert run_beside(helpers, [lambda n=n: n * n for n in range(3)]) == [0, 1, 4]
        with pytest.raises(ValueError, match="a helper's own"):
            run_beside(helpers, [lambda: 0, lambda: 1, fail])
        assert run_beside(helpers, [torch.get_num_threads] * 3)[1:] == [1, 1]
    finally:
        for helper in helpers:
            helper.close()


INTERRUPTED = """
import random, signal, time
from alfilter.runtime.thread_pool import HelperThread, run_beside

class Stop(KeyboardInterrupt):
    pass

def interrupt(*_):
    if armed:
        raise Stop

def job(number):
    time.sleep(2e-4)
    return number

armed, stopped, helpers = False, 0, [HelperThread(), HelperThread()]
signal.signal(signal.SIGALRM, interrupt)
for number in range(1500):
    try:
        armed = True
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 8e-4))
        values = run_beside(helpers, [lambda: job(number)] * 3)
        armed = False
        assert values == [number] * 3
    except Stop:
        stopped += 1
    armed = False
    signal.setitimer(signal.ITIMER_REAL, 0)
assert stopped > 100
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a system with timers that interrupt")
def test_an_interrupt_at_any_moment_neither_hangs_nor_leaves_an_old_result() -> None:
    subprocess.run([sys.executable, "-c", INTERRUPTED], timeout=120, check=True)


@pytest.mark.parametrize("taken", [True, False])
def test_an_interrupt_while_waiting_is_raised_once_it_is_over(taken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python runs a signal's handler before a lock is taken, or right after it was."""

    class Interrupted:
        def __init__(self) -> None:
            self.lock, self.release, self.left = lock(), lambda: self.lock.release(), 2

        def acquire(self) -> None:
            self.left -= 1
            if self.left == 0:
                if taken:
                    self.lock.acquire()
                raise KeyboardInterrupt
            self.lock.acquire()

    lock, helper, over, gate = threading.Lock, HelperThread(), [], threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr(threading, "Lock", Interrupted)
        helper.start(lambda: (gate.wait(), over.append(1)))
    threading.Timer(0.05, gate.set).start()
    with pytest.raises(KeyboardInterrupt):
        helper.result()
    assert over == [1]
    helper.start(lambda: 5)
    assert helper.result() == 5
    helper.close()


def test_a_helper_that_was_started_is_waited_for_when_the_next_is_not() -> None:
    helpers, over = [HelperThread() for _ in range(2)], []

    def refuse(job: object) -> None:
        raise KeyboardInterrupt

    helpers[1].start = refuse  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        run_beside(helpers, [int, lambda: (time.sleep(0.05), over.append(1)), int])
    assert over == [1]
    assert run_beside(helpers[:1], [lambda: 1, lambda: 2]) == [1, 2]
    for helper in helpers:
        helper.close()


def test_pieces_inside_pieces_do_not_wait_for_each_other() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with single_threaded_ops():
            sums = parallel_map(lambda n: sum(parallel_map(lambda m: m, range(n))), range(6))
    finally:
        torch.set_num_threads(before)
    assert sums == [0, 0, 1, 3, 6, 10]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system with forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # later versions of Python warn of forks beside threads
def test_a_fork_has_threads_of_its_own() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        parallel_map(abs, [1, 2])
        child = os.fork()
        if child == 0:
            os._exit(sum(parallel_map(abs, [1, 2])))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    finally:
        torch.set_num_threads(before)


def test_slices_inside_slices_do_not_wait_for_each_other() -> None:
    before, seen = torch.get_num_threads(), torch.zeros(8)
    torch.set_num_threads(2)
    try:
        for_slices(lambda part: for_slices(lambda inner: seen[part][inner].add_(1), 4, worth_sharing=1), 8, 1)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(seen, torch.ones(8))


@flushes_denormals
def test_flushing_comes_back_as_it_was() -> None:
    assert shrink() > 0
    with flushed_denormals():
        with flushed_denormals(False):
            assert shrink() > 0
        assert shrink() == 0
    assert shrink() > 0


@flushes_denormals
@pytest.mark.parametrize("count", [1, 2])
def test_denormals_are_numbers_in_what_is_mapped_wherever_it_is(count: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    _pool.cache_clear()  # threads made from here on
    try:
        with flushed_denormals():
            assert all(value > 0 for value in parallel_map(lambda _: shrink(), [0, 1, 2]))
            assert shrink() == 0
        assert shrink() > 0
    finally:
        torch.set_num_threads(before)


@flushes_denormals
def test_helpers_flush_denormals_and_other_threads_do_not() -> None:
    with flushed_denormals(), ThreadPoolExecutor(1, initializer=use_one_thread) as pool:
        assert pool.submit(shrink).result() > 0
    helper = HelperThread()
    helper.start(shrink)
    assert helper.result() == 0
    helper.close()
