"""`alfilter fit` with more workers than cores, few processes allowed, few addresses, few open files.

Every trial must end with exit code 0, or with 2 and one line on stderr. Root is exempt from `ulimit -u`: started by
root, the trials of processes run as a user of their own who may read everything, by `setpriv` of util-linux.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

USER = 54321  # nobody's
FIT = ("--method", "siren", "--set", "width=8", "--set", "depth=1", "--steps", "5", "--quiet", "--train", "micro=16")


class Trial(NamedTuple):
    """A name, the threads asked for, and the limit: none, or its kind and how much is allowed."""

    name: str
    threads: int
    kind: int | None = None
    most: int = 0


TRIALS = (
    Trial("64 workers", 64),
    *(Trial(f"{count} processes", 2, resource.RLIMIT_NPROC, count) for count in (1, 2, 3, 5)),
    *(Trial(f"{size} MB of addresses", 1, resource.RLIMIT_AS, size << 20) for size in (200, 1024, 1536, 2048, 4096)),
    Trial("64 open files", 2, resource.RLIMIT_NOFILE, 64),
)


def under_limits(trials: tuple[Trial, ...] = TRIALS) -> int:
    """Run every trial and print how it ended; the number of failures."""
    from benchmarks.campaigns.originals import make_pictures

    failures = 0
    with tempfile.TemporaryDirectory() as text:
        home = Path(text)
        make_pictures(home)
        if any(trial.kind == resource.RLIMIT_NPROC for trial in trials) and _as_another() is not None:
            _fit(Trial("compiles the kernels", 1), home, another=True)
        for trial in trials:
            failures += not _report(trial, home)
    return failures


def _report(trial: Trial, home: Path) -> bool:
    another = trial.kind == resource.RLIMIT_NPROC and os.geteuid() == 0
    if another and _as_another() is None:
        print(f"{trial.name:<24}not tried: root is exempt, and there is no setpriv")
        return True
    done = _fit(trial, home, another)
    lines = done.stderr.splitlines()
    good = done.returncode == 0 or (done.returncode == 2 and len(lines) == 1)
    message = lines[-1][:120] if lines else ""
    print(f"{trial.name:<24}{trial.threads:>3} threads: exit code {done.returncode:>3}  {message}", flush=True)
    return good


def _fit(trial: Trial, home: Path, another: bool) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, under the trial's limit; as another user if told."""
    words = [sys.executable, "-m", "alfilter", "fit", str(home / "photo.png"), *FIT]
    words += ["--threads", str(trial.threads), "--overwrite", "--out", str(home / "run")]
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    if another:
        words = [*(_as_another() or []), *words]
        cache = home / "cache"
        cache.mkdir(exist_ok=True)
        os.chown(cache, USER, USER)
        environment = {**environment, "XDG_CACHE_HOME": str(cache), "HOME": str(cache)}
    before: Callable[[], None] | None = None
    if trial.kind is not None:
        kind, most = trial.kind, trial.most + (_own_threads() if trial.kind == resource.RLIMIT_NPROC else 0)
        before = lambda: resource.setrlimit(kind, (most, most))  # noqa: E731
    return subprocess.run(
        words, env=environment, capture_output=True, text=True, preexec_fn=before, check=False, timeout=1200
    )


def _as_another() -> list[str] | None:
    """The start of a command line that makes root the campaign's own user; none without `setpriv` or without need."""
    tool = shutil.which("setpriv")
    if tool is None or os.geteuid() != 0:
        return None
    user = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    return [tool, *user, "--inh-caps=+dac_override", "--ambient-caps=+dac_override"]


def _own_threads() -> int:
    """The threads that this user has already; of root's none count."""
    if os.geteuid() == 0:
        return 0
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                count += len(list((entry / "task").iterdir())) if entry.stat().st_uid == os.getuid() else 0
            except OSError:  # it has ended
                continue
    return count
