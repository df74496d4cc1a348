"""The cache of compiled kernels: never stale, never shared with strangers, never a reason to fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import alfilter
from alfilter.kernels import cache
from alfilter.kernels.adam import adam_update
from alfilter.kernels.cache import KernelCache, cache_folder, cache_key, is_private, prepare_folder

SOURCE = Path(alfilter.__file__).parent
MESSAGE = "compiling kernels for this processor, once"
CALL = """
import numpy as np
from alfilter.kernels.activations import gauss_forward
z, slope = np.ones((1, 1), np.float32), np.empty((1, 1), np.float32)
gauss_forward(z, np.zeros(1, np.float32), np.float32(1), np.float32(1), slope)
print(float(z[0, 0]))
"""


def call_in(folder: Path, script: str = CALL, **environment: str) -> tuple[str, str]:
    """Standard output and error of a script that imports the package found in `folder`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG"))}
    command = [sys.executable, "-P", "-c", script]
    variables = {**inherited, "PYTHONPATH": str(folder), **environment}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return done.stdout.strip(), done.stderr.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with a copy of the kernels alone."""
    copy = tmp_path / "copy"
    shutil.copytree(SOURCE / "kernels", copy / "alfilter" / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SOURCE / "__init__.py", copy / "alfilter")
    return copy


def test_a_changed_callee_is_compiled_again(package: Path) -> None:
    value, message = call_in(package)
    assert (round(float(value), 4), message) == (0.3679, MESSAGE)
    assert call_in(package) == (value, "")  # from the cache
    callee = package / "alfilter" / "kernels" / "exp.py"
    callee.write_text(callee.read_text().replace("return f4(0) if low", "return f4(7) if not low"))
    assert call_in(package) == ("7.0", MESSAGE)


def test_without_a_place_beside_the_sources_or_at_home_it_is_a_private_temporary_folder(package: Path) -> None:
    (package / "alfilter" / "kernels" / "__pycache__").write_text("a file, not a folder")
    temporary = package.parent / "temporary"
    temporary.mkdir()
    script = "from alfilter.kernels.cache import cache_folder; print(cache_folder())"
    out, _ = call_in(package, script, HOME=os.devnull, TMPDIR=str(temporary))
    assert Path(out).parent == temporary / f"alfilter-kernels-{os.geteuid()}"
    assert not Path(out).stat().st_mode & 0o077


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No place for a cache."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(cache, "_roots", lambda: [tmp_path / "file"])
    cache_folder.cache_clear()
    yield
    cache_folder.cache_clear()


@pytest.mark.usefixtures("nowhere")
def test_without_any_place_nothing_is_kept() -> None:
    own = KernelCache(adam_update.py_func)
    assert cache_folder() is None
    assert own.path(()) is None
    assert own.load_overload((), adam_update.targetctx) is None


def test_a_damaged_file_counts_as_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    own = KernelCache(adam_update.py_func)
    path = own.path(())
    assert path is not None
    path.write_bytes(b"no machine code of ours, and longer than a hash is")
    assert own.load_overload((), adam_update.targetctx) is None


def test_a_folder_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "open" / "key"
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    assert is_private(folder)
    folder.chmod(0o770)
    assert not is_private(folder)
    assert prepare_folder(tmp_path / "open", "key") is None
    folder.chmod(0o700)
    (tmp_path / "open").chmod(0o777)  # others could put a folder of theirs in its place
    assert not is_private(folder)
    (tmp_path / "open").chmod(0o1777)  # as /tmp: they cannot
    assert is_private(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "key").mkdir(mode=0o700)
    os.chown(tmp_path / "key", 12345, 12345)
    assert prepare_folder(tmp_path, "key") is None


def test_folders_of_other_keys_are_removed_once_unused(tmp_path: Path) -> None:
    day = 86400
    for age in (1, 2, 40, 3, 4, 5):
        folder = tmp_path / f"{age:03d}"
        folder.mkdir()
        os.utime(folder, times=(time.time() - age * day,) * 2)
    (tmp_path / "something else").mkdir()
    assert prepare_folder(tmp_path, "new") == tmp_path / "new"
    assert {f.name for f in tmp_path.iterdir()} == {"new", "001", "002", "003", "something else"}


def test_the_key_follows_the_processor() -> None:
    script = "from alfilter.kernels.cache import cache_key; print(cache_key())"
    key, _ = call_in(SOURCE.parent, script, NUMBA_CPU_NAME="generic")
    assert key != cache_key()
