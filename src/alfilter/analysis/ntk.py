"""The empirical neural tangent kernel of a field: a simple exact version, and a fast one without a Jacobian."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from alfilter.analysis.field import Field
from alfilter.analysis.linear_layers import Linears
from alfilter.core import hash_grid
from alfilter.core.hash_grid import Layout
from alfilter.encodings import AlphaGrid, FilteredFourier
from alfilter.errors import UserError
from alfilter.runtime.stages import advance, stage

Part = Literal["network", "encoding", "both"]
Outputs = Literal["sum", "each"]
PARTS: tuple[Part, ...] = ("network", "encoding", "both")
_BYTES = 1 << 29  # of rows of a Jacobian held at once
_FILLED = 0.1  # rows with a smaller share of entries are kept sparse


def random_points(count: int, in_dim: int, seed: int = 0) -> Tensor:
    """Coordinates (count, d) drawn evenly from [-1, 1]^d, the paper's "randomly sampled coordinate batch"."""
    return torch.rand(count, in_dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 2 - 1


def line_points(count: int, in_dim: int, seed: int = 0, axis: int = -1) -> Tensor:
    """Coordinates (count, d) along one axis, the last, at -1 + 2i/count; the others rest at one random place.

    So many samples of one period: bin k of their Fourier transform is k cycles across the domain, with no leakage.

    >>> line_points(4, 1).squeeze(-1).tolist()
    [-1.0, -0.5, 0.0, 0.5]
    """
    points = random_points(1, in_dim, seed).repeat(count, 1)
    points[:, axis] = -1 + 2 * torch.arange(count, dtype=torch.float64) / count
    return points


def simple_ntk(field: Field, x: Tensor, parameters: Part = "both", outputs: Outputs = "sum") -> Tensor:
    """Θ_o(x, x') = ⟨∂f_o(x)/∂θ, ∂f_o(x')/∂θ⟩ from the rows of the Jacobian, one point after the other, in float64.

    Source: Jacot et al. 2018. parameters: which θ. outputs: `each` is Θ_o of every output o, `sum` is Σ_o Θ_o.
    x: (n, d) → (n, n), or (c, n, n). The reference of `empirical_ntk`, and as much memory as n rows of all parameters.
    """
    field, x = copy.deepcopy(field).double(), x.double()
    wanted = _trained(field, parameters)
    kernels = x.new_zeros(field.out_dim if outputs == "each" else 1, len(x), len(x))
    for output in range(field.out_dim):
        jacobian = x.new_empty(len(x), sum(p.numel() for p in wanted))
        for row, gradient in zip(jacobian, _rows(field, x, wanted, output), strict=True):
            row.copy_(gradient)
        kernels[output % len(kernels)] += jacobian @ jacobian.T
    return kernels if outputs == "each" else kernels[0]


def empirical_ntk(field: Field, x: Tensor, parameters: Part = "both", outputs: Outputs = "sum") -> Tensor:
    """The same kernel as `simple_ntk`, in time and memory that do not grow with the number of weights.

    A linear layer z = W a + b contributes (δ δᵀ) ⊙ (a aᵀ + 1), where row i of δ is ∂f_o/∂z at point i and the 1 is b's:
    two products of n × width matrices instead of n × (width · inputs). The α grid contributes (s sᵀ) ⊙ (V Vᵀ),
    s = ∂f_o/∂α and V the sparse interpolation weights. All linear layers of all networks are found while the network
    runs; other parameters (filters, tables) go row by row, sparse where the rows are, in blocks that fit in memory.

    float64 throughout: the small eigenvalues are the point.

    >>> from alfilter.methods import build
    >>> field = build("al-sine", in_dim=2, out_dim=3, width=8, grid=4)
    >>> kernel = empirical_ntk(field, random_points(5, 2))
    >>> kernel.shape, torch.allclose(kernel, simple_ntk(field, random_points(5, 2)))
    (torch.Size([5, 5]), True)
    """
    if x.dim() != 2 or len(x) == 0:
        raise UserError(f"the points of a kernel have the shape (n, {field.in_dim}), got {tuple(x.shape)}")
    field, x = copy.deepcopy(field).double(), x.double()
    wanted = _trained(field, parameters)
    return _kernels(field, x, wanted, outputs)


def _kernels(field: Field, x: Tensor, wanted: Sequence[nn.Parameter], outputs: Outputs) -> Tensor:
    alpha = _alpha_leaf(field.encoding, x, wanted)
    with Linears([p for p in field.network.parameters() if _is_in(p, wanted)], len(x)) as linears:
        values = field.network(_features(field.encoding, x, alpha)) * field.scale  # (n, c)
    layers = linears.layers()
    places = [layer.output for layer in layers] + ([] if alpha is None else [alpha])
    slopes = [_slopes(values[:, output], places) for output in range(field.out_dim)]
    kernels = x.new_zeros(field.out_dim if outputs == "each" else 1, len(x), len(x))
    for number, layer in enumerate(layers):
        _contract(kernels, [slope[number] for slope in slopes], layer.inputs_kernel())
    if alpha is not None:
        assert isinstance(field.encoding, FilteredFourier)
        _contract(kernels, [slope[-1].unsqueeze(-1) for slope in slopes], _grid_kernel(field.encoding.alpha, x))
    contracted = [p for layer in layers for p in (layer.weight, layer.bias) if p is not None]
    contracted += [field.encoding.alpha.values] if alpha is not None else []
    parts = [
        _connected(field, x, [p for p in part.parameters() if _is_in(p, wanted) and not _is_in(p, contracted)])
        for part in (field.network, field.encoding)
    ]
    work = [(others, output) for others in parts if others for output in range(field.out_dim)]
    if not work:
        return kernels if outputs == "each" else kernels[0]
    with stage(f"tangent kernel on {len(x):,} points", len(work) * len(x)):
        for others, output in work:
            kernels[output % len(kernels)] += _rows_kernel(field, x, others, output)
    return kernels if outputs == "each" else kernels[0]


def _trained(field: Field, parameters: Part) -> list[nn.Parameter]:
    """The trained parameters of the network, of the encoding, or of both."""
    if parameters not in PARTS:
        raise UserError(f"the parameters of a kernel are network, encoding or both, got {parameters!r}")
    parts: list[nn.Module] = [] if parameters == "encoding" else [field.network]
    parts += [] if parameters == "network" else [field.encoding]
    trained = [p for part in parts for p in part.parameters() if p.requires_grad]
    if not trained:
        raise UserError(f"the {parameters} of this field has no trained parameters; ask for those of the network")
    return trained


def _is_in(tensor: Tensor, tensors: Sequence[Tensor]) -> bool:
    return any(tensor is other for other in tensors)


def _alpha_leaf(encoding: nn.Module, x: Tensor, wanted: Sequence[Tensor]) -> Tensor | None:
    """α at the points as a variable of its own (n,), where the kernel asks for the α grid."""
    if not isinstance(encoding, FilteredFourier) or not _is_in(encoding.alpha.values, wanted):
        return None
    alpha: Tensor = encoding.alpha(x)
    return alpha.detach().requires_grad_()


def _features(encoding: nn.Module, x: Tensor, alpha: Tensor | None) -> Tensor:
    if alpha is None:
        return encoding(x).detach()  # type: ignore[no-any-return]
    assert isinstance(encoding, FilteredFourier)
    return encoding.filtered(x, alpha)


def _slopes(values: Tensor, places: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """∂f_o/∂z of every place, row by row: the points are independent, so that of the sum holds all rows."""
    return torch.autograd.grad(values.sum(), places, retain_graph=True, materialize_grads=True) if places else ()


def _contract(kernels: Tensor, slopes: Sequence[Tensor], inputs: Tensor) -> None:
    """kernels[o] += (δ_o δ_oᵀ) ⊙ inputs; with one kernel for all outputs, their sum."""
    for output, delta in enumerate(slopes):
        kernels[output % len(kernels)].addcmul_(delta @ delta.T, inputs)


def _grid_kernel(grid: AlphaGrid, x: Tensor) -> Tensor:
    """unit² V Vᵀ, V the interpolation weights of the points on the nodes: (n, n)."""
    shape = grid.values.shape[:-1]
    index, weight = hash_grid.corners(x, Layout.of([tuple(size - 1 for size in shape)]))  # (n, 1, 2^d)
    rows = torch.arange(len(x)).repeat_interleave(index.shape[-1])
    return grid.unit**2 * _gram(rows.numpy(), index.flatten().numpy(), weight.flatten().numpy(), len(x), shape.numel())


def _gram(rows: Any, columns: Any, values: Any, count: int, width: int) -> Tensor:
    """J Jᵀ of a sparse J (count, width) given entry by entry; entries in one place add up."""
    from scipy.sparse import csr_matrix

    matrix = csr_matrix((values, (rows, columns)), shape=(count, width))
    return torch.from_numpy((matrix @ matrix.T).toarray())


def _connected(field: Field, x: Tensor, parameters: list[nn.Parameter]) -> list[nn.Parameter]:
    """Those parameters on which the values depend at all."""
    if not parameters:
        return []
    grads = torch.autograd.grad(field(x).sum(), parameters, allow_unused=True)
    return [p for p, grad in zip(parameters, grads, strict=True) if grad is not None]


def _rows(field: Field, x: Tensor, parameters: Sequence[Tensor], output: int) -> Iterator[Tensor]:
    """∂f_o(x_i)/∂θ of every point: (P,) each."""
    for i in range(len(x)):
        grads = torch.autograd.grad(field(x[i : i + 1])[0, output], parameters, materialize_grads=True)
        yield torch.cat([grad.flatten() for grad in grads])
        advance()


def _entries(row: Tensor) -> tuple[Tensor, Tensor]:
    """Where a row is not zero, and what it is there."""
    index = row.nonzero().squeeze(-1)
    return index, row[index]


def _rows_kernel(field: Field, x: Tensor, parameters: Sequence[Tensor], output: int) -> Tensor:
    """J Jᵀ from rows of J: (n, n)."""
    first = next(_rows(field, x[:1], parameters, output))
    if int(first.count_nonzero()) < _FILLED * len(first):
        entries = [_entries(row) for row in _rows(field, x, parameters, output)]
        rows = torch.arange(len(x)).repeat_interleave(torch.tensor([len(index) for index, _ in entries]))
        columns, values = (torch.cat(list(parts)) for parts in zip(*entries, strict=True))
        return _gram(rows.numpy(), columns.numpy(), values.numpy(), len(x), len(first))
    height = max(1, _BYTES // (8 * len(first)))
    kernel = x.new_zeros(len(x), len(x))
    for i in range(0, len(x), height):
        above = torch.stack(list(_rows(field, x[i : i + height], parameters, output)))
        for j in range(i, len(x), height):
            beside = above if j == i else torch.stack(list(_rows(field, x[j : j + height], parameters, output)))
            block = above @ beside.T
            kernel[i : i + height, j : j + height] = block
            kernel[j : j + height, i : i + height] = block.T
    return kernel
