"""The exact gradient of a batch of any size, computed in pieces that stay in cache, by all cores at once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from alfilter.config import Training
from alfilter.methods import Field
from alfilter.runtime.distributed import Processes
from alfilter.runtime.flat_params import FlatLayout
from alfilter.runtime.fork_pool import ForkPool, shared_copy
from alfilter.runtime.grad_buffers import grad_buffers
from alfilter.runtime.thread_pool import for_slices, workers
from alfilter.tasks.base import Chunk, Task, step_generator
from alfilter.training.bending import bending


@dataclass(frozen=True)
class Share:
    """What one member has done for a step: its part of every loss term, and which parameters it has a gradient of."""

    terms: dict[str, float]
    reached: list[bool]
    stopped: bool


class Team:
    """A field and its doubles, one a core: they share its numbers and own their gradients.

    Without doubles two of them would add to the same gradient in an order nobody knows, and no run could be repeated.
    The first does its part here, the others theirs in a `ForkPool` made at the first step: helpers see numbers
    and gradients in shared memory, and a task as it was then. With several processes under torchrun, `first` is the
    position of this one's first member among the `total` of all.

    `close` sends the helpers home and gives the field memory of its own again.
    """

    def __init__(self, field: Field, processes: Processes | None = None) -> None:
        count = workers() if next(field.parameters()).device.type == "cpu" else 1
        self.members = [field, *(_double(field) for _ in range(count - 1))]
        self.processes = processes or Processes()
        self.first, self.total = self.processes.worker_range(count)
        self.should_stop: Callable[[], bool] = lambda: False
        self._job: tuple[Task, Training]  # what the crew was made for
        self._crew: ForkPool[tuple[int, int], Share] | None = None
        self._sums: list[Tensor] = []  # every member's gradient, all parameters in one piece
        self._rooms: list[list[Tensor]] = []  # the same, a parameter each
        self._stop = torch.zeros(1, dtype=torch.uint8)

    def run(self, task: Task, setting: Training, step: int, seed: int) -> list[Share]:
        """Every member's share of a step."""
        if self._crew is None or self._job != (task, setting):
            self._crew = self._start(task, setting)
        self._stop.zero_()
        return self._crew.run((step, seed))

    def close(self) -> None:
        """Without helpers, and with the field's numbers where they were."""
        if self._crew is None:
            return
        self._crew.close()
        self._crew = None
        params = [p.data.clone() for p in self.members[0].parameters()]
        self._settle([*params, *(b.data.clone() for b in self.members[0].buffers())])

    def gather(self, shares: list[Share]) -> None:
        """Add the doubles' gradients to the field's, then the other processes', always in the same order."""
        mine, *others = self._sums
        for other in others:
            for_slices(lambda part, more=other: mine[part].add_(more[part]), len(mine))  # type: ignore[misc]
        for i, (p, room) in enumerate(zip(self.members[0].parameters(), self._rooms[0], strict=True)):
            p.grad = room if any(share.reached[i] for share in shares) else None
        self.processes.all_reduce_gradients(self.members[0].parameters())

    def _start(self, task: Task, setting: Training) -> ForkPool[tuple[int, int], Share]:
        self.close()
        self._job = task, setting
        self._move(shared_copy if len(self.members) > 1 else Tensor.clone)
        packing = FlatLayout(list(self.members[0].parameters()))
        room = next(self.members[0].parameters()).detach().new_zeros(packing.total)
        self._sums = [room, *(shared_copy(room) for _ in self.members[1:])]
        self._rooms = [packing.views(total) for total in self._sums]
        self._stop = shared_copy(self._stop)
        return ForkPool(self._work, len(self.members), enter=task.follow)

    def _move(self, into: Callable[[Tensor], Tensor]) -> None:
        """Put the numbers of all members into memory that `into` gives, those of all parameters side by side."""
        params = [p.data for p in self.members[0].parameters()]
        packing = FlatLayout(params)
        numbers = packing.views(into(params[0].new_zeros(packing.total)))
        for place, number in zip(numbers, params, strict=True):
            place.copy_(number)
        self._settle([*numbers, *(into(b.data) for b in self.members[0].buffers())])

    def _settle(self, numbers: Sequence[Tensor]) -> None:
        """Let all members read and write these as their parameters and buffers."""
        for member in self.members:
            for tensor, number in zip([*member.parameters(), *member.buffers()], numbers, strict=True):
                tensor.data = number

    def _work(self, position: int, moment: tuple[int, int]) -> Share:
        """A member's share of a step: samples, then places between them where the setting asks for those."""
        task, setting = self._job
        self.members[position].zero_grad(set_to_none=True)  # the first piece's is taken as it is, not added to zeros
        params = self.members[position].parameters()
        with grad_buffers({p.data_ptr(): room for p, room in zip(params, self._rooms[position], strict=True)}):
            terms = {"data": self._samples(position, *moment)}
            if setting.fill > 0 and task.filling() is not None:
                terms["fill"] = self._filled(position, *moment)
            if setting.bend > 0:
                terms["bend"] = self._bent(position, *moment)
        return Share(terms, self._hand_over(position), bool(self._stop.item()))

    def _samples(self, position: int, step: int, seed: int) -> float:
        """The data loss of a member's pieces; it leaves off where it is told to stop."""
        (task, setting), field, share = self._job, self.members[position], 0.0
        total, size = self._sizes(task, setting)
        pieces = task.pieces(step, seed, setting.batch, size)
        for number in range(self.first + position, len(pieces), self.total):
            if position == 0 and self.should_stop():
                self._stop.fill_(1)
            if self._stop.item():
                break
            x, y = on_device(task.load(pieces[number]), field)
            if setting.jitter > 0:
                noise = torch.randn(x.shape, generator=step_generator(seed ^ 0x317, (step << 20) + number))
                x = x + noise.to(x.device) * x.new_tensor(task.spacing) * setting.jitter
            share += _backward(field, task, (x, y), total)
        return share

    def _filled(self, position: int, step: int, seed: int) -> float:
        """The loss against the filling at a member's share of the unseen samples."""
        (task, setting), field, share = self._job, self.members[position], 0.0
        filling = task.filling()
        assert filling is not None
        between = filling.pieces(step, seed, *self._sizes(task, setting))
        count = sum(len(piece) for piece in between)
        for number in range(self.first + position, len(between), self.total):
            share += _backward(field, task, on_device(filling.load(between[number]), field), count, setting.fill)
        return share

    def _bent(self, position: int, step: int, seed: int) -> float:
        """The penalty at a member's share of the places, a quarter as many as there are samples."""
        task, setting = self._job
        generator = step_generator(seed ^ 0xBE4D, (step << 20) + self.first + position)
        places = -(-task.batch_size(setting.batch) // (4 * self.total))
        bent = bending(self.members[position], task.gaps(), places, setting.bend_power, generator)
        term = setting.bend / self.total * bent
        term.backward()  # type: ignore[no-untyped-call]
        return term.item()

    def _sizes(self, task: Task, setting: Training) -> tuple[int, int]:
        """Samples of a step, and of a piece."""
        total = task.batch_size(setting.batch)
        rounds = -(-total // (self.total * setting.micro))
        # as large as they may be and all alike: nobody waits for the one whose turn has a rest of the batch in it
        return total, -(-total // (self.total * rounds))

    def _hand_over(self, position: int) -> list[bool]:
        """Put a member's gradients where all are added up; which of them there are."""
        grads = [p.grad for p in self.members[position].parameters()]
        places, found = [], []
        for place, grad in zip(self._rooms[position], grads, strict=True):
            if grad is None:
                place.zero_()
            elif grad.data_ptr() != place.data_ptr():
                places.append(place)
                found.append(grad)
        if places:
            torch._foreach_copy_(places, found)
        return [grad is not None for grad in grads]


def accumulate_gradient(
    team: Team,
    task: Task,
    setting: Training,
    step: int,
    seed: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> dict[str, float] | None:
    """Set the gradient of one batch and return the loss terms; None when told to stop on the way.

    The loss is a mean over the batch, so every piece contributes its sum divided by the batch's size: the gradient is
    that of one pass over the whole batch, while the activations of only one piece a core are alive. Pieces are dealt
    to the members of all processes in turn, so the result depends on the number of cores and on nothing else.
    """
    if setting.fill > 0:
        task.filling()  # made once, here
    task.prepare(step, seed, setting.batch)
    team.should_stop = should_stop
    shares = team.run(task, setting, step, seed)
    names = list(shares[0].terms)
    sums = [sum(share.terms[name] for share in shares) for name in names]
    *sums, stops = team.processes.all_reduce([*sums, float(shares[0].stopped)])
    if stops:
        return None
    team.gather(shares)
    terms = dict(zip(names, sums, strict=True))
    if setting.tv > 0:
        smoothness = setting.tv * team.members[0].encoding.smoothness(setting.tv_reduction)
        if smoothness.requires_grad:
            smoothness.backward()  # type: ignore[no-untyped-call]
        terms["tv"] = smoothness.item()
    return terms


def _backward(field: Field, task: Task, chunk: Chunk, total: int, weight: float = 1.0) -> float:
    """Add the gradient of a piece's share in the mean loss of `total` samples; the share itself.

    Every scale of a field learns; the finest is what is reported.
    """
    x, y = chunk
    values = field.scales(x)  # (scales, n, c)
    scales, factor = values.shape[0], weight / total
    loss, pull = task.pull(values, y)
    torch.autograd.backward(values, pull.mul_(factor / scales))
    return factor * (loss.item() if scales == 1 else task.pull(values[-1], y)[0].item())


def on_device(chunk: Chunk, field: Field) -> Chunk:
    """Samples where the field's numbers are."""
    device = field.shift.device
    return chunk[0].to(device), chunk[1].to(device)


def _double(field: Field) -> Field:
    """A copy whose parameters and buffers are the field's own storage."""
    double = copy.deepcopy(field)
    for mine, theirs in zip(double.parameters(), field.parameters(), strict=True):
        mine.data = theirs.data
    for copied, original in zip(double.buffers(), field.buffers(), strict=True):
        copied.data = original.data
    return double
