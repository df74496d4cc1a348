"""The numbers of a written volume or light field: of the type that was fitted, if they fit in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.runtime.limits import free_memory
from alfilter.signals.volume import HEADER, TYPES

Array = NDArray[Any]


def stored_type(facts: dict[str, Any]) -> tuple[np.dtype[Any], bytes | None]:
    """The type of the fitted numbers, and the NIfTI header of the file, if any."""
    try:
        dtype = np.dtype(facts["dtype"])
        header = bytes.fromhex(facts["nifti"]) if "nifti" in facts else None
    except (KeyError, TypeError, ValueError):
        dtype, header = np.dtype("V"), None
    if dtype not in TYPES or (header is not None and len(header) != HEADER):
        raise UserError("the model does not say which numbers were fitted; fit it again")
    return dtype, header


def check_memory(out: Path, needed: int) -> None:
    free = free_memory()
    if free is not None and 2 * needed > free:
        required, available = (f"{count / 2**30:.1f} GB" for count in (2 * needed, free))
        raise UserError(f"writing {out} needs {required} of memory, {available} are available; give a smaller scale")


def stored(values: Array, facts: dict[str, Any], dtype: np.dtype[Any]) -> Array:
    """Values in [0, 1] as the numbers that were fitted, rounded and clipped where they are integers."""
    numbers: Array = values * (facts["high"] - facts["low"]) + facts["low"]
    if dtype.kind == "f":
        return numbers
    limits = np.iinfo(dtype)
    return np.rint(numbers).clip(limits.min, limits.max)
