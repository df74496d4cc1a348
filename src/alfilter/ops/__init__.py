"""The equations of `core` as differentiable functions that are fast on a CPU.

Each chooses between the plain tensor code of `core` and a compiled kernel; the values are the same up to rounding.
"""

from alfilter.ops.filtered_encoding import filtered_encoding
from alfilter.ops.grid_lookup import lookup
from alfilter.ops.interpolate import interpolate
from alfilter.ops.mlp import perceptron

__all__ = ["filtered_encoding", "interpolate", "lookup", "perceptron"]
