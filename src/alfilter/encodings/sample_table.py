"""DINER's encoding: a table with one learned row per sample, in place of coordinates."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from alfilter.core.hash_grid import Layout
from alfilter.encodings.base import Encoding
from alfilter.errors import UserError
from alfilter.ops.grid_lookup import lookup
from alfilter.ops.grid_mlp import GridFeatures

ON_A_SAMPLE = 1e-3  # a place closer than this share of the spacing to a sample is that sample


class SampleTable(Encoding):
    """T[i] at sample i; between samples, what `between` says.

    Source: Xie et al. 2022 (DINER), whose hash is a full table: row i belongs to sample i, no two samples share one and
    their coordinates never enter. So the order of the samples carries no meaning to the network: permuting samples and
    rows together changes nothing, and a signal is as hard to fit as its histogram.

    Off the table: `linear` blends the rows of the 2^d samples around a place d-linearly (the source's `_interp`
    variants); `nearest` takes the row of the nearest sample; `refuse` is an error that names the place. The rows of
    samples that were not seen in training keep their start, and the value there means nothing.
    Differs from the source in: coordinates are read, to find the row, so that one interface serves all methods; rows
    are in the signal's own resolution along every axis of any d.

    samples: per axis. features: F of a row. bound: rows start at U(±bound).

    >>> SampleTable((4, 3), features=2)(torch.tensor([[-1.0, 1.0]])).shape
    torch.Size([1, 2])
    """

    def __init__(
        self,
        samples: tuple[int, ...],
        *,
        features: int,
        between: Literal["linear", "nearest", "refuse"] = "linear",
        bound: float = 1e-4,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__(len(samples), features)
        self.samples, self.between = samples, between
        self.layout = Layout.of([tuple(count - 1 for count in samples)])
        self.table = nn.Parameter((torch.rand(self.layout.total, features, generator=generator) * 2 - 1) * bound)

    def forward(self, x: Tensor) -> Tensor:
        if self.between == "refuse" and x.device.type != "meta":
            self._check(x)
        # the nearest row is a constant around every sample: no gradient of the place
        return lookup(self.table, x.detach() if self.between == "nearest" else x, self.layout, snap=self._snap())

    def compiled_features(self) -> GridFeatures | None:
        """None where places must be checked."""
        return None if self.between == "refuse" else GridFeatures(self.table, self.layout, snap=self._snap())

    def _snap(self) -> float:
        return 0.5 if self.between == "nearest" else ON_A_SAMPLE

    def _check(self, x: Tensor) -> None:
        """Refuse places that are no samples."""
        cells = torch.tensor(self.layout.cells[0], device=x.device)
        place = (x.detach() + 1) * (cells.to(x.dtype) / 2)  # in samples
        off = ((place - place.round().clamp(min=0).minimum(cells.to(x.dtype))).abs() > ON_A_SAMPLE).any(-1)
        if bool(off.any()):
            where = ", ".join(f"{v:.2f}" for v in place[off][0].tolist())
            raise UserError(
                f"the table has rows for {'x'.join(map(str, self.samples))} samples and none at ({where}); "
                "render at the samples, or build it with between=linear"
            )
