"""Encodings as ONNX operations, each by itself against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from alfilter.encodings import Encoding
from alfilter.errors import UserError
from alfilter.export.graph import Graph
from alfilter.export.onnx_encodings import alpha, features
from alfilter.methods import build

pytest.importorskip("onnx", reason="needs the extra onnx")
SMALL: dict[str, dict[str, Any]] = {
    "siren": {},
    "pe-mlp": {"levels": 3},
    "fourier-features": {"features": 5},
    "al-sine": {"levels": 3, "grid": 4, "coordinates": True},
    "hash-grid": {"levels": 3, "base": 2, "finest": 20, "table": 5},
    "diner": {},
}


def run(graph: Graph, result: str, x: Tensor, shape: list[Any]) -> Any:
    runtime = pytest.importorskip("onnxruntime")
    data = graph.model(x.shape[1], {"out": (result, shape)}, {}, "").SerializeToString()
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    return session.run(None, {"points": x.numpy()})[0]


@pytest.mark.parametrize("method", SMALL)
def test_features_are_torchs(method: str) -> None:
    encoding = build(method, in_dim=2, out_dim=1, samples=(6, 7), width=4, **SMALL[method]).encoding.eval()
    x = torch.rand(50, 2, generator=torch.Generator().manual_seed(0)) * 2.2 - 1.1
    graph = Graph()
    got = run(graph, features(graph, encoding, "points"), x, ["n", encoding.out_dim])
    np.testing.assert_allclose(got, encoding(x).detach().numpy(), atol=2e-5)


def test_alpha_in_channels() -> None:
    encoding: Any = build("al-sine", in_dim=2, out_dim=1, width=4, grid=4, unit="axis").encoding
    with torch.no_grad():
        encoding.alpha.values.uniform_(-1, 1, generator=torch.Generator().manual_seed(1))
    x = torch.rand(20, 2, generator=torch.Generator().manual_seed(0)) * 2 - 1
    graph = Graph()
    got = run(graph, alpha(graph, encoding, "points"), x, ["n"])
    np.testing.assert_allclose(got, encoding.alpha(x).detach().numpy(), atol=1e-4)


def test_an_encoding_of_ones_own_is_refused() -> None:
    class Own(Encoding):
        def forward(self, x: Tensor) -> Tensor:
            return x

    with pytest.raises(UserError, match="ONNX export does not know the encoding Own; give it a method onnx"):
        features(Graph(), Own(2, 2), "points")


def test_an_encoding_of_ones_own_may_say_how_it_is_exported() -> None:
    class Own(Encoding):
        def forward(self, x: Tensor) -> Tensor:
            return torch.sin(3 * x)

        def onnx(self, graph: Graph, x: str) -> str:
            return graph.op("Sin", graph.op("Mul", x, 3.0))

    graph, own, x = Graph(), Own(2, 2), torch.rand(5, 2)
    np.testing.assert_allclose(run(graph, features(graph, own, "points"), x, ["n", 2]), own(x).numpy(), atol=1e-6)
