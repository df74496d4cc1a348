"""Networks as layers of a page: followed in NumPy they give torch's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from alfilter.export.program_networks import layers
from alfilter.export.steps import Program
from alfilter.methods import build

SHAPES: dict[str, Any] = {
    "linear": lambda z, layer: z,
    "sine": lambda z, layer: np.sin(layer["omega"] * z),
    "relu": lambda z, layer: np.maximum(z, 0),
    "gauss": lambda z, layer: np.exp(-((layer["scale"] * z) ** 2)),
    "hosc": lambda z, layer: np.tanh(layer["scale"] * np.sin(layer["omega"] * z)),
    "sinc": lambda z, layer: np.sinc(layer["omega"] * z / np.pi),
    "finer": lambda z, layer: np.sin(layer["omega"] * (np.abs(z) + 1) * z),
}


@pytest.mark.parametrize("method", ["siren", "gauss", "hosc", "sinc", "finer", "pe-mlp"])
def test_perceptrons(method: str) -> None:
    options: dict[str, Any] = {} if method in ("gauss", "pe-mlp") else {"omega": 3.0}
    network = build(method, in_dim=2, out_dim=3, width=6, **options).network
    program, z = Program(), torch.rand(9, network.in_dim, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        steps, expected = layers(program, network), network(z).numpy()
    assert steps is not None
    values = z.double().numpy()
    for layer in steps:
        first, count = layer["weight"]
        weight = program.numbers[first : first + count].reshape(layer["outputs"], layer["inputs"])
        bias = program.numbers[layer["bias"][0] :][: layer["outputs"]]
        values = SHAPES[layer["shape"]](values @ weight.T + bias, layer)
    np.testing.assert_allclose(values, expected, atol=1e-4)


def test_a_network_without_a_page_has_no_layers() -> None:
    network = build("filter-bank", in_dim=2, out_dim=1, width=4, backbone=4, levels=2, table=4).network
    assert layers(Program(), network) is None
