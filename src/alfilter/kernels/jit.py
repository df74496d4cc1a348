"""What every kernel is compiled with."""

from __future__ import annotations

import numpy as np

f4 = np.float32
# Contraction to fused multiply-adds is allowed; reassociation and finite-only arithmetic are not, since a NaN must
# reach the loss and sums must not depend on the compiler's choices.
FAST = {"contract", "nsz", "arcp"}
