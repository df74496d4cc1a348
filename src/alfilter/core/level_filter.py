"""f'_j = H_j(α) f_j: the features of a learned grid's levels behind the filter."""

from __future__ import annotations

import torch
from torch import Tensor

from alfilter.core.filter import level_response
from alfilter.core.hash_grid import Layout, lookup


def filtered_lookup(
    table: Tensor, x: Tensor, alpha: Tensor, layout: Layout, kappa: float, coordinates: bool = False
) -> Tensor:
    """[x,] H_0(α) g_0(x), …, H_{L-1}(α) g_{L-1}(x): the features of `hash_grid.lookup`, each level times its response.

    table: (R, F). x: (..., d). alpha: (...) in levels, H_j(α) = σ(κ(α - j + ½)) → (..., [d +] L F).

    >>> table, x, alpha = torch.tensor([[1.0], [3.0], [9.0]]), torch.tensor([[-0.5]]), torch.tensor([-0.5])
    >>> filtered_lookup(table, x, alpha, Layout.of([(2,)]), kappa=2.0)
    tensor([[1.]])
    """
    features = torch.unflatten(lookup(table, x, layout, None, 0.0, False), -1, (layout.levels, -1))  # (..., L, F)
    filtered = (features * level_response(alpha, layout.levels, kappa).unsqueeze(-1)).flatten(-2)
    return torch.cat((x, filtered), dim=-1) if coordinates else filtered
