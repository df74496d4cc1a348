"""What every encoding is: coordinates (..., d) to features (..., C), and what else a trainer may ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from alfilter.errors import UserError
from alfilter.ops.fourier_mlp import FourierFeatures
from alfilter.ops.grad_buffers import grad_buffers
from alfilter.ops.grid_mlp import GridFeatures

_NO_FILTER = "this method has no filter that could cap its frequency; take al-grid, al-sine or al-relu"

Pieces = Iterator[tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Situation:
    """What an encoding may look at while it is trained.

    step: optimiser steps done. progress: share of the run that is over, in [0, 1]. samples: piece by piece, coordinates
    (n, d) and values (n, c) of the signal, or of a random part of a large one. errors: coordinates (n, d) and the
    field's mean squared error (n,) there, now. Both are computed only when called, and depend on (seed, step) alone.
    """

    step: int
    progress: float
    samples: Callable[[], Pieces]
    errors: Callable[[], Pieces]


class Encoding(nn.Module, ABC):
    """Maps coordinates in [-1, 1]^d to features.

    in_dim: the number of coordinates d. out_dim: the number of features C.
    """

    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__()
        self.in_dim = in_dim
        self.out_dim = out_dim

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """x: (..., in_dim) → (..., out_dim)."""

    def first_bound(self) -> Tensor:
        """Half-width of the uniform start of a sine network's first weights, feature by feature: (out_dim,).

        SIREN's rule is 1/C for C inputs. An encoding whose features differ in kind may say otherwise.
        """
        return torch.full((self.out_dim,), 1 / self.out_dim)

    def onnx(self, graph: Any, x: str) -> str:
        """Append the operations of `forward` to an ONNX graph, and name their result.

        graph: an `alfilter.export.graph.Graph`. x: the name of the coordinates (n, d) in it. An encoding of your own
        that has this can be exported.
        """
        del graph, x
        raise UserError(
            f"ONNX export does not know the encoding {type(self).__name__}; give it a method onnx(graph, x)"
        )

    def smoothness(self, reduction: str = "sum") -> Tensor:
        """The total variation of the field the encoding owns; zero when it owns none."""
        del reduction
        return torch.zeros(())

    def parsimony(self) -> Tensor:
        """The share of its levels that pass, averaged over the domain; zero for an encoding without a filter.

        Linear in the parameters: training takes its gradient once.
        """
        return torch.zeros(())

    def filter_parameters(self) -> list[Tensor]:
        """What places the filter, apart from the features that it filters; none for an encoding without one."""
        return []

    def limited(self, x: Tensor, cycles: Tensor) -> Tensor:
        """The features at x without what is finer than `cycles` across the domain, () or (...)."""
        del x, cycles
        raise UserError(_NO_FILTER)

    def alpha_at(self, cycles: Tensor) -> Tensor:
        """Where on its axis the filter's cut-off is `cycles` across the domain. (...) → (...)."""
        del cycles
        raise UserError(_NO_FILTER)

    def compiled_features(self) -> GridFeatures | FourierFeatures | None:
        """What `forward` computes, as data, if it is a lookup on grids or waves: training has a faster way to do it.

        A subclass that overrides `forward` and not this is trained the plain way.
        """
        return None

    def grad_buffers(self, by_address: Mapping[int, Tensor]) -> AbstractContextManager[None]:
        """Inside, in this thread, gradients of large tables are added into these buffers without a copy.

        by_address: `parameter.data_ptr()` → a buffer of the parameter's shape.
        """
        return grad_buffers(by_address)

    def constrain(self) -> None:
        """Bring the parameters back into their domain; called after every optimiser step."""

    def validate(self) -> None:
        """Raise a UserError if parameters or buffers hold what `forward` does not expect: an index out of range.

        Called after they were read from a file: compiled code trusts them.
        """

    def adapt(self, situation: Situation) -> None:
        """Look at the signal or at the error, and change what the gradient cannot: which places get features.

        Called before the first step and after every step. It may modify only fixed-size buffers, in place (replicas
        of the field share them), by a rule without hidden state, so that a resumed run goes the same way.
        """
