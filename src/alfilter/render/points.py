"""A model of scattered points as a table: its values at new points."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from alfilter.errors import UserError
from alfilter.methods import Field
from alfilter.signals.points import directions, read_places
from alfilter.signals.tables import Columns, write_columns, write_rows
from alfilter.tasks.points import predict


def predict_file(field: Field, query: str, out: str | None) -> tuple[int, int]:
    """Write the values at a table's points, row by row as they come, to a file or stdout.

    The columns: the coordinates, the values in the units they were fitted in, and `outside`, 1 where a point lies
    outside the fitted region. Returns how many points there are and how many are outside.
    """
    facts = _facts(field)
    places = read_places(query, facts["coords"])
    values, beyond = predict(field, facts, places)
    columns: Columns = dict(zip(facts["coords"], places.T, strict=True))
    columns |= dict(zip(facts["values"], values.T, strict=True))
    table = {**columns, "outside": beyond.astype(np.int64)}
    if out is None:
        write_rows(sys.stdout, table)
    else:
        write_columns(Path(out), table)
    return len(places), int(beyond.sum())


def _facts(field: Field) -> dict[str, Any]:
    if field.signal.get("kind") != "points":
        kind = field.signal.get("kind") or "nothing yet"
        raise UserError(f"the model represents {kind}, not scattered points; give a model fitted to a table")
    if len(field.signal["support"]) != len(directions(field.in_dim)):
        raise UserError("the model's fitted region does not belong to its coordinates; fit it again")
    return field.signal
