"""The perceptron: by hand, by loops, its start measured, SIREN's promise kept."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import references

from alfilter.errors import UserError
from alfilter.methods import build
from alfilter.networks import ACTIVATIONS, MLP
from alfilter.testing import check_network
from alfilter.testing.methods import check_seeds
from alfilter.testing.properties import points


def make(activation: str, *, in_dim: int = 4, out_dim: int = 3, width: int = 6, depth: int = 2, seed: int = 0) -> MLP:
    generator = torch.Generator().manual_seed(seed)
    sizes = {"width": width, "depth": depth}
    numbers = {"omega": 3.0, "sharpness": 1.5}
    return MLP(in_dim, out_dim, activation=activation, generator=generator, **sizes, **numbers)  # type: ignore[arg-type]


def set_by_hand(network: MLP) -> None:
    """Two inputs, two neurons, one output."""
    numbers = ([[1.0, -1.0], [0.5, 2.0]], [[2.0, 3.0]]), ([0.25, -1.0], [10.0])
    with torch.no_grad():
        for parameters, values in zip((network.weights, network.biases), numbers, strict=True):
            for parameter, value in zip(parameters, values, strict=True):
                parameter.copy_(torch.tensor(value))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("activation", sorted(set(ACTIVATIONS) - {"finer"}))  # whose gradient is not the derivative
def test_contract(activation: str, depth: int) -> None:
    check_network(make(activation, depth=depth))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_seeds(activation: str) -> None:
    check_seeds(lambda seed: make(activation, seed=seed))


def test_relu_by_hand() -> None:
    """x = (1, 2): neurons 1-2+0.25 < 0 and 0.5+4-1 = 3.5; 3·3.5+10."""
    network = make("relu", in_dim=2, out_dim=1, width=2, depth=1)
    set_by_hand(network)
    assert network(torch.tensor([[1.0, 2.0]])).item() == 20.5


def test_sine_by_hand() -> None:
    """ω = 3 multiplies weights and bias alike: 2 sin(-2.25) + 3 sin(10.5) + 10."""
    network = make("sine", in_dim=2, out_dim=1, width=2, depth=1)
    set_by_hand(network)
    assert network(torch.tensor([[1.0, 2.0]])).item() == pytest.approx(2 * math.sin(-2.25) + 3 * math.sin(10.5) + 10)


@settings(max_examples=20)
@given(st.sampled_from(sorted(ACTIVATIONS)), st.integers(1, 4), st.integers(1, 9), st.integers(1, 3))
def test_by_loops(activation: str, depth: int, width: int, out_dim: int) -> None:
    network, x = make(activation, depth=depth, width=width, out_dim=out_dim), points(3, 4)
    weights, biases = ([p.tolist() for p in group] for group in (network.weights, network.biases))
    expected = [references.mlp(row, weights, biases, activation, 3.0, 1.5) for row in x.tolist()]
    torch.testing.assert_close(network(x), torch.tensor(expected), rtol=0, atol=1e-5)


@settings(max_examples=20)
@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 9), st.integers(1, 4))
def test_parameter_count_is_a_formula(in_dim: int, out_dim: int, width: int, depth: int) -> None:
    network = make("relu", in_dim=in_dim, out_dim=out_dim, width=width, depth=depth)
    counted = sum(p.numel() for p in network.parameters())
    assert counted == (in_dim + 1) * width + (depth - 1) * (width + 1) * width + (width + 1) * out_dim


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_periodic_activations_start_as_siren_and_the_others_as_torch(activation: str) -> None:
    network = make(activation, in_dim=16, out_dim=16, width=256)
    largest = [weight.abs().max().item() for weight in network.weights]
    is_periodic = activation in ("sine", "hosc", "finer", "finer-full")
    bounds = [1 / 16, *[math.sqrt(6 / 256) / 3] * 2] if is_periodic else [1 / 4, 1 / 16, 1 / 16]
    assert largest == pytest.approx(bounds, rel=0.02)


def test_an_unknown_activation_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="there is no activation 'sin'; did you mean 'sine'"):
        make("sin")


def test_a_sharpness_per_layer_is_learned() -> None:
    """tanh(β_i sin(ω z)), β_i of layer i."""
    network = MLP(2, 1, width=3, depth=2, activation="hosc", omega=2.0, sharpness=1.5, learn_sharpness=True)
    with torch.no_grad():
        network.get_parameter("learned").copy_(torch.tensor([0.5, 2.0]))
    z = points(4, 2)
    for (weight, bias), beta in zip(network.layers()[:-1], (0.5, 2.0), strict=True):
        z = torch.tanh(beta * torch.sin(2.0 * (z @ weight.T + bias)))
    weight, bias = network.layers()[-1]
    torch.testing.assert_close(network(points(4, 2)), z @ weight.T + bias)


@pytest.mark.parametrize(
    ("activation", "bounds"),
    [
        ("relu", [1 / math.sqrt(64), 1 / math.sqrt(256), 1 / math.sqrt(256)]),
        ("sine", [1 / 64, math.sqrt(6 / 256) / 3, math.sqrt(6 / 256) / 3]),
    ],
)
def test_the_start_is_uniform_within_its_bounds(activation: str, bounds: list[float]) -> None:
    network = make(activation, in_dim=64, out_dim=32, width=256)
    for weight, bound in zip(network.weights, bounds, strict=True):
        assert weight.abs().max().item() == pytest.approx(bound, rel=0.01)
        assert weight.abs().max().item() <= bound
        assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
        assert weight.mean().item() == pytest.approx(0, abs=bound / 20)
    for bias, inputs in zip(network.biases, (64, 256, 256), strict=True):
        assert bias.abs().max().item() <= 1 / math.sqrt(inputs)
        assert bias.std().item() == pytest.approx(1 / math.sqrt(3 * inputs), rel=0.2)


def test_first_bound_is_taken_feature_by_feature() -> None:
    bound = torch.tensor([0.5, 0.0, 2.0])
    network = MLP(3, 1, width=500, depth=1, activation="sine", omega=30.0, first_bound=bound)
    assert network.weights[0].abs().amax(0).tolist() == pytest.approx(bound.tolist(), rel=0.02)


def preactivations(network: MLP, x: torch.Tensor) -> list[torch.Tensor]:
    """ω(W z + b) of every hidden layer."""
    results, z = [], x
    for weight, bias in list(zip(network.weights, network.biases, strict=True))[:-1]:
        results.append(network.omega * torch.nn.functional.linear(z, weight, bias))
        z = results[-1].sin()
    return results


@pytest.mark.parametrize("bias", [False, True], ids=["weights alone", "with biases"])
def test_siren_keeps_its_distribution_with_depth(bias: bool) -> None:
    """SIREN's theorem: the hidden pre-activations keep their spread.

    A layer's variance is v' = 2 Var sin(z): 1 after the first layer, whose angles cover many turns, and for normal z
    1 - e^(-2v), with the fixed point v = 0.7968.
    """
    generator = torch.Generator().manual_seed(0)
    network = MLP(2, 1, width=256, depth=8, activation="sine", omega=30.0, generator=generator)
    with torch.no_grad():
        if not bias:
            for vector in network.biases:
                vector.zero_()
        spreads = [z.std().item() for z in preactivations(network, points(2000, 2))][1:]
    assert max(spreads) / min(spreads) < 1.15
    if not bias:
        assert spreads[0] == pytest.approx(1.0, rel=0.03)
        assert spreads[3:] == pytest.approx([math.sqrt(0.7968)] * 4, rel=0.03)


def test_our_siren_is_the_original_one() -> None:
    """Three SIRENs circulate. The original multiplies weights and bias alike by ω0 = 30 in every layer, and divides the
    hidden start by it; one port keeps ω = 1 in hidden layers (weights 30 times as large) and starts biases as weights;
    another leaves the bias outside the frequency.
    """
    field = build("siren", in_dim=2, out_dim=1)
    network = field.network
    assert isinstance(network, MLP)
    assert (network.activation, network.omega) == ("sine", 30.0)
    bounds = [1 / 2, *[math.sqrt(6 / 256) / 30] * 3]  # the last, linear layer included
    for weight, bias, bound, inputs in zip(network.weights, network.biases, bounds, (2, 256, 256, 256), strict=True):
        assert 0.95 * bound < weight.abs().max().item() <= bound or weight.numel() < 300
        assert weight.abs().max().item() <= bound
        assert bias.abs().max().item() <= 1 / math.sqrt(inputs)  # torch's own start
    assert network.biases[1].abs().max().item() > 5 * bounds[1]  # not that of the weights
    z = points(4, 2).double()
    wide = copy.deepcopy(field).double()
    expected = z
    for i in range(3):
        expected = torch.sin(30 * (expected @ network.weights[i].double().t() + network.biases[i].double()))
    expected = expected @ network.weights[3].double().t() + network.biases[3].double()
    torch.testing.assert_close(wide(z), expected)


def test_siren_output_is_of_unit_order() -> None:
    generator = torch.Generator().manual_seed(0)
    network = MLP(2, 1, width=256, depth=5, activation="sine", omega=30.0, generator=generator)
    assert 0.001 < network(points(500, 2)).std().item() < 1
