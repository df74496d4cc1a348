"""The contract of every encoding, network and method, for your own as well as for the library's.

Each check returns None, or raises an AssertionError that names what failed and by how much. Give small instances:
everything is differentiated twice in float64. Nothing here needs a test framework.

>>> from alfilter.encodings import Fourier
>>> from alfilter.networks import MLP
>>> check_encoding(Fourier(2, levels=3))
>>> check_network(MLP(4, 3, width=8, depth=2, activation="sine"))
"""

from __future__ import annotations

from alfilter.testing.methods import check_method
from alfilter.testing.parts import check_encoding, check_network

__all__ = ["check_encoding", "check_method", "check_network"]
