"""Networks as ONNX operations, each by itself against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from alfilter.errors import UserError
from alfilter.export.graph import Graph
from alfilter.export.onnx_networks import values
from alfilter.methods import build
from alfilter.networks import Network

pytest.importorskip("onnx", reason="needs the extra onnx")
METHODS = ["siren", "gauss", "wire", "hosc", "sinc", "finer", "mfn-fourier", "mfn-gabor", "bacon", "poly-inr"]


@pytest.mark.parametrize("method", METHODS)
def test_values_are_torchs(method: str) -> None:
    runtime = pytest.importorskip("onnxruntime")
    options: dict[str, Any] = {"omega": 3.0} if method in ("siren", "hosc", "sinc", "finer") else {}
    network = build(method, in_dim=2, out_dim=3, samples=(8, 8), width=6, **options).network.eval()
    z = torch.rand(40, network.in_dim, generator=torch.Generator().manual_seed(0)) * 2 - 1
    graph = Graph()
    data = graph.model(network.in_dim, {"out": (values(graph, network, "points"), ["n", 3])}, {}, "")
    session = runtime.InferenceSession(data.SerializeToString(), providers=["CPUExecutionProvider"])
    (got,) = session.run(None, {"points": z.numpy()})
    expected = network(z).detach().numpy()
    np.testing.assert_allclose(got, expected, atol=2e-4 * max(1, np.abs(expected).max()))


def test_a_network_of_ones_own_is_refused() -> None:
    class Own(Network):
        def forward(self, features: Tensor) -> Tensor:
            return features

    with pytest.raises(UserError, match="ONNX export does not know the network Own; give it a method onnx"):
        values(Graph(), Own(2, 2), "points")
