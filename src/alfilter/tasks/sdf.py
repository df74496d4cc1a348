"""Learning a shape: signed distances near its surface and around it, measured ahead of and beside the training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alfilter.core.residual_loss import ResidualLoss
from alfilter.errors import UserError
from alfilter.evaluate import Evaluate, Scores, distances_at, surface_of
from alfilter.geometry.distance import nearest_points
from alfilter.geometry.distance_worker import DistanceWorker
from alfilter.geometry.repair import MANY, Triangles
from alfilter.geometry.strays import Clearance
from alfilter.geometry.surface import Surface
from alfilter.metrics.shape import compare
from alfilter.runtime.fork_pool import shared_copy
from alfilter.signals import ShapeSignal, Signal, read_shape
from alfilter.signals.arrays import as_array
from alfilter.tasks.base import Chunk, Task, check_signal, step_generator
from alfilter.tasks.shape_sampling import SAMPLINGS, SOURCE, Sampling, scatter

BATCH = 10_000
RESOLUTION = 256  # of the surface that is scored
_JUDGED = 40_000  # samples of the distance's error
_SEEDS = 3  # whose blocks are kept: those of a fit's steps, of a look at its quality, and of an adaptation


class SdfTask(Task):
    """∑_fine (f - s)² + 0.01 ∑_coarse (f - s)², s the signed distance of points scattered around the surface.

    That is the sampling `source`; `graded` adds a scale between the two and takes absolute errors (`scatter.py`).

    The protocol of BACON (its `MeshSDF` and `overfit_sdf_loss_total`), which the paper adopts: a point of the surface
    plus Laplace noise of scale 0.1 for even and 0.001 for odd samples, wrapped into the box [-0.5, 0.5]³; lengths in
    the loss are in that box's units, those of the field in the domain [-1, 1]³, twice as large.

    Differs from the source in: points of a mesh are uniform by area, not its vertices, and their distances exact; the
    loss is a mean, not a sum (the same to Adam); samples are measured in blocks, `reuse` uses of each on average, and a
    step draws from the last `window` blocks. Block k depends on the seed and k alone, and step t uses the blocks up to
    k = ⌊t batch / (reuse block)⌋, so a resumed run sees the very same samples. The next block is measured by a thread,
    or a process, of its own while the others train.

    signal: the shape, in the domain. observe: a shape is always seen as a whole.
    """

    in_dim, out_dim = 3, 1
    samples = None

    def __init__(
        self,
        signal: Signal,
        observe: str = "all",
        seed: int = 0,
        *,
        block: int = 1 << 17,
        reuse: int = 32,
        window: int = 4,
    ) -> None:
        check_signal(self, signal, ShapeSignal)
        assert isinstance(signal, ShapeSignal)
        if observe != "all":
            raise UserError(
                f"a shape is seen as a whole, observe={observe} is for pictures; leave it out", arguments=["observe"]
            )
        self.signal, self.seed = signal, seed
        self.block, self.reuse, self.window = block, reuse, window
        self.sampling = SOURCE
        self._is_worker = False
        self._blocks: dict[tuple[int, int], Chunk] = {}  # by seed and number
        self._seeds: list[int] = []  # whose blocks are there, the last used at the end
        self._coming: dict[tuple[int, int], Future[Chunk]] = {}
        self._thread = ThreadPoolExecutor(  # made inside a step, whose flushing of denormals it would take over
            1, "alfilter-samples", torch.set_flush_denormal, (False,)
        )
        self._worker: DistanceWorker | None = None
        self._table: Tensor | None = None  # the blocks of the window, in memory that helping processes see
        self._there: tuple[int, int] | None = None  # the seed and the newest block of the table

    @classmethod
    def from_file(cls, path: str | Path, seed: int = 0) -> SdfTask:
        """The task of a PLY, OBJ, STL, OFF, GLB or XYZ file."""
        return cls(read_shape(path), seed=seed)

    @classmethod
    def from_array(
        cls, vertices: Any, faces: Any = None, *, normals: Any = None, seed: int = 0, **options: Any
    ) -> SdfTask:
        """The task of a mesh, or of points with outward normals, in the user's units, of numpy or torch.

        vertices: (n, 3). faces: (m, 3), positions among them. normals: (n, 3), where there are no faces. options: of
        the sampling, as the class takes them.
        """
        if (faces is None) == (normals is None):
            raise UserError("a shape is made of vertices and either faces or normals; give one of the two")
        points = _rows(vertices, "vertices")
        if faces is None:
            return cls(ShapeSignal.from_cloud(points, _rows(normals, "normals")), seed=seed, **options)
        corners = _rows(faces, "faces")
        if corners.dtype.kind not in "ui":
            raise UserError(f"faces are whole numbers, positions among the vertices, got {corners.dtype}; convert them")
        return cls(ShapeSignal.from_mesh(points, corners), seed=seed, **options)

    def set_sampling(self, sampling: str) -> None:
        """Spread and weigh samples in one of the ways of `SAMPLINGS`."""
        if SAMPLINGS[sampling] != self.sampling:
            self.sampling = SAMPLINGS[sampling]
            self._blocks.clear()
            self._coming.clear()
            self._table = self._there = None

    def batch_size(self, batch: int | None) -> int:
        return max(2, BATCH if batch is None else batch // 2 * 2)

    def prepare(self, step: int, seed: int, batch: int | None) -> None:
        """Put the step's blocks into the table, and start measuring the next one beside the training."""
        if self._is_worker:
            return
        newest, due = self._newest(step, batch)
        self._gather(seed, newest)
        if due:
            self._ask(seed, newest + 1)

    def on_worker_start(self) -> None:
        self._is_worker = True

    def pieces(self, step: int, seed: int, batch: int | None, micro: int) -> Sequence[Chunk]:
        self.prepare(step, seed, batch)
        size, period = self.batch_size(batch), self.sampling.period
        assert self._table is not None
        recent = self._table[: min(self.window, self._newest(step, batch)[0] + 1) * self._rows]
        index = torch.randint(len(recent) // period, (size,), generator=step_generator(seed, step))
        index = period * index + torch.arange(size) % period  # the scales alternate
        return [(recent, index[k : k + micro]) for k in range(0, size, micro)]

    def load(self, piece: Chunk) -> Chunk:
        """Points (n, 3) and [distance, weight] (n, 2) of a piece: rows of recent samples, and which of them."""
        rows = piece[0].index_select(0, piece[1])
        return rows[:, :3].contiguous(), rows[:, 3:]

    def output_range(self) -> tuple[Tensor, Tensor]:
        return torch.full((1,), -0.5), torch.full((1,), 0.5)  # the network's own unit is the source's

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        """target: (n, 2), the distance and the sample's weight."""
        error = (prediction - target[:, :1]) / 2
        return ((error.abs() if self.sampling.loss == "absolute" else error.square()) * target[:, 1:]).sum()

    def loss_and_grad(self, prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        error, weight = (prediction.detach() - target[:, :1]) / 2, target[:, 1:]
        if self.sampling.loss == "absolute":
            return (error.abs() * weight).sum(), error.sign() * (weight / 2)
        share = error * weight
        return (share * error).sum(), share

    def residual_loss(self) -> ResidualLoss:
        return ResidualLoss(1, 0.5, True) if self.sampling.loss == "absolute" else ResidualLoss(2, 0.25, True)

    def quality(self, loss: float) -> float:
        """The weighted error near the surface in dB: 60 dB is a thousandth of the box."""
        factor = -20 if self.sampling.loss == "absolute" else -10
        return factor * math.log10(max(loss / self.sampling.near, 1e-20))

    def evaluate(self, field: Evaluate, resolution: int = RESOLUTION) -> Scores:
        """Scores of the distance, and of the surface on a grid of `resolution` nodes along each axis."""
        try:
            surface = self.extract(field, resolution)
        except UserError:  # no surface at all yet
            surface = None
        return self.compare(field, surface)

    def compare(self, field: Evaluate, surface: Surface | None, points: int = 300_000, grid: int = 256) -> Scores:
        """Errors of the distance and, when its surface and the shape's faces are there, of the surface.

        All lengths are in units of the source's box, whose side is 1.
        """
        x, y = self._measure(1 << 32, 0, _JUDGED, SOURCE)
        error = np.abs(distances_at(field, x.numpy()) - y[:, 0].numpy()) / 2
        metrics = {"sdf_near": float(error[1::2].mean()), "sdf_far": float(error[::2].mean())}
        reference = self.signal.triangles
        if reference is None:
            return Scores(metrics, None, surface)
        if surface is None:
            return Scores({**metrics, "iou": 0.0}, None)
        ours, theirs = (Triangles(mesh.vertices / 2, mesh.faces) for mesh in (surface, reference))
        closed = self.signal.diagnosis is None or self.signal.diagnosis.watertight
        return Scores({**compare(ours, theirs, points=points, grid=grid, closed=closed), **metrics}, None, surface)

    def extract(self, field: Evaluate, resolution: int) -> Surface:
        """The field's surface in the domain, without bodies that the shape's distances contradict."""
        return surface_of(field, resolution, self.clearance)

    def describe(self) -> dict[str, Any]:
        return {**self.signal.describe(), "block": self.block, "reuse": self.reuse, "window": self.window}

    def facts(self) -> dict[str, Any]:
        return {**self.describe(), "clearance": self.clearance.describe()}

    @cached_property
    def clearance(self) -> Clearance:
        """Where the shape is not; of a cloud, farther from every point than its neighbours are from each other."""
        if self.signal.faces is not None:
            return Clearance.measure(self.distance)
        cloud = self.signal.vertices
        gap = float(np.quantile(nearest_points(cloud, cloud, 8)[0][:, -1], 0.99))
        return Clearance.measure(
            lambda points: (
                np.sign(self.distance(points)) * np.maximum(nearest_points(points, cloud, 1)[0][:, 0] - gap, 0.0)
            )
        )

    # ── samples ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _newest(self, step: int, batch: int | None) -> tuple[int, bool]:
        """The newest block that a step draws from, and whether it is time to ask for the next."""
        lasts = max(1, self.reuse * self.block // self.batch_size(batch))  # steps per block
        return step // lasts, step % lasts >= lasts // 4

    def _gather(self, seed: int, newest: int) -> None:
        """Put the last `window` blocks up to `newest` into the table, (n, 5); older ones are dropped.

        A look at samples of another seed in between leaves the blocks as they are: measuring takes longer than steps.
        """
        if self._there == (seed, newest):
            return
        blocks = [self._ready(seed, number) for number in range(max(0, newest - self.window + 1), newest + 1)]
        rows = torch.cat([torch.cat(block, dim=1) for block in blocks])
        if self._table is None:
            self._table = shared_copy(torch.empty(self.window * self._rows, rows.shape[1]))
        self._table[: len(rows)].copy_(rows)
        self._there = seed, newest
        self._seeds = [*(each for each in self._seeds if each != seed), seed][-_SEEDS:]
        past = newest - self.window
        for key in [k for k in self._blocks if k[0] not in self._seeds or (k[0] == seed and k[1] <= past)]:
            del self._blocks[key]

    @property
    def _rows(self) -> int:
        """Samples of a block: a whole number of turns."""
        return max(1, self.block // self.sampling.period) * self.sampling.period

    def _ready(self, seed: int, number: int) -> Chunk:
        key = seed, number
        if key not in self._blocks:
            coming = self._coming.pop(key, None)
            self._blocks[key] = self._next(seed, number) if coming is None else coming.result()
        return self._blocks[key]

    def _ask(self, seed: int, number: int) -> None:
        """Start the measurement of a block beside the training."""
        if (seed, number) not in self._coming and (seed, number) not in self._blocks:
            self._coming[seed, number] = self._thread.submit(self._next, seed, number, beside=True)

    def _next(self, seed: int, number: int, beside: bool = False) -> Chunk:
        """Block `number`."""
        return self._measure(seed, number, self._rows, self.sampling, beside)

    def _measure(self, seed: int, number: int, count: int, sampling: Sampling, beside: bool = False) -> Chunk:
        """Points (n, 3) and [distance, weight] (n, 2)."""
        points = scatter(self.signal, count, np.random.default_rng([seed, number]), sampling)
        distance = self._beside(points) if beside else self.distance(points)
        targets = np.stack([distance, np.resize(sampling.weights, count)], axis=1).astype(np.float32)
        return torch.from_numpy(points.astype(np.float32)), torch.from_numpy(targets)

    def distance(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Signed distances (n,) of points (n, 3); libigl's trees over many faces exist once, in the worker process."""
        many = self.signal.faces is not None and len(self.signal.faces) >= MANY
        return self._beside(points) if many and self.signal.holds_gil() else self.signal.distance(points)

    def _beside(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Distances by one thread while others train: this one, or that of the worker process, if it is there."""
        if self.signal.faces is None or not self.signal.holds_gil():
            return self.signal.distance(points, shared=False)
        try:
            if self._worker is None:
                self._worker = DistanceWorker(self.signal.vertices, self.signal.faces)
            return self._worker.distance(points)
        except OSError:
            self._worker = None
            return self.signal.distance(points)


def _rows(values: Any, what: str) -> NDArray[Any]:
    """Rows of three numbers."""
    array = as_array(values, what)
    if array.ndim != 2 or array.shape[1] != 3:
        raise UserError(f"expected {what} of shape (n, 3), got {array.shape}; reshape them")
    return array if what == "faces" else array.astype(np.float64)
