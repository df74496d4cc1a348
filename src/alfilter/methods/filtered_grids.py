"""The row whose grid levels pass the paper's filter: al-grid."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from alfilter.config import option
from alfilter.encodings import FilteredGrid
from alfilter.methods.adaptive import alpha_resolution
from alfilter.methods.grids import CPU, RARE_ROWS, HashGridOptions, finest_cells, table_rows
from alfilter.methods.method import Backbone, Method, Parts, Preset, Samples, relu_network


@dataclass(frozen=True)
class AlGridOptions(HashGridOptions):
    kappa: float = option(2.0, "κ, sharpness of the filter's edge in levels", low=1e-3, high=1e3)
    bandwidth: float | None = option(
        None, "B, width of the pass band in levels; none: all levels below α pass", low=1e-3, high=1e3
    )
    grid: int | tuple[int, ...] | None = option(
        None, "nodes of the α grid per axis; none: one per 8 samples, 16 to 64", low=1, high=4096
    )
    start: float | None = option(None, "α at the beginning, in levels; none: all of them pass")
    rate: float = option(0.25, "how far the learning rate moves α, in shares of its axis", low=0, high=1e3)


def _al_grid(
    options: AlGridOptions, in_dim: int, out_dim: int, samples: Samples | None, generator: torch.Generator
) -> Parts:
    finest = finest_cells(options, in_dim, samples)
    usual = tuple(min(max(n // 8, 16), 64) for n in samples) if samples and in_dim <= 2 else (24 if in_dim > 1 else 64)
    encoding = FilteredGrid(
        in_dim,
        levels=options.levels,
        features=options.features,
        base=min(options.base, finest),
        finest=finest,
        table=table_rows(options, in_dim),
        resolution=alpha_resolution(usual if options.grid is None else options.grid, in_dim),
        kappa=options.kappa,
        bandwidth=options.bandwidth,
        start=options.start,
        rate=options.rate,
        generator=generator,
    )
    return encoding, relu_network(Backbone(options.width, options.depth), encoding, out_dim, generator)


ROWS = {
    "al-grid": Method(
        "AL-Filter on the levels of a multiresolution grid",
        2026,
        AlGridOptions,
        _al_grid,
        {
            "default": Preset(
                {"table": 16, "density": 2.0},
                {**CPU, **RARE_ROWS, "lr": 0.03, "lr_encoding": 0.09, "weight_decay": 1e-6, "parsimony": 1e-4},
            )
        },
        adaptive="yes",
        explicit="yes",
        positional="yes",
        size_by="finest",
    )
}
