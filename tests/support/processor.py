"""What not every processor can do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

flushes_denormals = pytest.mark.skipif(
    not torch.set_flush_denormal(False), reason="a processor that can flush denormals to zero"
)


def cloud_with_no_tree_of_zeros() -> NDArray[np.float64]:
    """Points (40, 2) most of which have the least coordinate, 0: scipy cuts just above it, at a denormal."""
    cloud = np.zeros((40, 2))
    cloud[:10, 0], cloud[:, 1] = 1.0, np.linspace(0, 1e-3, 40)
    return cloud


def shrink() -> float:
    """Zero where denormals are flushed."""
    return float((torch.full((64,), 2e-38) * 1e-3).sum())
