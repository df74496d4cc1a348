"""What not every processor can do."""

from __future__ import annotations

import pytest
import torch

flushes_denormals = pytest.mark.skipif(
    not torch.set_flush_denormal(False), reason="a processor that can flush denormals to zero"
)
