"""The empirical tangent kernel: by hand, of a linear model, simple against fast for every method, its properties."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from alfilter.analysis import empirical_ntk, line_points, ntk, random_points, simple_ntk
from alfilter.analysis.linear_layers import Linears
from alfilter.analysis.ntk import PARTS, Part
from alfilter.encodings import Encoding, FilteredFourier, Fourier, Identity
from alfilter.errors import UserError
from alfilter.methods import METHODS, Field, build
from alfilter.networks import MLP, Network
from alfilter.runtime.stages import Stage, watching

SMALL = {"width": 8, "depth": 2}


def tiny(name: str) -> Field:
    """A method on an 8×8 picture with two values, its blocks few."""
    options = {"tiles": 16} if name == "acorn" else {}
    return build(name, in_dim=2, out_dim=2, samples=(8, 8), seed=3, **options)


def hand_made() -> Field:
    """f(x) = 3 · relu(2x + 1) - 1 with one hidden neuron."""
    network = MLP(1, 1, width=1, depth=1, activation="relu")
    for parameter, value in zip(network.parameters(), (2.0, 3.0, 1.0, -1.0), strict=True):
        nn.init.constant_(parameter, value)  # W1, W2, b1, b2
    return Field(Identity(1), network)


def test_rows_of_tables_are_counted_as_they_are_measured() -> None:
    told: list[Stage] = []
    with watching(told.append):
        empirical_ntk(tiny("hash-grid"), random_points(5, 2))
        empirical_ntk(hand_made(), random_points(5, 1))  # linear layers alone have no rows
    assert {each.name for each in told} == {"tangent kernel on 5 points"}
    assert (told[0].done, told[-1].done) == (0.0, 1.0)
    assert len(told) == 1 + 2 * 5


def test_one_neuron_by_hand() -> None:
    """∂f = (W2 x, relu, W2, 1) = (3x, 2x+1, 3, 1) where it is open, (0, 0, 0, 1) where not."""
    x = torch.tensor([[0.5], [1.0], [-2.0]])
    rows = torch.tensor([[1.5, 2.0, 3.0, 1.0], [3.0, 3.0, 3.0, 1.0], [0.0, 0.0, 0.0, 1.0]], dtype=torch.float64)
    for kernel in (simple_ntk(hand_made(), x), empirical_ntk(hand_made(), x)):
        torch.testing.assert_close(kernel, rows @ rows.T)


def test_a_linear_model_has_the_kernel_of_its_features() -> None:
    """f = W γ(x) + b: Θ = γγᵀ + 1, whatever W is."""

    class Linear(Network):
        def __init__(self) -> None:
            super().__init__(8, 1)
            self.weight, self.bias = nn.Parameter(torch.randn(1, 8)), nn.Parameter(torch.randn(1))

        def forward(self, features: Tensor) -> Tensor:
            return F.linear(features, self.weight, self.bias)

    x = random_points(20, 2)
    encoding = Fourier(2, levels=2)
    expected = encoding(x) @ encoding(x).T + 1
    torch.testing.assert_close(empirical_ntk(Field(encoding, Linear()), x), expected)
    torch.testing.assert_close(simple_ntk(Field(encoding, Linear()), x), expected)


def test_alpha_grid_by_hand() -> None:
    """f = α(x) read off a grid of two nodes: the row of x is its weights ((1-x)/2, (1+x)/2), times the unit."""

    class Sum(Network):
        def __init__(self, count: int) -> None:
            super().__init__(count, 1)

        def forward(self, features: Tensor) -> Tensor:
            return features.sum(-1, keepdim=True)

    encoding = FilteredFourier(1, levels=1, bandwidth=1.0, kappa=1.0, resolution=(2,), start=0.7, unit="axis")
    x = torch.tensor([[-1.0], [0.0], [0.5]], dtype=torch.float64)
    kernel = empirical_ntk(Field(encoding, Sum(2)), x, "encoding")
    weights = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]], dtype=torch.float64)
    alpha = torch.full((3,), 0.7, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(encoding.double().filtered(x, alpha).sum(), alpha)
    rows = 2 * slope[:, None] * weights  # the unit is the axis of two channels
    torch.testing.assert_close(kernel, rows @ rows.T, rtol=1e-6, atol=1e-12)  # 0.7 is stored in float32


@pytest.mark.parametrize("name", METHODS)
def test_fast_is_simple_for_every_method(name: str) -> None:
    field, x = tiny(name), random_points(6, 2, seed=1)
    parts: list[Part] = ["both"] if name == "acorn" else ["network", "both"]
    for part in parts:
        simple, fast = simple_ntk(field, x, part, "each"), empirical_ntk(field, x, part, "each")
        assert simple.shape == (2, 6, 6)
        torch.testing.assert_close(fast, simple, rtol=1e-9, atol=1e-11 * float(simple.abs().max()))


def test_parts_add_up_and_outputs_too() -> None:
    field, x = build("al-sine", in_dim=3, out_dim=3, grid=5, **SMALL), random_points(12, 3)
    network, encoding, both = (empirical_ntk(field, x, part) for part in PARTS)
    torch.testing.assert_close(network + encoding, both)
    torch.testing.assert_close(empirical_ntk(field, x, outputs="each").sum(0), both)


def test_the_range_of_the_signal_scales_the_kernel() -> None:
    field, x = build("siren", in_dim=2, out_dim=2, **SMALL), random_points(5, 2)
    before = empirical_ntk(field, x, outputs="each")
    field.set_range(torch.tensor([0.0, 0.0]), torch.tensor([2.0, 6.0]))
    torch.testing.assert_close(empirical_ntk(field, x, outputs="each"), before * torch.tensor([1.0, 9.0]).view(2, 1, 1))


@pytest.mark.parametrize("resolution", [(1, 4), (4, 1), (1, 1), (3, 5)])
def test_grids_with_one_node_along_an_axis(resolution: tuple[int, int]) -> None:
    field = build("al-relu", in_dim=2, out_dim=1, grid=resolution, levels=3, bandwidth=5.0, **SMALL)
    x = torch.cat((random_points(4, 2), torch.tensor([[-1.0, 1.0], [1.0, 1.0], [0.0, 0.0]], dtype=torch.float64)))
    torch.testing.assert_close(empirical_ntk(field, x, "encoding"), simple_ntk(field, x, "encoding"))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), count=st.integers(1, 12), name=st.sampled_from(["al-sine", "al-relu", "mfn-gabor"]))
def test_symmetric_and_positive(seed: int, count: int, name: str) -> None:
    field = build(name, in_dim=2, out_dim=2, seed=seed, samples=(4, 4), **SMALL)
    kernel = empirical_ntk(field, random_points(count, 2, seed))
    torch.testing.assert_close(kernel, kernel.T, rtol=1e-12, atol=0)
    assert float(torch.linalg.eigvalsh(kernel).min()) >= -1e-12 * float(kernel.trace())


def test_rows_in_blocks_are_the_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    field, x = build("wire", in_dim=2, out_dim=1, width=8), random_points(7, 2)
    whole = empirical_ntk(field, x)
    size = sum(p.numel() for p in field.parameters())
    monkeypatch.setattr(ntk, "_BYTES", 8 * size * 3)  # three rows per block
    torch.testing.assert_close(empirical_ntk(field, x), whole)


def test_a_weight_used_twice_goes_row_by_row() -> None:
    class Twice(Network):
        def __init__(self) -> None:
            super().__init__(2, 2)
            self.weight, self.bias = nn.Parameter(torch.randn(2, 2)), nn.Parameter(torch.randn(2))

        def forward(self, features: Tensor) -> Tensor:
            return F.linear(torch.sin(F.linear(features, self.weight, self.bias)), self.weight)

    field, x = Field(Identity(2), Twice()), random_points(6, 2)
    with Linears(list(field.network.parameters()), 6) as linears:
        field.network(x.float())
    (first,) = linears.layers()
    assert first.weight is None
    assert first.bias is field.network.bias
    torch.testing.assert_close(empirical_ntk(field, x), simple_ntk(field, x))


def test_frozen_parameters_do_not_count() -> None:
    field, x = build("pe-mlp", in_dim=2, out_dim=1, levels=2, **SMALL), random_points(5, 2)
    full = empirical_ntk(field, x)
    field.network.weights[0].requires_grad_(False)  # type: ignore[union-attr,index]
    less = empirical_ntk(field, x)
    torch.testing.assert_close(less, simple_ntk(field, x))
    assert float((full - less).trace()) > 0


def test_the_field_is_left_as_it_was() -> None:
    field = build("al-sine", in_dim=2, out_dim=1, grid=4, **SMALL)
    before = {name: value.clone() for name, value in field.state_dict().items()}
    empirical_ntk(field, random_points(5, 2))
    assert all(torch.equal(before[name], value) for name, value in field.state_dict().items())
    assert all(p.grad is None and p.dtype == torch.float32 for p in field.parameters())


def test_the_line_is_one_period() -> None:
    points = line_points(8, 3, seed=5)
    assert torch.equal(points[:, :2], points[:1, :2].expand(8, 2))
    wave = torch.cos(math.pi * 2 * points[:, 2])  # the dyadic scale j = 1
    power = torch.fft.fft(wave).abs()
    assert power.argmax() == 2
    assert float(power.sum() - power[2] - power[6]) < 1e-12


def test_what_cannot_be_asked() -> None:
    field = build("siren", in_dim=2, out_dim=1, **SMALL)
    with pytest.raises(UserError, match="the encoding of this field has no trained parameters"):
        empirical_ntk(field, random_points(3, 2), "encoding")
    with pytest.raises(UserError, match="network, encoding or both, got 'all'"):
        empirical_ntk(field, random_points(3, 2), "all")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"have the shape \(n, 2\), got \(2,\)"):
        empirical_ntk(field, torch.zeros(2))
    assert isinstance(field.encoding, Encoding)
