"""A field at scattered places."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.evaluate.passes import in_passes
from alfilter.evaluate.scores import Evaluate


def sample_points(field: Evaluate, x: Tensor) -> Tensor:
    """A field's values (n, c) at places x (n, d); a value depends on its place alone.

    >>> sample_points(lambda x: 2 * x, torch.tensor([[1.0], [3.0]])).tolist()
    [[2.0], [6.0]]
    """
    if not len(x):
        return torch.zeros(0, 1)
    return in_passes(field, len(x), lambda first, count: x[first : first + count])


def distances_at(field: Evaluate, points: NDArray[Any]) -> NDArray[np.float32]:
    """A field's first value at points (n, 3) of numpy's: (n,), as `geometry.surface` asks for distances."""
    x = torch.from_numpy(np.array(points, dtype=np.float32))  # a copy: what comes may be read-only
    return sample_points(field, x)[:, 0].numpy()
