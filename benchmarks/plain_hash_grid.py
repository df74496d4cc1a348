"""A multiresolution hash grid in plain PyTorch: the peer that `fit_rate.py` compares with.

What one writes after Müller et al. 2022 without compiled code: one embedding table, an index and a weight per corner,
`nn.Sequential`, autograd, `torch.optim.Adam`. Sizes, batch and rates are those of hash-grid's preset `default`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from alfilter.core.hash_grid import PRIMES
from alfilter.methods import build, training
from alfilter.tasks import ImageTask


class PlainHashGrid(nn.Module):
    """[Σ_c w_c(x) T_l[h_l(c)]] for every level, then a ReLU network; cells: (L, d) per axis, rows: of every level."""

    def __init__(self, cells: Tensor, rows: list[int], features: int, width: int, depth: int, out_dim: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(sum(rows), features).uniform_(-1e-4, 1e-4))
        dims = cells.shape[1]
        self.register_buffer("cells", cells)
        self.register_buffer("first", torch.tensor([0, *itertools.accumulate(rows)][:-1]))
        self.register_buffer("rows", torch.tensor(rows))
        self.register_buffer("dense", (cells + 1).prod(1) <= torch.tensor(rows))
        self.register_buffer("primes", torch.tensor(PRIMES[:dims], dtype=torch.int64))
        strides = torch.ones_like(cells)
        for k in range(1, dims):
            strides[:, k] = strides[:, k - 1] * (cells[:, k - 1] + 1)
        self.register_buffer("strides", strides)
        self.register_buffer("corners", torch.tensor(list(itertools.product((0, 1), repeat=dims))))  # (2^d, d)
        widths = [len(rows) * features, *[width] * depth]
        layers = [layer for i, o in itertools.pairwise(widths) for layer in (nn.Linear(i, o), nn.ReLU())]
        self.network = nn.Sequential(*layers, nn.Linear(width, out_dim))

    def forward(self, x: Tensor) -> Tensor:
        """(n, d) in [-1, 1] → (n, c)."""
        place = (x[:, None] + 1) / 2 * self.cells  # (n, L, d)
        low = torch.minimum(place.floor().long(), self.cells - 1)
        part = (place - low)[:, :, None]  # (n, L, 1, d)
        nodes = low[:, :, None] + self.corners  # (n, L, 2^d, d)
        weights = torch.where(self.corners == 1, part, 1 - part).prod(-1)  # (n, L, 2^d)
        hashed = nodes * self.primes
        mixed = hashed[..., 0]
        for k in range(1, hashed.shape[-1]):
            mixed = mixed ^ hashed[..., k]
        flat = (nodes * self.strides[:, None]).sum(-1)
        rows = torch.where(self.dense[:, None], flat, mixed % self.rows[:, None]) + self.first[:, None]
        features = (nn.functional.embedding(rows, self.table) * weights[..., None]).sum(2)  # (n, L, F)
        return self.network(features.flatten(1))


def plain_step(task: ImageTask) -> tuple[Callable[[], None], int]:
    """A training step of the peer on all of torch's threads, and the samples that it sees."""
    field, setting = (
        build("hash-grid", in_dim=2, out_dim=3, preset="default", samples=task.samples),
        training("hash-grid"),
    )
    layout, options = field.encoding.compiled_features().layout, field.spec["options"]
    cells = torch.tensor(layout.cells)
    model = PlainHashGrid(cells, list(layout.rows), options["features"], options["width"], options["depth"], 3)
    groups = [
        {"params": model.network.parameters(), "lr": setting.lr},
        {"params": [model.table], "lr": setting.lr_encoding},
    ]
    optimiser = torch.optim.Adam(groups, betas=(0.9, setting.beta2), eps=setting.epsilon)
    batch = task.batch_size(setting.batch)
    steps = itertools.count()

    def run() -> None:
        x, y = task.load(task.pieces(next(steps), 0, batch, batch)[0])
        optimiser.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimiser.step()

    return run, batch
