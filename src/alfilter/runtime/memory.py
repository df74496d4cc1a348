"""Memory: huge pages for what is read at random, freed activations kept instead of faulted in again; peak use."""

from __future__ import annotations

import ctypes
import mmap
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

_MMAP_THRESHOLD, _TRIM_THRESHOLD, _ARENA_MAX = -3, -1, -8  # parameters of glibc's mallopt
_HUGE_PAGE = 2 << 20  # bytes


@cache
def keep_freed_memory() -> bool:
    """Make the C library reuse blocks of up to 32 MB, from one heap for all threads; True if it does.

    Every pass allocates and frees a few megabytes per layer. By default glibc maps and unmaps such blocks, and trims
    the heap of a thread at every 64 MB; the page faults cost a tenth of a training step. Without glibc nothing
    happens.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    settings = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 512 << 20, _ARENA_MAX: 1}
    return all(mallopt(name, value) for name, value in settings.items())


def huge_page_zeros(*shape: int) -> Tensor:
    """Zeros (float32) in pages of 2 MB, if the system has them and they fill one; else in ordinary memory.

    A step on a grid reads and writes its table, the table's gradients and their moments at random places: in pages of 4
    kB they are more than the processor's TLB holds.

    >>> huge_page_zeros(2, 2)
    tensor([[0., 0.],
            [0., 0.]])
    """
    import torch  # listing the studies needs only the peak memory, and should not wait for torch

    size = 4 * torch.Size(shape).numel()
    if size < _HUGE_PAGE or not sys.platform.startswith("linux"):
        return torch.zeros(shape)
    pages = mmap.mmap(-1, size + _HUGE_PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        pages.madvise(mmap.MADV_HUGEPAGE)
    except OSError:  # the kernel was built without them
        return torch.zeros(shape)
    whole = torch.frombuffer(pages, dtype=torch.float32)
    first = -whole.data_ptr() % _HUGE_PAGE // 4
    return whole[first : first + size // 4].view(shape)


def huge_page_copy(tensor: Tensor) -> Tensor:
    """A copy, where a step reads and writes at random places; only of float32 in such pages."""
    import torch

    return huge_page_zeros(*tensor.shape).copy_(tensor) if tensor.dtype == torch.float32 else tensor.clone()


def reset_peak_memory() -> bool:
    """Let `peak_memory` count from now on; True if the system can (Linux)."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def peak_memory() -> int:
    """The peak resident memory of this process in bytes, since its start or the last `reset_peak_memory`.

    >>> peak_memory() > 1 << 20
    True
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        import resource  # elsewhere: since the start, in kilobytes or (macOS) bytes

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak << 10
