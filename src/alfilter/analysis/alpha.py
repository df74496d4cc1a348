"""Maps over the domain of α(x) and of the per-scale responses H̄_j(α(x))."""

from __future__ import annotations

from torch import Tensor, nn

from alfilter.encodings import FilteredFourier
from alfilter.tasks.fit import sample_grid


def filtered_encoding_of(field: nn.Module) -> FilteredFourier | None:
    """The filtered encoding inside a field; None for methods that have no α."""
    encoding = getattr(field, "encoding", None)
    return encoding if isinstance(encoding, FilteredFourier) else None


def alpha_map(encoding: FilteredFourier, shape: tuple[int, ...]) -> Tensor:
    """α in channel units on a regular grid over the domain: (*shape,)."""
    device = encoding.alpha.values.device
    return sample_grid(lambda x: encoding.alpha(x.to(device)).unsqueeze(-1), shape).squeeze(-1)


def response_maps(encoding: FilteredFourier, shape: tuple[int, ...]) -> Tensor:
    """H̄_j(α(x)) of every dyadic scale j on a regular grid: (L, *shape)."""
    device = encoding.alpha.values.device
    return sample_grid(lambda x: encoding.responses(x.to(device)), shape).movedim(-1, 0)
