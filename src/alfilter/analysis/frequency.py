"""Local frequency in units that people read, and fields whose frequency is capped."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from alfilter.analysis.alpha import filtered_encoding_of
from alfilter.encodings import FilteredEncoding
from alfilter.errors import UserError
from alfilter.methods.field import Field


def local_frequency(field: Field, x: Tensor) -> Tensor:
    """The cut-off of a field's filter at x, in cycles across the domain: what passes there is slower. (..., d) → (...).

    Divided by `samples_across` it is in cycles per sample. Only methods with a filter (al-sine, al-relu, al-grid) have
    one; any other is a `UserError`.

    >>> from alfilter.methods import build
    >>> field = build("al-grid", in_dim=2, out_dim=3, samples=(64, 64), levels=4, base=4, finest=32)
    >>> local_frequency(field, torch.zeros(1, 2)).tolist()  # a level of 32 cells carries 16 cycles
    [16.0]
    """
    encoding = filter_of(field)
    if x.shape[-1] != field.in_dim:
        raise UserError(f"this field takes {field.in_dim} coordinates in the last axis, got shape {tuple(x.shape)}")
    return encoding.local_frequency(x)


def filter_of(field: Field) -> FilteredEncoding:
    """The encoding of a field that has a filter; the error names a method without one."""
    encoding = filtered_encoding_of(field)
    if encoding is None:
        name = field.spec.get("method") or "this field"
        raise UserError(f"{name} has no filter and no local frequency; fit with al-grid, al-sine or al-relu")
    return encoding


def samples_across(shape: Sequence[int]) -> int:
    """Steps between samples across the domain, along the longest axis: cycles across it over this are per sample.

    The domain's ends sit on the first and the last sample.

    >>> samples_across((512, 768))
    767
    """
    return max(1, max(shape) - 1)


def capped(field: Field, cycles: float) -> Callable[[Tensor], Tensor]:
    """The field with α capped: nothing faster than `cycles` across the domain passes the filter. (..., d) → (..., c).

    >>> from alfilter.methods import build
    >>> field = build("al-grid", in_dim=2, out_dim=3, samples=(64, 64), levels=4, base=4, finest=32)
    >>> capped(field, 4.0)(torch.zeros(5, 2)).shape
    torch.Size([5, 3])
    """
    filter_of(field)  # a method without one is refused here
    limit = torch.tensor(float(cycles))
    return lambda x: field.limited(x, limit)
