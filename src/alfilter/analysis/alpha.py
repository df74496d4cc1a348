"""Maps over the domain of α(x), of the cut-off and of the responses H̄_j(α(x)), and the filter's curves over α."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from alfilter.core import band_response
from alfilter.encodings import FilteredEncoding
from alfilter.evaluate import sample_grid


def filtered_encoding_of(field: nn.Module) -> FilteredEncoding | None:
    """The filtered encoding inside a field; None for methods that have no α."""
    encoding = getattr(field, "encoding", None)
    return encoding if isinstance(encoding, FilteredEncoding) else None


def alpha_map(encoding: FilteredEncoding, shape: tuple[int, ...]) -> Tensor:
    """α in units of its axis (channels or grid levels) on a regular grid over the domain: (*shape,)."""
    device = encoding.alpha.values.device
    return sample_grid(lambda x: encoding.alpha(x.to(device)).unsqueeze(-1), shape).squeeze(-1)


def frequency_map(encoding: FilteredEncoding, shape: tuple[int, ...]) -> Tensor:
    """The cut-off in cycles across the domain on a regular grid over it: (*shape,)."""
    device = encoding.alpha.values.device
    return sample_grid(lambda x: encoding.local_frequency(x.to(device)).unsqueeze(-1), shape).squeeze(-1)


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
