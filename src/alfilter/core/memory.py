"""Keep freed activations in the process instead of giving them back and faulting them in again."""

from __future__ import annotations

import ctypes
from functools import cache

_MMAP_THRESHOLD, _TRIM_THRESHOLD, _ARENA_MAX = -3, -1, -8  # numbers of glibc's mallopt


@cache
def keep_freed_memory() -> bool:
    """Ask the C library to reuse blocks of up to 32 MB, from one heap for all threads; True where it agreed.

    Every pass allocates and frees a few megabytes a layer. By default glibc maps and unmaps such blocks, and the heap
    of a thread of its own is given back at every 64 MB; the page faults cost a tenth of a training step. Elsewhere
    nothing happens.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    settings = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 512 << 20, _ARENA_MAX: 1}
    return all(mallopt(name, value) for name, value in settings.items())
