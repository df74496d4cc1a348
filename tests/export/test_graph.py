"""The writer of ONNX graphs: nothing twice, numbers as torch takes them, a model that runs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alfilter.export.graph import Graph

pytest.importorskip("onnx", reason="needs the extra onnx")


def test_equal_operations_and_constants_are_written_once() -> None:
    graph = Graph()
    first = graph.op("Add", "points", 1.0)
    assert graph.op("Add", "points", np.float32(1)) == first
    assert graph.op("Add", "points", 2.0) != first
    assert (len(graph.nodes), len(graph.constants)) == (2, 2)
    assert graph.constant(1) != graph.constant(1.0), "a whole number is int64"


def test_a_model_runs() -> None:
    """y = [x_1 + 2 x_2, max(x_1, x_2, 3)]"""
    runtime = pytest.importorskip("onnxruntime")
    graph = Graph()
    first, second = graph.columns("points", 0), graph.columns("points", 1)
    total = graph.affine("points", torch.tensor([[1.0, 2.0]]), torch.zeros(1))
    largest = graph.fold("Max", [first, second, graph.constant(torch.tensor([[3.0]]))])
    model = graph.model(2, {"y": (graph.join(total, largest), ["n", 2])}, {"key": "value"}, "about")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"points": np.array([[1, 5], [2, 0]], np.float32)})
    assert y.tolist() == [[11, 5], [2, 3]]
    assert model.doc_string == "about"
    assert [(p.key, p.value) for p in model.metadata_props] == [("key", "value")]
