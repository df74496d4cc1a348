"""Local frequency: the filter's cut-off at places and as maps over the domain, and fields with a capped frequency."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from alfilter.analysis.field import Field
from alfilter.core import band_response
from alfilter.encodings import FilteredEncoding
from alfilter.errors import UserError
from alfilter.evaluate import distances_at, sample_grid
from alfilter.runtime.thread_pool import flushed_denormals

_LEAST = 1e-12  # cycles across the domain


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


def filtered_encoding_of(field: Field | nn.Module) -> FilteredEncoding | None:
    """The filtered encoding inside a field; None for methods that have no α."""
    encoding = getattr(field, "encoding", None)
    return encoding if isinstance(encoding, FilteredEncoding) else None


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
    return flushed_denormals()(lambda x: field.limited(x, limit))


def alpha_map(encoding: FilteredEncoding, shape: tuple[int, ...]) -> Tensor:
    """α in units of its axis (channels or grid levels) on a regular grid over the domain: (*shape,)."""
    device = encoding.alpha.values.device
    return sample_grid(lambda x: encoding.alpha(x.to(device)).unsqueeze(-1), shape).squeeze(-1)


def frequency_map(encoding: FilteredEncoding, shape: tuple[int, ...]) -> Tensor:
    """The cut-off in cycles across the domain on a regular grid over it: (*shape,)."""
    device = encoding.alpha.values.device
    return sample_grid(lambda x: encoding.local_frequency(x.to(device)).unsqueeze(-1), shape).squeeze(-1)


def cut_offs_at(encoding: FilteredEncoding, points: NDArray[Any]) -> NDArray[np.float64]:
    """The cut-off at places (n, d) in cycles across the domain, such as those of a surface's vertices: (n,).

    Above zero, so that it has a logarithm.

    >>> from alfilter.methods import build
    >>> field = build("al-grid", in_dim=3, out_dim=1, levels=4, base=4, finest=32)
    >>> cut_offs_at(filter_of(field), np.zeros((2, 3))).tolist()
    [16.0, 16.0]
    """
    device = encoding.alpha.values.device
    cycles = distances_at(lambda x: encoding.local_frequency(x.to(device)).unsqueeze(-1), points)
    return np.maximum(cycles.astype(np.float64), _LEAST)


def response_maps(encoding: FilteredEncoding, shape: tuple[int, ...]) -> Tensor:
    """H̄_j(α(x)) of every dyadic scale or grid level j on a regular grid over the domain: (L, *shape)."""
    device = encoding.alpha.values.device
    return sample_grid(lambda x: encoding.responses(x.to(device)), shape).movedim(-1, 0)


def pass_band(alpha: Tensor, channels: int, bandwidth: float, kappa: float) -> tuple[Tensor, Tensor, Tensor]:
    """First and last channel that passes at least half, and Σ_c H_B^c, the width in whole channels: (...) each.

    A band outside the axis has first > last.

    >>> first, last, width = pass_band(torch.tensor([0.0, 16.0]), channels=32, bandwidth=20.0, kappa=10.0)
    >>> first.tolist(), last.tolist(), width.round(decimals=2).tolist()
    ([0, 6], [10, 26], [10.5, 20.0])
    """
    response = band_response(alpha.double(), channels, bandwidth, kappa)  # (..., C)
    index = torch.arange(channels)
    passed = response >= 0.5 - 1e-9  # on a channel the response is a half up to rounding
    first = torch.where(passed, index, channels).amin(-1)
    last = torch.where(passed, index, -1).amax(-1)
    return first, last, response.sum(-1)
