"""What needs more than the base installation, and the line that says so."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from alfilter.errors import UserError


def need(module: str, extra: str = "shapes") -> Any:
    """The imported module, or the error that names the extra which brings it.

    extra: of this package, named in the error.

    >>> need("math").floor(1.5)
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        what = "shapes need" if extra == "shapes" else "this needs"
        package = module.split(".")[0]
        raise UserError(f"{what} {package}, which is not installed; pip install 'alfilter[{extra}]'") from error


def free_memory() -> int | None:
    """Bytes of memory that can be had, what the system only keeps for speed included; None where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
