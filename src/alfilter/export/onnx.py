"""A field as an ONNX model: `points` (n, d) in [-1, 1] to `values` (n, c), and to `alpha` (n,) where it has one.

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
from alfilter.errors import UserError
from alfilter.export import onnx_encodings, onnx_networks
from alfilter.export.graph import Graph
from alfilter.extras import need
from alfilter.files import write_bytes
from alfilter.methods import Field

_LARGEST = 1 << 31  # bytes that a protobuf message may have
_CHECKED = 4096  # points at which the written graph is run beside torch
ABOUT = (
    "points: (n, d) in [-1, 1], coordinate k along array axis k (rows first), -1 and 1 on the first and the last "
    "sample. values: (n, c), a picture's 0 to 1. alpha: (n,), the centre of the pass band in channels."
)


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
    graph = Graph()
    out = onnx_networks.values(graph, field.network, onnx_encodings.features(graph, field.encoding, "points"))
    scaled = graph.op("Add", graph.op("Mul", out, field.scale), field.shift)
    outputs: dict[str, tuple[str, list[Any]]] = {"values": (scaled, ["n", field.out_dim])}
    encoding = filtered_encoding_of(field)
    if encoding is not None:
        outputs["alpha"] = onnx_encodings.alpha(graph, encoding, "points"), ["n"]
    facts = {"version": alfilter.__version__, "spec": json.dumps(field.spec), "signal": json.dumps(field.signal)}
    return graph.model(field.in_dim, outputs, facts, ABOUT)


def difference(field: Field, data: bytes) -> float | None:
    """The largest |onnxruntime - torch| over all outputs at random places of the domain and its corners."""
    try:
        runtime = need("onnxruntime", "onnx")
    except UserError:
        return None
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    x = torch.rand(_CHECKED, field.in_dim, generator=torch.Generator().manual_seed(0)) * 2 - 1
    x[: 1 << field.in_dim] = torch.cartesian_prod(*[torch.tensor([-1.0, 1.0])] * field.in_dim).view(-1, field.in_dim)
    encoding = filtered_encoding_of(field)
    with torch.inference_mode():
        expected = [field(x), *([encoding.alpha(x)] if encoding is not None else [])]
    results = session.run(None, {"points": x.numpy()})
    return max(float(np.abs(a - b.numpy()).max()) for a, b in zip(results, expected, strict=True))
