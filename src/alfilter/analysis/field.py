"""What analysis needs of a field: an encoding and a network that can be looked at one by one."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor, nn

from alfilter.encodings import Encoding


class Field(Protocol):
    """v(x) = shift + scale ⊙ network(encoding(x)): `methods.Field`, or any module built like it.

    spec: what it was built from, of which errors name the method.
    """

    @property
    def encoding(self) -> Encoding: ...
    @property
    def network(self) -> nn.Module: ...
    @property
    def scale(self) -> Tensor: ...
    @property
    def spec(self) -> dict[str, Any]: ...
    @property
    def in_dim(self) -> int: ...
    @property
    def out_dim(self) -> int: ...

    def __call__(self, x: Tensor) -> Tensor:
        """x: (..., in_dim) → (..., out_dim)."""

    def limited(self, x: Tensor, cycles: Tensor) -> Tensor:
        """The values at x with the filter capped at `cycles` across the domain, () or (...). → (..., out_dim)."""

    def double(self) -> Any:
        """The field itself, its numbers in float64."""
