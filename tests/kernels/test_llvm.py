"""Vectors of every width: their shape follows from the processor's features, and they compute the same."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from tests.kernels.test_cache import SOURCE, call_in

from alfilter.kernels.llvm import AVX2, AVX512, LANES, NEON, SSE, Shape, vector_shape

SCRIPT = """
import torch
from alfilter.core import layers
from alfilter.kernels.llvm import LANES
from alfilter.ops.mlp import perceptron
torch.manual_seed(0)
worst = 0.0
for activation, sizes in (("sine", (5, 33, 18, 3)), ("relu", (2, 64, 7, 19))):
    x = torch.rand(197, sizes[0], requires_grad=True)
    weights = [torch.randn(o, i, requires_grad=True) / i**0.5 for i, o in zip(sizes, sizes[1:])]
    biases = [torch.randn(o, requires_grad=True) for o in sizes[1:]]
    for tensor in weights:
        tensor.retain_grad()
    grads = []
    for function in (perceptron, layers.perceptron):
        out = function(x, weights, biases, activation, 2.0)
        grads.append([out, *torch.autograd.grad(out.square().mean(), [x, *weights, *biases])])
    worst = max(worst, *(float((a - b).abs().max() / b.abs().max()) for a, b in zip(*grads)))
print(LANES, worst < 1e-5)
"""


@pytest.mark.parametrize(
    ("features", "machine", "shape"),
    [
        ("+avx2,+avx512f,+fma", "x86_64", AVX512),
        ("+avx2,-avx512f,+fma", "AMD64", AVX2),
        ("+sse2,-avx2,-avx512f", "x86_64", SSE),
        ("", "x86_64", SSE),
        ("+neon", "arm64", NEON),
    ],
)
def test_the_width_is_that_of_the_processor(features: str, machine: str, shape: Shape) -> None:
    assert vector_shape(features, machine) == shape


def test_the_width_can_be_chosen() -> None:
    assert [vector_shape("+avx2", "x86_64", lanes).lanes for lanes in ("4", "8", "16", "")] == [4, 8, 16, 8]


@pytest.mark.parametrize(("setting", "lanes"), [({}, "4"), ({}, "8"), ({}, "16"), ({"NUMBA_CPU_NAME": "generic"}, "")])
def test_a_perceptron_of_any_width_of_vectors_is_that_of_core(
    setting: dict[str, str], lanes: str, tmp_path: Path
) -> None:
    own = not setting and lanes == str(LANES)  # as all other tests compile, so it may be in the cache
    folder = os.environ.get("NUMBA_CACHE_DIR", "" if own else str(tmp_path))
    out, _ = call_in(SOURCE.parent, SCRIPT, ALFILTER_LANES=lanes, NUMBA_CACHE_DIR=folder, **setting)
    assert out.split() == [lanes or out.split()[0], "True"]


def test_the_compiler_has_an_upper_bound() -> None:
    """Kernels name LLVM's intrinsics, which may change with its version."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    named = [words for words in project["project"]["dependencies"] if words.startswith("numba")]
    assert all("<" in words for words in named)
    assert len(named) == 1
