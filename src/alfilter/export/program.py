"""A field as a short list of steps that a browser can follow: features of sines or of tables, then layers."""

from __future__ import annotations

import numpy as np
import torch

from alfilter.core import encoded_dim
from alfilter.encodings import FilteredFourier
from alfilter.errors import UserError
from alfilter.export import program_encodings, program_networks
from alfilter.export.steps import Program
from alfilter.methods import METHODS, Field

REFUSED = ("acorn", "filter-bank")  # blocks with corners of their own; sine layers that meet again at the end


def program_of(field: Field) -> Program:
    """The program of a field of two coordinates, or the reason why there is none."""
    if field.in_dim != 2 or field.out_dim > 4:
        got = f"{field.in_dim} and {field.out_dim}"
        raise UserError(f"the page shows 2 coordinates and up to 4 values, got {got}; export .onnx instead")
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
            "features": len(rows),
            "table": program.store(rows),
            "layers": layers,
            "shift": field.shift.tolist(),
            "range": field.scale.tolist(),
            "alpha": None,
            "filter": None,
        }
        if isinstance(field.encoding, FilteredFourier):
            _add_filter(program, field.encoding)
    return program


def _add_filter(program: Program, encoding: FilteredFourier) -> None:
    grid = (encoding.alpha.values * encoding.alpha.unit).squeeze(-1).cpu().numpy()  # in channel units
    program.steps["alpha"] = {"rows": grid.shape[0], "columns": grid.shape[1], "values": program.store(grid)}
    channels = encoded_dim(encoding.in_dim, encoding.levels)
    low, high = (float(v) for v in np.quantile(grid, (0.01, 0.99)))  # a few far nodes would hide the rest
    program.steps["filter"] = {
        "range": [low, max(high, low + 0.5)],
        "bandwidth": encoding.bandwidth,
        "kappa": encoding.kappa,
        "channels": channels,
        "levels": encoding.levels,
    }
