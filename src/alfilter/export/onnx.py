"""A field as an ONNX model: `points` (n, d) to `values` (n, c), both in the user's units, and to `alpha` (n,).

The graph is written operation by operation from the field's own parts, as their plain tensor code has them, not
traced: so it holds the field and nothing else, any number of points goes in, and onnx is all it takes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

import alfilter
from alfilter.analysis import filtered_encoding_of
from alfilter.errors import UserError, need
from alfilter.export import onnx_encodings, onnx_networks
from alfilter.export.graph import Graph
from alfilter.export.units import Units, units_of
from alfilter.files import write_bytes
from alfilter.methods import Field

_LARGEST = 1 << 31  # bytes that a protobuf message may have
_CHECKED = 4096  # points at which the written graph is run beside torch


def write_onnx(field: Field, out: str | Path) -> dict[str, Any]:
    """Write a field's graph and say how far its values are from torch's (None where onnxruntime is not installed)."""
    data = onnx_bytes(field)
    write_bytes(out, data)
    return {
        "file": str(out),
        "bytes": len(data),
        "method": field.spec.get("method"),
        "difference": difference(field, data),
    }


def onnx_bytes(field: Field) -> bytes:
    """The model file's bytes; same field, same bytes."""
    onnx = need("onnx", "onnx")
    size = 4 * sum(t.numel() for t in field.state_dict().values())
    if size >= _LARGEST:
        raise UserError(f"the field's numbers take {size:,} bytes and one ONNX file holds less than {_LARGEST:,}")
    model = _model(field)
    onnx.checker.check_model(model)
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def _model(field: Field) -> Any:
    graph, units = Graph(), units_of(field.signal, field.in_dim, field.out_dim)
    x = _inward(graph, units)
    out = onnx_networks.values(graph, field.network, onnx_encodings.features(graph, field.encoding, x))
    scaled = graph.op("Add", graph.op("Mul", out, field.scale), field.shift)
    outputs: dict[str, tuple[str, list[Any]]] = {"values": (_outward(graph, units, scaled), ["n", field.out_dim])}
    encoding = filtered_encoding_of(field)
    if encoding is not None:
        outputs["alpha"] = onnx_encodings.alpha(graph, encoding, x), ["n"]
    facts = {"version": alfilter.__version__, "spec": json.dumps(field.spec), "signal": json.dumps(field.signal),
             "points": units.places, "values": units.values}  # fmt: skip
    about = f"points (n, {field.in_dim}): {units.places}. values (n, {field.out_dim}): {units.values}."
    if encoding is not None:
        about += " alpha (n,): the place of the filter on its axis, in channels or levels."
    return graph.model(field.in_dim, outputs, facts, about, frozenset(("points", "values") if units.wide else ()))


def _inward(graph: Graph, units: Units) -> str:
    """Places in the domain, computed in 64 bits: a sample gets the very coordinate that it was fitted at."""
    if bool((units.centre == 0).all() and (units.half == 1).all()) and not units.wide:
        return "points"
    wide = "points" if units.wide else graph.cast("points", wide=True)
    x = graph.op("Div", graph.op("Sub", wide, graph.exact(units.centre)), graph.exact(units.half))
    if units.clipped:
        x = graph.op("Clip", x, graph.exact(np.array(-1.0)), graph.exact(np.array(1.0)))
    return graph.cast(x, wide=False)


def _outward(graph: Graph, units: Units, values: str) -> str:
    if bool((units.low == 0).all() and (units.span == 1).all()) and not units.wide:
        return values
    wide = graph.cast(values, wide=True)
    scaled = graph.op("Add", graph.op("Mul", wide, graph.exact(units.span)), graph.exact(units.low))
    return scaled if units.wide else graph.cast(scaled, wide=False)


def difference(field: Field, data: bytes) -> float | None:
    """The largest |onnxruntime - torch| over all outputs at random places of the domain and its corners.

    values are compared in shares of their range, alpha in channels or levels.
    """
    try:
        runtime = need("onnxruntime", "onnx")
    except UserError:
        return None
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    units = units_of(field.signal, field.in_dim, field.out_dim)
    x = torch.rand(_CHECKED, field.in_dim, generator=torch.Generator().manual_seed(0)) * 2 - 1
    x[: 1 << field.in_dim] = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * field.in_dim).view(-1, field.in_dim)
    places = units.outward(x.double().numpy()).astype(np.float64 if units.wide else np.float32)
    x = torch.from_numpy((places.astype(np.float64) - units.centre) / units.half).float()  # as the graph will see them
    encoding = filtered_encoding_of(field)
    with torch.inference_mode():
        expected = [field(x), *([encoding.alpha(x)] if encoding is not None else [])]
    values, *others = session.run(None, {"points": places})
    results = [(values - units.low) / units.span, *others]
    return max(float(np.abs(a - b.numpy()).max()) for a, b in zip(results, expected, strict=True))
