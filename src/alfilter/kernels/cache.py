"""Compiled kernels on disk: one folder per state of the sources, versions of the compiler, and processor.

numba's own cache looks at the file of a function alone, so that a changed callee would leave old machine code in use.
Here the folder's name is a hash of everything that machine code depends on, and files in it never become stale. Since
loading a file runs what it holds, a folder is used only if nobody but its owner can write to it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config, serialize
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target

from alfilter.kernels.llvm import SHAPE

_numba: Any = config
_result: Any = CompileResult
_dumps: Any = serialize.dumps
_KEPT, _UNUSED = 3, 30 * 86400.0  # folders of other keys that are kept, and for how many seconds after their last use
_CODE_OPTIONS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")  # numba's
_DIGEST = 32  # bytes of a file's own hash, before its content


@cache
def cache_key() -> str | None:
    """A hash of all kernel sources, the compiler's versions and the processor; None without sources."""
    sources = sorted((f.name, f.read_bytes()) for f in files("alfilter.kernels").iterdir() if f.name.endswith(".py"))
    options = [getattr(_numba, name, None) for name in _CODE_OPTIONS]
    processor = cpu_target.target_context.codegen().magic_tuple()
    versions = numba.__version__, llvmlite.__version__, sys.implementation.cache_tag
    digest = hashlib.sha256(repr((versions, processor, SHAPE, options)).encode())
    for name, content in sources:
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:24] if sources else None


@cache
def cache_folder() -> Path | None:
    """The first place for this key that only this user can write to; None if there is none."""
    key = cache_key()
    return None if key is None else next((f for root in _roots() if (f := prepare_folder(root, key))), None)


def _roots() -> Iterator[Path]:
    """Where numba is told to cache, beside the sources, in the user's cache, in the system's temporary folder."""
    if _numba.CACHE_DIR:
        yield Path(_numba.CACHE_DIR) / "alfilter"
    yield Path(__file__).parent / "__pycache__" / "kernels"
    with suppress(RuntimeError):  # no home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "alfilter" / "kernels"
    with suppress(OSError):  # no temporary folder
        yield Path(tempfile.gettempdir()) / f"alfilter-kernels-{_user()}"


def prepare_folder(root: Path, key: str) -> Path | None:
    """`root`/`key`, made if needed, if only this user can write there; old folders of other keys are removed."""
    folder = root / key
    try:
        new = not folder.is_dir()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not (is_private(folder.resolve()) and os.access(folder, os.R_OK | os.W_OK | os.X_OK)):
            return None
        os.utime(folder)  # the time of its last use
        if new:
            _remove_unused(root, key)
    except OSError:
        return None
    return folder


def is_private(folder: Path) -> bool:
    """Whether only this user can change what is in a folder, and only this user or root which folder it is."""
    if os.name == "nt":
        return True  # access lists are inherited from the user's own folders
    own = folder.stat()
    return own.st_uid == _user() and not own.st_mode & 0o022 and all(map(_keeps_entries, folder.parents))


def _keeps_entries(folder: Path) -> bool:
    """Whether strangers can neither rename nor replace what is in a folder, if they can write to it at all."""
    own = folder.stat()
    return own.st_uid in (0, _user()) and (not own.st_mode & stat.S_IWOTH or bool(own.st_mode & stat.S_ISVTX))


def _user() -> int:
    return 0 if sys.platform == "win32" else os.geteuid()


def _remove_unused(root: Path, key: str) -> None:
    others = [f for f in root.iterdir() if f.is_dir() and f.name != key and len(f.name) == len(key)]
    ages = sorted((time.time() - f.stat().st_mtime, f) for f in others)
    for place, (age, folder) in enumerate(ages):
        if place >= _KEPT or age > _UNUSED:
            shutil.rmtree(folder, ignore_errors=True)


@cache
def announce() -> None:
    """Say, once per process, what the user waits for."""
    logging.getLogger("alfilter").warning("compiling kernels for this processor, once")


class KernelCache(_Cache):
    """A kernel's compiled signatures, one file each; without a folder, none. A damaged file counts as missing."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"

    def path(self, signature: Any) -> Path | None:
        """Where a signature is kept."""
        folder = cache_folder()
        name = f"{self._name}-{hashlib.sha256(str(signature).encode()).hexdigest()[:24]}"
        return None if folder is None else folder / name

    @property
    def cache_path(self) -> str | None:
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        path = self.path(sig)
        content = b""
        if path is not None:
            with suppress(OSError):
                content = path.read_bytes()
        digest, data = content[:_DIGEST], content[_DIGEST:]
        if not content or hashlib.sha256(data).digest() != digest:
            announce()
            return None
        return _result._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, sig: Any, data: Any) -> None:
        path = self.path(sig)
        if path is None or data.library.has_dynamic_globals:
            return
        content = _dumps(data._reduce())
        with suppress(OSError):  # a full disk, or a folder that was just removed
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
            try:
                os.close(handle)
                Path(name).write_bytes(hashlib.sha256(content).digest() + content)
                Path(name).replace(path)
            finally:
                Path(name).unlink(missing_ok=True)

    def enable(self) -> None: ...

    def disable(self) -> None: ...

    def flush(self) -> None: ...
