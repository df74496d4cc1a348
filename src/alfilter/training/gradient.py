"""The exact gradient of a batch of any size, computed in pieces that stay in cache, side by side."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor

from alfilter.config import Training
from alfilter.core.parallel import in_slices, side_by_side, workers
from alfilter.methods import Field
from alfilter.tasks.base import Chunk, Task, step_generator
from alfilter.training.bending import bending
from alfilter.training.processes import Processes


class Team:
    """A field and its doubles, one a thread: they share its numbers and own their gradients.

    Without doubles two threads would add to the same gradient in an order nobody knows, and no run could be repeated.
    With several processes, `first` is the position of this one's first member among the `total` of all.
    """

    def __init__(self, field: Field, processes: Processes | None = None) -> None:
        count = workers() if next(field.parameters()).device.type == "cpu" else 1
        self.members = [field, *(_double(field) for _ in range(count - 1))]
        self.processes = processes or Processes()
        self.first, self.total = self.processes.slots(count)

    def zero_grad(self) -> None:
        for member in self.members:
            member.zero_grad(set_to_none=True)  # the first piece's is taken as it is, not added to zeros

    def gather(self) -> None:
        """Add the doubles' gradients to the field's, then the other processes', always in the same order."""
        for mine, *others in zip(*(member.parameters() for member in self.members), strict=True):
            for other in others:
                if other.grad is not None and mine.grad is None:
                    mine.grad = other.grad.clone()
                elif other.grad is not None:
                    _add(mine.grad, other.grad)
        self.processes.add_gradients(self.members[0].parameters())


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
    that of one pass over the whole batch, while the activations of only one piece a thread are alive. Pieces are dealt
    to the members of all processes in turn, so the result depends on the number of threads and on nothing else.
    """
    total = task.batch_size(setting.batch)
    # a batch smaller than a piece a thread is shared out too, or all but one would have nothing to do
    size = min(setting.micro, -(-total // team.total))
    pieces = task.pieces(step, seed, setting.batch, size)
    filling = task.filling() if setting.fill > 0 else None
    between = filling.pieces(step, seed, total, size) if filling else []
    stopped = False

    def work(position: int) -> float:
        nonlocal stopped
        field, share = team.members[position], 0.0
        for number in range(team.first + position, len(pieces), team.total):
            if stopped or should_stop():
                stopped = True
                break
            x, y = on_device(task.load(pieces[number]), field)
            if setting.jitter > 0:
                noise = torch.randn(x.shape, generator=step_generator(seed ^ 0x317, (step << 20) + number))
                x = x + noise.to(x.device) * x.new_tensor(task.spacing) * setting.jitter
            share += _backward(field, task, (x, y), total)
        return share

    def fill(position: int) -> float:
        """The loss against the filling at a member's share of the unseen samples."""
        assert filling is not None
        field, share = team.members[position], 0.0
        count = sum(len(piece) for piece in between)
        for number in range(team.first + position, len(between), team.total):
            chunk = on_device(filling.load(between[number]), field)
            share += _backward(field, task, chunk, count, setting.fill)
        return share

    def bend(position: int) -> float:
        """The penalty at a member's share of the places, a quarter as many as there are samples."""
        generator = step_generator(seed ^ 0xBE4D, (step << 20) + team.first + position)
        places = -(-total // (4 * team.total))
        bent = bending(team.members[position], task.gaps(), places, setting.bend_power, generator)
        term = setting.bend / team.total * bent
        term.backward()  # type: ignore[no-untyped-call]
        return term.item()

    team.zero_grad()
    share = sum(side_by_side(work, range(len(team.members))))
    data, stops = team.processes.total([share, float(stopped)])
    if stops:
        return None
    terms = {"data": data}
    if filling is not None:
        (terms["fill"],) = team.processes.total([sum(side_by_side(fill, range(len(team.members))))])
    if setting.bend > 0:
        (terms["bend"],) = team.processes.total([sum(side_by_side(bend, range(len(team.members))))])
    team.gather()
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
    losses = [weight * task.loss(out, y) / total for out in field.outputs(x)]
    torch.stack(losses).mean().backward()  # type: ignore[no-untyped-call]
    return losses[-1].item()


def on_device(chunk: Chunk, field: Field) -> Chunk:
    """Samples where the field's numbers are."""
    device = field.shift.device
    return chunk[0].to(device), chunk[1].to(device)


def _add(total: Tensor, more: Tensor) -> None:
    """total += more, on all cores where it is long."""
    if not (total.is_contiguous() and more.is_contiguous()):
        total.add_(more)
        return
    flat = total.view(-1), more.view(-1)
    in_slices(lambda part: flat[0][part].add_(flat[1][part]), total.numel())


def _double(field: Field) -> Field:
    """A copy whose parameters and buffers are the field's own storage."""
    double = copy.deepcopy(field)
    for mine, theirs in zip(double.parameters(), field.parameters(), strict=True):
        mine.data = theirs.data
    for copied, original in zip(double.buffers(), field.buffers(), strict=True):
        copied.data = original.data
    return double
