"""Field = encoding ∘ network: a signal as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from alfilter.core.residual_loss import ResidualLoss
from alfilter.encodings import Encoding
from alfilter.encodings.base import Pieces, Situation
from alfilter.errors import UserError
from alfilter.networks import Network


class CompiledField(Protocol):
    """A field, over the same numbers, whose loss and gradient at some samples are one compiled call."""

    def gradient(self, loss: ResidualLoss, numbers: Tensor, gradient: Tensor) -> Callable[..., float]:
        """numbers: all parameters in one buffer, (total,). gradient: laid out alike; every call adds to it.

        The function is called as `ops.grid_mlp.GridGradient` is.
        """


class Field(nn.Module):
    """A signal as a function: coordinates (..., d) in [-1, 1] to values (..., c) in the signal's own units.

    The network works around zero; `shift` and `scale` bring its output to the signal's range.
    spec: what rebuilds this field (method, sizes, options), kept in its model file.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, encoding: Encoding, network: Network, spec: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.encoding = encoding
        self.network = network
        self.spec = spec or {}
        self.signal: dict[str, Any] = {}  # facts of the fitted signal, filled by a fit or a model file
        self.register_buffer("shift", torch.zeros(network.out_dim))
        self.register_buffer("scale", torch.ones(network.out_dim))

    @property
    def in_dim(self) -> int:
        return self.encoding.in_dim

    @property
    def out_dim(self) -> int:
        return self.network.out_dim

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_dim) → (..., out_dim)."""
        if x.shape[-1] != self.in_dim:
            raise UserError(f"this field takes {self.in_dim} coordinates in the last axis, got shape {tuple(x.shape)}")
        return torch.addcmul(self.shift, self.scale, self.network(self.encoding(x)))

    def limited(self, x: Tensor, cycles: Tensor) -> Tensor:
        """The values at x with the filter capped at `cycles` across the domain, () or (...). → (..., out_dim)."""
        return torch.addcmul(self.shift, self.scale, self.network(self.encoding.limited(x, cycles)))

    def outputs(self, x: Tensor) -> tuple[Tensor, ...]:
        """The values at every scale the network has, coarse to fine, each (..., out_dim); the last is the field's."""
        return tuple(self.scales(x))

    def scales(self, x: Tensor) -> Tensor:
        """`outputs` as one tensor (scales, ..., out_dim)."""
        return torch.addcmul(self.shift, self.scale, self.network.scales(self.encoding(x)))

    def adapt(self, step: int, progress: float, samples: Callable[[], Pieces], errors: Callable[[], Pieces]) -> None:
        """Let the encoding look at the signal and at the error, see `Situation`."""
        self.encoding.adapt(Situation(step, progress, samples, errors))

    def compiled(self) -> CompiledField | None:
        """A compiled twin for training: of a perceptron on grids, waves or coordinates; None if this is something else.

        All of the field's parameters are learned there, and nothing else. A class that changes what is computed and
        does not say how it compiles has none.
        """
        if overrides(self.encoding, "compiled_features") or overrides(self.network, "perceptrons"):
            return None
        features, network = self.encoding.compiled_features(), self.network.perceptrons()
        if features is None or network is None:
            return None
        twin = features.field(network, self.shift, self.scale)
        learned = {p.data_ptr() for p in self.parameters() if p.requires_grad}
        complete = len(list(self.parameters())) == len(learned) and learned == {t.data_ptr() for t in twin.tensors()}
        return twin if complete and twin.has_kernel() else None

    def set_range(self, low: Tensor, high: Tensor) -> None:
        """Let the network's -1 and 1 mean `low` and `high`, each (out_dim,)."""
        self.shift.copy_((low + high) / 2)
        self.scale.copy_((high - low) / 2)


_COMPUTED = ("forward", "filtered", "response")


def overrides(module: nn.Module, description: str) -> bool:
    """Whether a subclass changed what a module computes but not the method that describes it.

    >>> class Doubled(Encoding):
    ...     def forward(self, x): return 2 * x
    >>> overrides(Doubled(1, 1), "compiled_features")
    True
    """
    order = type(module).__mro__
    described = next(place for place, owner in enumerate(order) if description in vars(owner))
    return any(name in vars(owner) for owner in order[:described] for name in _COMPUTED)


def parameter_count(module: nn.Module) -> int:
    """The number of trained numbers."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
