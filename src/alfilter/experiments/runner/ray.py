"""Runs on a Ray cluster: every machine that has joined takes some."""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from alfilter.errors import UserError
from alfilter.experiments.runner.job import Event, Job, Outcome, after_loss, pickle_job, run_pickled_job
from alfilter.experiments.study import Source
from alfilter.experiments.study_file import load

_WAIT = 1.0  # seconds after which the size of the cluster is looked at again
_QUEUED = 2  # jobs beyond what the cluster can take at once: they show an autoscaler that there is more to do
_STORE = 128 << 20  # bytes a local cluster keeps for results, which are small


def run_on_ray(jobs: Sequence[Job], address: str, workers: int, source: Source | None = None) -> Iterator[Event]:
    """Jobs as Ray tasks; one whose worker or machine is lost is restarted.

    address: of a running cluster (`auto`, `host:6379`, `ray://host:10001`), or `local` for one of `workers` workers on
    this machine that ends with the study. Ray must not retry anything itself: a job is in flight once, so
    every job ends once.
    """
    ray = _import_ray()
    threads = max((job.threads for job in jobs), default=1)
    connected = _connect(ray, address, workers * threads)
    try:
        task = ray.remote(_run_on_worker).options(num_cpus=threads, max_retries=0)
        waiting, attempts = deque(range(len(jobs))), [0] * len(jobs)
        in_flight: dict[Any, int] = {}
        while waiting or in_flight:
            room = int(ray.cluster_resources().get("CPU", 0) // threads) + _QUEUED - len(in_flight)
            for _ in range(min(room, len(waiting))):
                number = waiting.popleft()
                attempts[number] += 1
                in_flight[task.remote(pickle_job(jobs[number]), source)] = number
                yield Event("started", number, "ray")
            ready, _ = ray.wait(list(in_flight), timeout=_WAIT)
            for ref in ready:
                number = in_flight.pop(ref)
                event = _event(ray, ref, number, attempts[number])
                if event.kind == "lost":
                    waiting.appendleft(number)
                yield event
    finally:
        if connected:
            ray.shutdown()


def _event(ray: Any, ref: Any, number: int, attempts: int) -> Event:
    """What became of a task that is over."""
    try:
        outcome: Outcome = ray.get(ref)
    except ray.exceptions.RayTaskError as error:  # the job could not even begin there
        return Event("failed", number, "ray", reason=_last_line(error))
    except ray.exceptions.RayError as error:  # a worker or a machine is gone
        return after_loss(number, attempts, "ray", type(error).__name__)
    if outcome.line is None:
        return Event("failed", number, "ray", reason=outcome.reason)
    return Event("finished", number, "ray", outcome.line)


def _run_on_worker(data: bytes, source: Source | None) -> Outcome:
    """A job on a worker: the study's file first, then the job, which names its functions."""
    if source is not None:
        load(source)
    return run_pickled_job(data)


def _connect(ray: Any, address: str, cpus: int) -> bool:
    """Join the cluster; whether this call did (a caller's own connection is left alone)."""
    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere
        os.environ.setdefault("RAY_raylet_start_wait_time_s", "180")  # a busy machine is not a failure
        ray.init(num_cpus=cpus, num_gpus=0, include_dashboard=False, object_store_memory=_STORE, **quiet)
        return True
    try:
        _check_port(address)
        ray.init(address=address, **quiet)
    except Exception as error:  # every kind of wrong address ends in a kind of its own
        reason = " ".join(str(error).split())[:160]
        raise UserError(
            f"no Ray cluster answers at {address} ({reason}); start one with 'ray start --head', or give local"
        ) from error
    return True


def _check_port(address: str) -> None:
    """Fail at once where nothing listens: Ray itself would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise UserError("a Ray cluster needs the package ray; install it with: pip install 'alfilter[ray]'") from error
    return ray


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
