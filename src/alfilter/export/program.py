"""A field as a short list of steps that a browser can follow: features of sines or of tables, then layers."""

from __future__ import annotations

import math

import numpy as np
import torch

from alfilter.encodings import FilteredFourier, FilteredGrid
from alfilter.errors import UserError
from alfilter.export import program_encodings, program_networks
from alfilter.export.steps import AXES, Program
from alfilter.methods import METHODS, Field

REFUSED = ("acorn", "filter-bank")  # blocks with corners of their own; sine layers that meet again at the end


def program_of(field: Field) -> Program:
    """The program of a field of up to four coordinates, or the reason why there is none."""
    if field.in_dim > AXES or field.out_dim > 4:
        got = f"{field.in_dim} and {field.out_dim}"
        raise UserError(
            f"a page takes up to {AXES} coordinates and gives up to 4 values, got {got}; export .onnx instead"
        )
    program = Program()
    with torch.no_grad():
        rows = program_encodings.table(program, field.encoding)
        layers = program_networks.layers(program, field.network)
        if rows is None or layers is None:
            known = ", ".join(name for name in METHODS if name not in REFUSED and METHODS.provider(name) is None)
            raise UserError(
                f"a page cannot evaluate {field.spec.get('method') or 'this field'}, only {known}; "
                "export .onnx instead, or look at it with alfilter view"
            )
        program.steps |= {
            "dims": field.in_dim,
            "features": len(rows),
            "table": program.store(rows),
            "layers": layers,
            "shift": field.shift.tolist(),
            "range": field.scale.tolist(),
            "alpha": None,
            "filter": None,
        }
        if isinstance(field.encoding, FilteredFourier | FilteredGrid):
            _add_filter(program, field.encoding)
    return program


def _add_filter(program: Program, encoding: FilteredFourier | FilteredGrid) -> None:
    """α in units of its axis, and the filter: H_B of `core.band_response` at α + `middle`.

    A level filter is H_B with its upper edge at α + ½; one without a bandwidth gets a band wider than the axis. The
    cut-off is 2^(first + step min(α, top)) cycles across the domain.
    """
    grid = (encoding.alpha.values * encoding.alpha.unit).squeeze(-1).cpu().numpy()
    lowest = encoding.alpha.low
    program.steps["alpha"] = {
        "shape": list(grid.shape),
        "values": program.store(grid),
        "low": lowest if math.isfinite(lowest) else None,
    }
    low, high = (float(v) for v in np.quantile(grid, (0.01, 0.99)))  # a few far nodes would hide the rest
    if isinstance(encoding, FilteredFourier):
        band, middle, unit = encoding.bandwidth, 0.0, "channel"
    else:
        band = float(encoding.bandwidth or 2 * encoding.levels + 40 / encoding.kappa)
        middle, unit = 0.5 - band / 2, "level"
    first, step, top = _cut_off(encoding)
    program.steps["filter"] = {
        "range": [min(low, min(high, top) - 0.1 * encoding.axis), min(high, top)],  # a flat map stays flat
        "bandwidth": band,
        "middle": middle,
        "kappa": encoding.kappa,
        "channels": encoding.axis,
        "levels": encoding.levels,
        "axis": unit,
        "cut_off": {"first": first, "step": step, "top": top},
        "frequencies": encoding.level_frequencies().tolist(),  # in cycles across the domain, until the page has a unit
    }


def _cut_off(encoding: FilteredFourier | FilteredGrid) -> tuple[float, float, float]:
    """log2 of the cut-off as a line over α, and the α above which it stays."""
    below = -4.0 * encoding.axis - (encoding.bandwidth or 0.0)  # where nothing is cut off at the finest level
    places = torch.tensor([below, below + 1], dtype=torch.float64)
    near, following = torch.log2(encoding.frequency(places)).tolist()
    step = following - near
    first = near - step * below
    finest = float(torch.log2(encoding.level_frequencies()[-1].double()))
    return first, step, (finest - first) / step if step else float(encoding.axis)
