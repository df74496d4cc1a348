"""The exact gradient of a batch of any size, computed in pieces that stay in cache, by all cores at once."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from alfilter.config import Training
from alfilter.methods import Field
from alfilter.runtime.distributed import Processes
from alfilter.runtime.flat_params import FlatLayout
from alfilter.runtime.fork_pool import ForkPool, shared_copy
from alfilter.runtime.limits import cores
from alfilter.runtime.memory import huge_page_copy
from alfilter.runtime.thread_pool import flushed_denormals, for_slices, workers
from alfilter.tasks.base import Chunk, Task

COMPILED_PIECES = 16  # taken by a compiled step at once: it keeps no activations, and every call has its costs


class Moment(NamedTuple):
    """What workers need to know of a step; `accumulate_gradient` explains it. zeroed: whether the sums are zero."""

    step: int
    seed: int
    factor: float
    settled: bool
    zeroed: bool


@dataclass(frozen=True)
class Share:
    """What one worker has done for a step: its part of every loss term, and which parameters it has a gradient of.

    A compiled step has one of all parameters and names none.
    """

    terms: dict[str, float]
    reached: list[bool]
    stopped: bool


class GradientWorkers:
    """A field and its replicas, one per core: they share its parameters and own their gradients.

    Without replicas two workers would add to the same gradient in an undefined order, and no run could be repeated.
    The first replica, the field itself, works in this process, the others in a `ForkPool` made at the first step: they
    see parameters and gradients in shared memory, and the task as it was then. There are no more processes than cores:
    what more workers have to do is done one after the other, with the same bits. With several processes under torchrun,
    `first` is the position of this process's first worker among the `total` of all.

    Fields with a compiled step (`Field.compiled`) run it in threads: one call that holds no interpreter lock and adds
    to the worker's sums. These must be zero before; `Adam.step` leaves them so.

    `close` ends the worker processes and gives the field storage of its own again.
    """

    def __init__(self, field: Field, processes: Processes | None = None, count: int | None = None) -> None:
        count = count or (workers() if next(field.parameters()).device.type == "cpu" else 1)
        self.replicas = [field, *(_replicate(field) for _ in range(count - 1))]
        self.processes = processes or Processes()
        self.first, self.total = self.processes.worker_range(count)
        self.should_stop: Callable[[], bool] = lambda: False
        self._job: tuple[Task, Training]  # what the pool was started for
        self._pool: ForkPool[Moment, Share] | None = None
        self._compiled: list[Callable[..., float]] = []  # every worker's step, if the field has a compiled one
        self._sums = torch.zeros(0, 0)  # (workers, total): the gradient of each, all parameters in one buffer
        self._zeroed = True
        self._pieces: Sequence[Any] = ()  # of a compiled step
        self._apart = False  # whether the last step's sums are still to be added up
        self._buffers: list[list[Tensor]] = []  # the same, one view per parameter
        self._params = list(field.parameters())
        self._stop = torch.zeros(1, dtype=torch.uint8)
        self._prices: list[tuple[int, Tensor]] = []  # the gradient of `Encoding.parsimony`, by number of the parameter

    def run(
        self, task: Task, setting: Training, step: int, seed: int, factor: float = 1.0, settled: bool = False
    ) -> list[Share]:
        """Every worker's share of a step. factor, settled: see `accumulate_gradient`."""
        if self._pool is None or self._job != (task, setting):
            self._pool = self._start(task, setting)
        self._stop.zero_()
        zeroed, self._zeroed = self._zeroed, False
        if self._compiled:  # its threads would take turns in the interpreter to compute the same
            self._pieces = task.pieces(step, seed, setting.batch, self._sizes(task, setting)[1])
        return self._pool.run(Moment(step, seed, factor, settled, zeroed))

    def close(self) -> None:
        """End the worker processes; the field gets storage of its own, and keeps no gradient: that is theirs."""
        if self._pool is None:
            return
        self._pool.close()
        self._pool = None
        for replica in self.replicas:
            replica.zero_grad(set_to_none=True)
        self._sums, self._buffers, self._compiled, self._prices, self._apart = torch.zeros(0, 0), [], [], [], False
        field = self.replicas[0]
        self._rebind_storage([t.data.clone() for t in (*field.parameters(), *field.buffers())])

    def gather(self, shares: list[Share], whole: bool = True, settled: bool = False) -> None:
        """Add the replicas' gradients to the field's, then the other processes', always in the same order.

        whole: otherwise adding up the replicas' may be left to `Adam.step`, which gets them by `take_sums`. settled:
        the filter's own parameters get no gradient.
        """
        mine, *others = self._sums
        self._apart = bool(self._compiled) and not whole and self.processes.size == 1
        for other in others if not self._apart else ():
            for_slices(lambda part, more=other: mine[part].add_(more[part]), len(mine))  # type: ignore[misc]
        fixed = {p.data_ptr() for p in self.replicas[0].encoding.filter_parameters()} if settled else set()
        for i, (p, buffer) in enumerate(zip(self._params, self._buffers[0], strict=True)):
            learned = self._compiled or any(share.reached[i] for share in shares)
            p.grad = buffer if learned and p.data_ptr() not in fixed else None
        self.processes.all_reduce_gradients(self._params)

    def add_penalty(self, penalty: Tensor) -> float:
        """Add the gradient of a term that is no sum over samples; the term itself."""
        for i, grad in _gradients(penalty, self._params):
            self._add(i, grad, 1.0)
        return penalty.item()

    def add_price(self, factor: float) -> float:
        """Add the gradient of factor times `Encoding.parsimony`, which is linear; the term itself."""
        total = 0.0
        for i, slope in self._prices:
            total += float(torch.dot(self._params[i].data.view(-1), slope.view(-1)))
            self._add(i, slope, factor)
        return factor * total

    def _add(self, i: int, grad: Tensor, factor: float) -> None:
        """Add to the gradient of one parameter, once the workers' are added up: the order of several processes."""
        self._add_up(i)
        total = self._params[i].grad
        self._params[i].grad = factor * grad if total is None else total.add_(grad, alpha=factor)

    def scale_filter(self, factor: float) -> None:
        """Multiply the gradient of the filter's own parameters."""
        own = {p.data_ptr() for p in self.replicas[0].encoding.filter_parameters()}
        for i, p in enumerate(self._params):
            if p.data_ptr() in own and p.grad is not None:
                self._add_up(i)
                p.grad.mul_(factor)

    def _add_up(self, i: int) -> None:
        """Add up the workers' gradients of one parameter, if they are still apart."""
        for others in self._buffers[1:] if self._apart else ():
            self._buffers[0][i].add_(others[i])
            others[i].zero_()

    def take_sums(self) -> Tensor | None:
        """All workers' gradients, (workers, total), for `Adam.step` to add up and zero; None once they are added up."""
        self._zeroed = self._apart
        return self._sums if self._apart else None

    def _start(self, task: Task, setting: Training) -> ForkPool[Moment, Share]:
        self.close()
        self._job = task, setting
        compiled = has_compiled_step(self.replicas[0], task)
        into = huge_page_copy if compiled else shared_copy if len(self.replicas) > 1 else Tensor.clone
        params = self._pack(into)
        layout = FlatLayout(list(self.replicas[0].parameters()))
        self._sums, self._zeroed = into(params.new_zeros(len(self.replicas), layout.total)), True
        self._buffers = [layout.views(total) for total in self._sums]
        self._stop = shared_copy(self._stop)
        price = self.replicas[0].encoding.parsimony()
        self._prices = _gradients(price, self._params) if setting.parsimony > 0 else []
        self._compiled = _compiled_steps(self.replicas[0], task, params, self._sums) if compiled else []
        forked = False if compiled else None
        return ForkPool(self._work, len(self.replicas), enter=task.on_worker_start, forked=forked, most=cores())

    def _pack(self, into: Callable[[Tensor], Tensor]) -> Tensor:
        """Move the storage of all replicas to what `into` allocates, all parameters in one buffer."""
        params = [p.data for p in self.replicas[0].parameters()]
        layout = FlatLayout(params)
        flat = into(params[0].new_zeros(layout.total))
        numbers = layout.views(flat)
        for place, number in zip(numbers, params, strict=True):
            place.copy_(number)
        self._rebind_storage([*numbers, *(into(b.data) for b in self.replicas[0].buffers())])
        return flat

    def _rebind_storage(self, numbers: Sequence[Tensor]) -> None:
        """Let all replicas read and write these tensors as their parameters and buffers."""
        for replica in self.replicas:
            for tensor, number in zip([*replica.parameters(), *replica.buffers()], numbers, strict=True):
                tensor.data = number

    def _work(self, position: int, moment: Moment) -> Share:
        """A worker's share of a step: samples, and the values filled in between them if they have a weight."""
        if self._compiled:  # it adds to the sums itself
            if not moment.zeroed:
                self._sums[position].zero_()
            return Share(self._terms(position, moment), [], bool(self._stop.item()))
        self.replicas[position].zero_grad(set_to_none=True)  # the first piece's is taken as it is, not added to zeros
        replica = self.replicas[position]
        pairs = zip(replica.parameters(), self._buffers[position], strict=True)
        with replica.encoding.grad_buffers({p.data_ptr(): buffer for p, buffer in pairs}):
            terms = self._terms(position, moment)
        return Share(terms, self._copy_gradients(position), bool(self._stop.item()))

    def _terms(self, position: int, moment: Moment) -> dict[str, float]:
        """A worker's part of every loss term, whose gradient it has."""
        task, setting = self._job
        terms = {"data": self._samples(position, moment)}
        if setting.fill > 0 and task.filling() is not None:
            terms["fill"] = self._filled(position, moment)
        if setting.detail > 0 and task.pyramid() is not None:
            terms["detail"] = self._coarser(position, moment, setting.detail * moment.factor)
        return terms

    def _samples(self, position: int, moment: Moment) -> float:
        """The data loss of a worker's pieces; it ends early when asked to stop."""
        (task, setting), field, share = self._job, self.replicas[position], 0.0
        total, size = self._sizes(task, setting)
        pieces = self._pieces if self._compiled else task.pieces(moment.step, moment.seed, setting.batch, size)
        for number in range(self.first + position, len(pieces), self.total):
            if position == 0 and self.should_stop():
                self._stop.fill_(1)
            if self._stop.item():
                break
            share += self._backward(position, on_device(task.load(pieces[number]), field), total, moment)
        return share

    def _backward(self, position: int, chunk: Chunk, total: int, moment: Moment, weight: float = 1.0) -> float:
        """Add the gradient of a piece's share in the mean loss of `total` samples; the share itself."""
        if self._compiled:
            return self._compiled[position](*chunk, weight / total, settled=moment.settled)
        return _backward(self.replicas[position], self._job[0], chunk, total, weight)

    def _filled(self, position: int, moment: Moment) -> float:
        """The loss against the filling at a worker's share of the unseen samples."""
        (task, setting), field, share = self._job, self.replicas[position], 0.0
        filling = task.filling()
        assert filling is not None
        between = filling.pieces(moment.step, moment.seed, *self._sizes(task, setting))
        count = sum(len(piece) for piece in between)
        for number in range(self.first + position, len(between), self.total):
            chunk = on_device(filling.load(between[number]), field)
            share += self._backward(position, chunk, count, moment, setting.fill)
        return share

    def _coarser(self, position: int, moment: Moment, weight: float) -> float:
        """The loss of a worker's share of the signal's coarser levels of detail, each with the filter capped there."""
        (task, setting), field, share = self._job, self.replicas[position], 0.0
        levels = task.pyramid()
        assert levels is not None
        pieces = levels.pieces(moment.step, moment.seed, *self._sizes(task, setting))
        factor = weight / sum(len(piece) for piece in pieces)
        for number in range(self.first + position, len(pieces), self.total):
            x, y, cycles = levels.load(pieces[number])
            if self._compiled:
                share += self._compiled[position](x, y, factor, field.encoding.alpha_at(cycles), moment.settled)
            else:
                x, y, cycles = (t.to(field.shift) for t in (x, y, cycles))
                share += _add_gradient(field.limited(x, cycles), task, y, factor)
        return share

    def _sizes(self, task: Task, setting: Training) -> tuple[int, int]:
        """Samples of a step, and of a piece."""
        total = task.batch_size(setting.batch)
        micro = setting.micro * (COMPILED_PIECES if self._compiled else 1)
        rounds = -(-total // (self.total * micro))
        # as large as allowed and all alike: no worker waits for one that has the remainder of the batch
        return total, -(-total // (self.total * rounds))

    def _copy_gradients(self, position: int) -> list[bool]:
        """Copy a replica's gradients into its buffer; which parameters have one."""
        grads = [p.grad for p in self.replicas[position].parameters()]
        targets, sources = [], []
        for buffer, grad in zip(self._buffers[position], grads, strict=True):
            if grad is None:
                buffer.zero_()
            elif grad.data_ptr() != buffer.data_ptr():
                targets.append(buffer)
                sources.append(grad)
        if targets:
            torch._foreach_copy_(targets, sources)
        return [grad is not None for grad in grads]


LEAST_ERROR = 1e-14  # below float32's rounding: no division by zero


@flushed_denormals()
def accumulate_gradient(
    gradient_workers: GradientWorkers,
    task: Task,
    setting: Training,
    step: int,
    seed: int,
    should_stop: Callable[[], bool] = lambda: False,
    whole: bool = True,
    factor: float = 1.0,
    settled: bool = False,
) -> dict[str, float] | None:
    """Set the gradient of one batch and return the loss terms; None when stopped before the end.

    The loss is a mean over the batch, so every piece contributes its sum divided by the batch's size: the gradient is
    that of one pass over the whole batch, while the activations of only one piece per core are alive. Pieces go
    round-robin to the workers of all processes, so the result depends on the number of cores and on nothing else.

    whole: otherwise the workers' gradients may not be added up yet, and `Adam.step` takes what `take_sums` gives.
    factor: what the learning rates are multiplied with. The weight of the levels of detail falls with them: at the
    end, when errors at full size are far smaller than theirs, they would outweigh it. settled: the filter stays where
    it is, and its penalties are no longer added.
    """
    if setting.fill > 0:
        task.filling()  # made once, here
    if setting.detail > 0:
        task.pyramid()
    task.prepare(step, seed, setting.batch)
    gradient_workers.should_stop = should_stop
    shares = gradient_workers.run(task, setting, step, seed, factor, settled)
    names = list(shares[0].terms)
    sums = [sum(share.terms[name] for share in shares) for name in names]
    *sums, stops = gradient_workers.processes.all_reduce([*sums, float(shares[0].stopped)])
    if stops:
        return None
    gradient_workers.gather(shares, whole, settled)
    terms = dict(zip(names, sums, strict=True))
    encoding = gradient_workers.replicas[0].encoding
    if settled:
        return terms
    if setting.tv > 0:
        terms["tv"] = gradient_workers.add_penalty(setting.tv * encoding.smoothness(setting.tv_reduction))
    if setting.parsimony > 0:  # relative to the error, whatever its size: the gradient of log(error) + λ · mean(α)/L
        terms["parsimony"] = gradient_workers.add_price(setting.parsimony * sum(sums))
    if setting.filter_loss == "log":  # Adam remembers squared gradients: as the error falls, α would hardly move
        gradient_workers.scale_filter(1 / max(sum(sums), LEAST_ERROR))
    return terms


def has_compiled_step(field: Field, task: Task) -> bool:
    """Whether a worker's share of a step can be one compiled call: a perceptron on a grid, or in blocks on waves or
    coordinates, and a loss that is a power of the error.
    """
    return task.residual_loss() is not None and field.compiled() is not None


def gradient_of_chunks(field: Field, task: Task) -> Callable[[Chunk], float]:
    """A function that computes the gradient of the mean loss of some samples as a worker does, and leaves it there."""
    if not has_compiled_step(field, task):
        return lambda chunk: _backward(field, task, chunk, len(chunk[0]))
    layout = FlatLayout(list(field.parameters()))
    numbers = torch.zeros(layout.total)
    for place, p in zip(layout.views(numbers), field.parameters(), strict=True):
        p.data = place.copy_(p.data)
    step = _compiled_steps(field, task, numbers, torch.zeros(1, layout.total))[0]
    return lambda chunk: step(*chunk, 1 / len(chunk[0]))


def _compiled_steps(field: Field, task: Task, params: Tensor, sums: Tensor) -> list[Callable[..., float]]:
    """Every worker's compiled step. params: all parameters in one buffer, (total,). sums: (workers, total)."""
    compiled, loss = field.compiled(), task.residual_loss()
    assert compiled is not None
    assert loss is not None
    return [compiled.gradient(loss, params, total) for total in sums]


def _backward(field: Field, task: Task, chunk: Chunk, total: int, weight: float = 1.0) -> float:
    """Add the gradient of a piece's share in the mean loss of `total` samples; the share itself.

    Every scale of a field learns; the finest is what is reported.
    """
    x, y = chunk
    values = field.scales(x)  # (scales, n, c)
    scales, factor = values.shape[0], weight / total
    share = _add_gradient(values, task, y, factor / scales)
    return share if scales == 1 else factor * task.loss_and_grad(values[-1], y)[0].item()


def _add_gradient(values: Tensor, task: Task, y: Tensor, factor: float) -> float:
    """Add the gradient of factor times the loss of some values; that number itself."""
    loss, grad = task.loss_and_grad(values, y)
    torch.autograd.backward(values, grad.mul_(factor))
    return factor * loss.item()


def on_device(chunk: Chunk, field: Field) -> Chunk:
    """Samples where the field's numbers are, and of their type."""
    return chunk[0].to(field.shift), chunk[1].to(field.shift)


def _gradients(term: Tensor, params: Sequence[Tensor]) -> list[tuple[int, Tensor]]:
    """The gradient of a term by every parameter that it depends on, with the number of that parameter."""
    grads = torch.autograd.grad(term, params, allow_unused=True) if term.requires_grad else ()
    return [(i, grad.contiguous()) for i, grad in enumerate(grads) if grad is not None]


def _replicate(field: Field) -> Field:
    """A copy whose parameters and buffers are the field's own storage."""
    replica, theirs = copy.deepcopy(field), (*field.parameters(), *field.buffers())
    for copied, original in zip((*replica.parameters(), *replica.buffers()), theirs, strict=True):
        copied.data = original.data
    return replica
