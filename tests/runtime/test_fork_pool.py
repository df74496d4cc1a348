"""A pool does the same work as one after the other, in processes or in threads, and leaves nobody behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.support.processor import flushes_denormals
from tests.support.waiting import is_alive, wait_for

from alfilter.errors import UserError
from alfilter.runtime.fork_pool import ForkPool, WorkerLost, can_fork, cpu_seconds, shared_copy
from alfilter.runtime.thread_pool import single_threaded_ops

KINDS = [False, True] if can_fork() else [False]
forks = pytest.mark.skipif(not can_fork(), reason="helpers are threads on this machine")


@pytest.mark.parametrize("forked", KINDS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_every_position_in_order(size: int, forked: bool) -> None:
    with ForkPool(lambda position, message: (position, message * position), size, forked=forked) as pool:
        for message in (2, 5):
            assert pool.run(message) == [(position, message * position) for position in range(size)]


@given(
    st.sampled_from([torch.float32, torch.float64, torch.int32, torch.bool]), st.lists(st.integers(0, 4), max_size=3)
)
def test_shared_is_a_copy(dtype: torch.dtype, shape: list[int]) -> None:
    tensor = (torch.rand(shape) * 9).to(dtype)
    copy = shared_copy(tensor)
    assert copy.dtype == dtype
    assert torch.equal(copy, tensor)
    if tensor.numel():
        assert copy.data_ptr() != tensor.data_ptr()


@pytest.mark.parametrize("forked", KINDS)
def test_all_see_shared_memory(forked: bool) -> None:
    place, turn = shared_copy(torch.zeros(3)), shared_copy(torch.zeros(1))

    def work(position: int, _: None) -> float:
        place[position] = 10 + position
        return float(turn)

    with ForkPool(work, 3, forked=forked) as pool:
        turn.fill_(7)  # after the helpers were made
        assert pool.run(None) == [7, 7, 7]
    assert place.tolist() == [10, 11, 12]


@forks
def test_other_memory_is_each_ones_own() -> None:
    mine = [0]

    def work(_: int, message: int) -> int:
        mine[0] += message
        return mine[0]

    with ForkPool(work, 2, forked=True) as pool:
        assert [pool.run(1), pool.run(1)] == [[1, 1], [2, 2]]
    assert mine == [2]


@pytest.mark.parametrize("forked", KINDS)
def test_an_error_of_a_helper_is_raised_here(forked: bool) -> None:
    def work(position: int, _: None) -> None:
        if position == 1:
            raise UserError("not at position 1; go elsewhere")

    with ForkPool(work, 2, forked=forked) as pool, pytest.raises(UserError, match="not at position 1; go elsewhere"):
        pool.run(None)


class Odd(Exception):
    """An error that no pipe takes."""

    def __init__(self) -> None:
        super().__init__("odd")
        self.hook = lambda: None


@forks
def test_an_error_that_cannot_be_sent_is_told() -> None:
    def work(position: int, _: None) -> None:
        if position == 1:
            raise Odd

    with ForkPool(work, 2, forked=True) as pool, pytest.raises(RuntimeError, match="Odd: odd"):
        pool.run(None)


@forks
def test_helpers_are_other_processes_and_go_home() -> None:
    pool = ForkPool(lambda position, message: os.getpid(), 3, forked=True)
    here, *others = pool.run(None)
    assert here == os.getpid()
    assert len({here, *others}) == 3
    assert all(Path(f"/proc/{other}").exists() for other in others)
    pool.close()
    assert not any(Path(f"/proc/{other}").exists() for other in others)
    pool.close()  # twice does no harm


@forks
@pytest.mark.parametrize(("size", "most"), [(5, 2), (3, 3), (2, 8), (4, 1)])
@pytest.mark.parametrize("forked", [True, False])
def test_few_helpers_take_several_positions_each(size: int, most: int, forked: bool) -> None:
    with ForkPool(lambda position, _: (position, os.getpid()), size, forked=forked, most=most) as pool:
        results = pool.run(None)
    assert [position for position, _ in results] == list(range(size))
    assert results[0][1] == os.getpid()
    assert len({pid for _, pid in results}) == (min(size, most) if forked else 1)


def test_helpers_hold_no_file_of_the_one_who_asks() -> None:
    """A pipe of somebody else ends when its writer closes it, although helpers were made while it was open."""
    pipe, there = os.pipe()
    with ForkPool(lambda position, message: sorted(map(str, Path("/proc/self/fd").iterdir())), 3, forked=True) as pool:
        os.close(there)
        assert os.read(pipe, 1) == b""
        _, *others = pool.run(None)
        assert [len(files) for files in others] == [5, 5]  # three standard ones, the pipe, the listing itself
    os.close(pipe)


@forks
def test_a_helper_that_is_gone_is_said() -> None:
    with ForkPool(lambda position, message: os.getpid(), 2, forked=True) as pool:
        _, other = pool.run(None)
        os.kill(other, signal.SIGKILL)
        with pytest.raises(UserError, match=r"a worker process of this fit ended unexpectedly .* resume the run"):
            pool.run(None)


@forks
def test_threads_where_no_more_processes_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    real, children = os.fork, []

    def scarce() -> int:
        if children:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        children.append(real())
        return children[0]

    monkeypatch.setattr(os, "fork", scarce)
    with ForkPool(lambda position, message: (os.getpid(), position), 3, forked=True) as pool:
        assert pool.run(None) == [(os.getpid(), 0), (os.getpid(), 1), (os.getpid(), 2)]
    assert not Path(f"/proc/{children[0]}").exists()


@forks
def test_control_c_is_not_for_helpers() -> None:
    with ForkPool(lambda position, message: os.getpid(), 2, forked=True) as pool:
        _, other = pool.run(None)
        os.kill(other, signal.SIGINT)
        assert pool.run(None)[1] == other


@forks
def test_an_interrupted_run_leaves_no_answer_for_the_next() -> None:
    def work(position: int, message: int) -> int:
        if position == 0 and message == 1:
            raise KeyboardInterrupt
        return message

    pool = ForkPool(work, 2, forked=True)
    with pytest.raises(KeyboardInterrupt):
        pool.run(1)
    with pytest.raises(WorkerLost):
        pool.run(2)


@forks
def test_an_idle_worker_that_was_killed_is_missed_at_the_next_message() -> None:
    with ForkPool(lambda position, message: os.getpid(), 2, forked=True) as pool:
        other = pool.run(None)[1]
        os.kill(other, signal.SIGTERM)  # ignored: it is for the parent to end its workers
        assert pool.run(None)[1] == other
        os.kill(other, signal.SIGKILL)
        os.waitid(os.P_PID, other, os.WEXITED | os.WNOWAIT)
        with pytest.raises(WorkerLost, match="a worker process of this fit ended unexpectedly"):
            pool.run(None)


@forks
def test_helpers_time_on_the_cores_counts() -> None:
    def work(position: int, _: None) -> None:
        began = time.process_time()
        while position == 1 and time.process_time() - began < 0.2:
            pass

    with ForkPool(work, 2, forked=True) as pool:
        began, own = cpu_seconds(), time.process_time()
        pool.run(None)
        assert cpu_seconds() - began >= 0.2
        assert time.process_time() - own < 0.15


@forks
def test_one_who_asks_no_more_takes_helpers_along() -> None:
    """A process that is killed leaves no helper: its end of the pipe is gone with it."""
    pipe, there = os.pipe()
    middle = os.fork()
    if middle == 0:
        try:
            pool = ForkPool(lambda position, message: os.getpid(), 3, forked=True)
            os.write(there, ",".join(map(str, pool.run(None)[1:])).encode())
            time.sleep(60)
        finally:
            os._exit(0)
    others = [int(word) for word in os.read(pipe, 100).split(b",")]
    os.kill(middle, signal.SIGKILL)
    os.waitpid(middle, 0)
    wait_for(lambda: not any(is_alive(other) for other in others))


@flushes_denormals
def test_workers_flush_denormals_to_zero() -> None:
    def shrink(position: int, factor: float) -> float:
        return float((torch.full((64,), 2e-38) * factor).sum())

    with single_threaded_ops(), ForkPool(shrink, 2) as pool:
        assert pool.run(1e-3) == [0, 0]
