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
    made = Program()
    with torch.no_grad():
        rows = program_encodings.table(made, field.encoding)
        layers = program_networks.layers(made, field.network)
        if rows is None or layers is None:
            known = ", ".join(name for name in METHODS if name not in REFUSED and METHODS.provider(name) is None)
            raise UserError(
                f"a page cannot evaluate {field.spec.get('method') or 'this field'}, only {known}; "
                "export .onnx instead, or look at it with alfilter view"
            )
        made.steps |= {
            "features": len(rows),
            "table": made.keep(rows),
            "layers": layers,
            "shift": field.shift.tolist(),
            "range": field.scale.tolist(),
            "alpha": None,
            "filter": None,
        }
        if isinstance(field.encoding, FilteredFourier):
            _add_filter(made, field.encoding)
    return made


def _add_filter(made: Program, encoding: FilteredFourier) -> None:
    grid = (encoding.alpha.values * encoding.alpha.unit).squeeze(-1).cpu().numpy()  # in channel units
    made.steps["alpha"] = {"rows": grid.shape[0], "columns": grid.shape[1], "values": made.keep(grid)}
    channels = encoded_dim(encoding.in_dim, encoding.levels)
    low, high = (float(v) for v in np.quantile(grid, (0.01, 0.99)))  # a few far nodes would hide the rest
    made.steps["filter"] = {
        "range": [low, max(high, low + 0.5)],
        "bandwidth": encoding.bandwidth,
        "kappa": encoding.kappa,
        "channels": channels,
        "levels": encoding.levels,
    }
