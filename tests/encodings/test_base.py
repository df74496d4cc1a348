"""What an encoding does unless it says otherwise."""

from __future__ import annotations

import torch
from torch import Tensor

from alfilter.encodings.base import Encoding, Situation


class Twice(Encoding):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cat((x, x), dim=-1)


def test_what_is_inherited() -> None:
    encoding = Twice(2, 4)
    assert encoding.first_bound().tolist() == [0.25] * 4
    assert (encoding.smoothness().item(), encoding.smoothness("mean").item(), encoding.parsimony().item()) == (0, 0, 0)
    assert encoding.compiled_features() is None


def test_an_encoding_that_does_not_adapt_looks_at_nothing() -> None:
    def fail() -> None:
        raise AssertionError("nothing is computed for an encoding that does not look")

    encoding = Twice(2, 4)
    encoding.adapt(Situation(0, 0.0, fail, fail))  # type: ignore[arg-type]
    encoding.constrain()
