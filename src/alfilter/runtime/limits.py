"""What this process may use: memory and cores within the limits of the machine, its container and the shell."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from alfilter.errors import UserError

ROOT = Path("/")
_TO_START = 1536 << 20  # bytes of addresses that the libraries map before a command begins its work
_NO_LIMIT = 1 << 60  # above it a control group's number means none


def free_memory(root: Path = ROOT) -> int | None:
    """Bytes of available memory, including caches that the system would give up; None where unknown.

    The least of what the machine has left, what the control groups of this process have, and its own address space.
    root: where the system's files are.
    """
    amounts = [_available(root), *_group_memory(root), _address_space(root)]
    return min((amount for amount in amounts if amount is not None), default=None)


def check_address_space(needed: int = _TO_START) -> None:
    """Refuse a `ulimit -v` below what the libraries map as they load: there they abort the process, or never return."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY and most < needed:
        raise UserError(
            f"expected at least {needed >> 20} MB of addresses to start with, got {most >> 20} MB from 'ulimit -v'; "
            "raise that limit"
        )


def cores(root: Path = ROOT) -> int:
    """How many cores this process may keep busy: those it may run on, and no more than its control groups pay for.

    >>> cores() >= 1
    True
    """
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:
        allowed = os.cpu_count() or 1
    return max(1, min([allowed, *(math.ceil(quota) for quota in _quotas(root))]))


def processor_name(root: Path = ROOT) -> str:
    """What the processor calls itself."""
    with suppress(OSError):
        for line in (root / "proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.lower().startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _available(root: Path) -> int | None:
    try:
        lines = (root / "proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _group_memory(root: Path) -> Iterator[int]:
    """What is left in every control group around this process that limits memory; pages of files can be dropped."""
    for folder in _groups(root, "memory"):
        for limit, used, cached in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            most, now = _number(folder / limit), _number(folder / used)
            if most is not None and now is not None and most < _NO_LIMIT:
                yield max(0, most - now + _entry(folder / "memory.stat", cached))


def _quotas(root: Path) -> Iterator[float]:
    """Cores' worth of time that every control group around this process has."""
    for folder in _groups(root, "cpu"):
        with suppress(OSError, ValueError, ZeroDivisionError):
            quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
            yield int(quota) / int(period)
        quota_us, period_us = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
        if quota_us and period_us and quota_us > 0:
            yield quota_us / period_us


def _groups(root: Path, controller: str) -> list[Path]:
    """The folders of the control groups of this process, its own first, for a controller of either version."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    folders: list[Path] = []
    for line in lines:
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        if number == "0" and not names:
            mount = root / "sys/fs/cgroup"
        elif controller in names.split(","):
            mount = root / "sys/fs/cgroup" / controller
        else:
            continue
        group = mount / path.lstrip("/")
        folders += [group, *(parent for parent in group.parents if parent.is_relative_to(mount))]
    return folders


def _address_space(root: Path) -> int | None:
    """What `ulimit -v` leaves."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int((root / "proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError, ValueError, IndexError):
        return None
    return None if most == resource.RLIM_INFINITY else max(0, most - pages * resource.getpagesize())


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no such file, or the word max
        return None


def _entry(file: Path, name: str) -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in file.read_text(encoding="ascii").splitlines():
            if line.split()[0] == name:
                return int(line.split()[1])
    return 0
