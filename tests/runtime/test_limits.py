"""Memory and cores as control groups of both versions leave them, in a system made of files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from alfilter.runtime.limits import check_address_space, cores, free_memory, processor_name


def system(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:   8388608 kB\n", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


GIGABYTE = 1 << 30


def test_without_groups_the_machine_decides(tmp_path: Path) -> None:
    assert free_memory(system(tmp_path, {})) == 8 * GIGABYTE


def test_the_second_version_with_a_limit_further_up(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/slice/job\n",
        "sys/fs/cgroup/slice/job/memory.max": "max\n",
        "sys/fs/cgroup/slice/job/memory.current": "5\n",
        "sys/fs/cgroup/slice/job/cpu.max": "max 100000\n",
        "sys/fs/cgroup/slice/memory.max": f"{3 * GIGABYTE}\n",
        "sys/fs/cgroup/slice/memory.current": f"{2 * GIGABYTE}\n",
        "sys/fs/cgroup/slice/memory.stat": f"anon 1\ninactive_file {GIGABYTE // 2}\n",
        "sys/fs/cgroup/slice/cpu.max": "50000 100000\n",
    }
    root = system(tmp_path, files)
    assert free_memory(root) == GIGABYTE + GIGABYTE // 2
    assert cores(root) == 1


def test_the_first_version(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "4:memory:/job\n2:cpu,cpuacct:/\n0::/\n",
        "sys/fs/cgroup/memory/job/memory.limit_in_bytes": f"{GIGABYTE}\n",
        "sys/fs/cgroup/memory/job/memory.usage_in_bytes": f"{2 * GIGABYTE}\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }
    root = system(tmp_path, files)
    assert free_memory(root) == 0
    assert cores(root) == 1


@pytest.mark.parametrize("text", ["", "nonsense", "0::/../../x\n", "1:memory\n", "0::/\n"])
def test_odd_tables_of_groups_limit_nothing(text: str, tmp_path: Path) -> None:
    root = system(tmp_path, {"proc/self/cgroup": text, "sys/fs/cgroup/memory.max": "9223372036854771712"})
    assert free_memory(root) == 8 * GIGABYTE
    assert cores(root) == len(os.sched_getaffinity(0))


def test_the_shells_limit_counts() -> None:
    limit = "import resource as r; r.setrlimit(r.RLIMIT_AS, (1 << 30, -1))"
    code = f"{limit}; from alfilter.runtime.limits import free_memory; print(free_memory())"
    words = [sys.executable, "-c", code]
    assert 0 < int(subprocess.run(words, capture_output=True, check=True).stdout) < 1 << 30


def test_too_few_addresses_are_refused_before_a_library_loads() -> None:
    """Below, OpenBLAS ends the process with 1, torch aborts it, or a library tries for ever to get memory."""
    code = "import resource as r, sys; r.setrlimit(r.RLIMIT_AS, (1 << 30, -1)); from alfilter.cli import main; "
    code += "code = main(['info', 'm']); assert 'numpy' not in sys.modules; sys.exit(code)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "alfilter: expected at least 1536 MB of addresses to start with, got 1024 MB from 'ulimit -v'; "
        "raise that limit\n"
    )
    check_address_space()  # this process has no limit, or a larger one


def test_the_processor_has_a_name(tmp_path: Path) -> None:
    root = system(tmp_path, {"proc/cpuinfo": "processor : 0\nmodel name\t: Swift 9\n"})
    assert processor_name(root) == "Swift 9"
    assert processor_name(tmp_path / "nowhere")
