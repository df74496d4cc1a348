"""What the training loop asks of a task: samples to learn from, a loss that adds up, scores at the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from alfilter.config import Density
from alfilter.core.residual_loss import ResidualLoss
from alfilter.errors import UserError
from alfilter.evaluate import Evaluate, Scores
from alfilter.signals import Signal

if TYPE_CHECKING:
    from alfilter.tasks.gap_filling import Filling
    from alfilter.tasks.pyramid import Pyramid

Chunk = tuple[Tensor, Tensor]  # coordinates (n, d), targets (n, c)

_PERMUTED = 1 << 24  # up to here an epoch is a permutation; beyond, samples are drawn independently


class Task(ABC):
    """A learning problem over coordinates in [-1, 1]^d."""

    in_dim: int
    out_dim: int
    samples: tuple[int, ...] | None  # samples per axis, where the signal is a grid
    unit: str = "dB"  # of `quality`

    def observation(self) -> tuple[int, int] | None:
        """How many samples are seen, and how many there are; none where samples are made as needed."""
        return None

    def density(self) -> Density | None:
        """How densely the signal is seen, for presets that follow it."""
        observation = self.observation()
        return None if observation is None else Density.of(self.in_dim, *observation)

    @property
    def has_gaps(self) -> bool:
        """Whether the field is asked for values between the samples it sees."""
        return False

    @property
    def has_noise(self) -> bool:
        """Whether the samples are said to be uncertain, so that a field should not go through them."""
        return False

    def set_sampling(self, sampling: str) -> None:  # noqa: B027
        """Choose how samples are drawn, before a fit; only shapes have a choice."""

    def filling(self) -> Filling | None:
        """Values between the seen samples, made from these alone; none where nothing is unseen."""
        raise UserError("option 'fill' is for grids and scattered points, whose samples have gaps; leave it at 0")

    def pyramid(self) -> Pyramid | None:
        """The signal's coarser levels of detail, to be learned beside it; none where it is too small for any."""
        raise UserError("option 'detail' is for grids all of whose samples are seen; leave it at 0")

    @abstractmethod
    def batch_size(self, batch: int | None) -> int:
        """How many samples one step sees."""

    def default_batch(self) -> int | None:
        """The default number of samples per step; None leaves the choice to `batch_size`."""
        return None

    def prepare(self, step: int, seed: int, batch: int | None) -> None:  # noqa: B027
        """Called before the pieces of a step are requested, for samples that another process must deliver in time."""

    def on_worker_start(self) -> None:  # noqa: B027
        """Called in a worker process as it starts: what `prepare` fetches is fetched by the main process alone."""

    @abstractmethod
    def pieces(self, step: int, seed: int, batch: int | None, micro: int) -> Sequence[Any]:
        """The samples of a step in pieces of at most `micro`: a pure function of its arguments, so that runs resume."""

    @abstractmethod
    def load(self, piece: Any) -> Chunk:
        """Coordinates and targets of one piece; called in several threads or processes."""

    @abstractmethod
    def output_range(self) -> tuple[Tensor, Tensor]:
        """Values (c,) that the network's -1 and 1 should mean."""

    @abstractmethod
    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The data loss *summed* over the samples of a chunk, so that chunks add up to the batch.

        prediction: (n, c), or (k, n, c) of k predictions whose losses are added. target: (n, c).
        """

    def loss_and_grad(self, prediction: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of `loss`, and its gradient by the prediction; tasks that know the latter need no autograd here."""
        with torch.enable_grad():
            leaf = prediction.detach().requires_grad_()
            loss = self.loss(leaf, target)
        return loss.detach(), torch.autograd.grad(loss, leaf)[0]

    def residual_loss(self) -> ResidualLoss | None:
        """The loss of `loss` as data, where it is a power of the residual: compiled steps differentiate it themselves.

        A task that overrides `loss` must override this as well.
        """
        return None

    @abstractmethod
    def quality(self, loss: float) -> float:
        """The data loss as the number that is displayed (dB for pictures)."""

    @abstractmethod
    def evaluate(self, field: Evaluate) -> Scores:
        """The final scores."""

    def estimate(self, field: Evaluate) -> Scores:
        """The final scores; of a large signal from some of its samples, as `Scores.estimate` then says."""
        return self.evaluate(field)

    @property
    def is_estimated(self) -> bool:
        """Whether `estimate` looks at some of the samples only."""
        return False

    def scored_places(self) -> int | None:
        """How many places `estimate` asks the field for; none where that is not known beforehand."""
        return None

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The facts that identify the signal; a run is resumed only with the same ones."""

    def facts(self) -> dict[str, Any]:
        """What a model file keeps of the signal."""
        return self.describe()


def check_signal(task: Task, signal: Any, wanted: type) -> None:
    """Refuse what is no signal of the wanted kind, above all a raw array."""
    if isinstance(signal, wanted):
        return
    name = type(task).__name__
    if isinstance(signal, Signal):
        raise UserError(
            f"{name} takes a {wanted.__name__}, got a signal of kind {signal.kind!r}; take that kind's task"
        )
    what = type(signal).__module__.partition(".")[0] + "." + type(signal).__name__
    if isinstance(signal, str):
        raise UserError(
            f"{name} takes a signal, got the text {signal[:60]!r}; {name}.from_file({signal[:60]!r}) reads it"
        )
    raise UserError(f"{name} takes a signal, got {what}; {name}.from_array(…) makes one of an array")


def step_generator(seed: int, step: int) -> torch.Generator:
    """The random numbers of one step, independent of how the run got there."""
    return torch.Generator().manual_seed((seed * 1_000_003 + step) % (1 << 63))


class EpochSampler:
    """Mini-batches that go through a permutation of the samples before any comes again.

    The index set of a step depends on (seed, step) alone, so nothing has to be stored to resume.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._cached: tuple[tuple[int, int], Tensor] | None = None

    def index(self, step: int, seed: int, batch: int) -> Tensor:
        """Positions (batch,) in [0, count)."""
        if self.count > _PERMUTED:
            return torch.randint(self.count, (batch,), generator=step_generator(seed, step))
        per_epoch = max(1, self.count // batch)
        epoch, position = divmod(step, per_epoch)
        return self._permutation(seed, epoch)[position * batch : (position + 1) * batch]

    def _permutation(self, seed: int, epoch: int) -> Tensor:
        if self._cached is None or self._cached[0] != (seed, epoch):
            order = torch.randperm(self.count, generator=step_generator(seed ^ 0x5EED, epoch))
            self._cached = (seed, epoch), order
        return self._cached[1]
