"""One fit on several processes: each takes its share of a step's pieces, and all of them stay of one mind.

Started by torchrun, which tells every process its rank. The gradient of a step is a sum over pieces, so each process
sums its own and the sums are added (data parallel); parameters, moments and decisions are then the same everywhere, and
nothing else has to be sent. What a process alone would know is agreed on: the clock of a budget is the first one's, a
stop signal to one stops all, and an error before the training ends all with one message.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from alfilter.errors import UserError

T = TypeVar("T")
_MESSAGE = 480  # bytes of an error that are shared


@dataclass(frozen=True)
class Processes:
    """This process among those of a fit; alone, every agreement is its own opinion.

    >>> Processes().total([1.5, 2.0]), Processes().any(False)
    ([1.5, 2.0], False)
    """

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the one that writes and speaks."""
        return self.rank == 0

    def total(self, numbers: Sequence[float]) -> list[float]:
        """Element by element, the sum over all processes, the same bits in each."""
        if self.size == 1:
            return list(numbers)
        tensor = torch.tensor(numbers, dtype=torch.float64)
        self._add(tensor)
        return [float(value) for value in tensor]

    def any(self, flag: bool) -> bool:
        """Whether any process says so."""
        return flag if self.size == 1 else self.total([float(flag)])[0] > 0

    def from_first(self, number: float) -> float:
        """The first process's number."""
        return number if self.size == 1 else self.total([number if self.first else 0.0])[0]

    def slots(self, mine: int) -> tuple[int, int]:
        """Of `mine` workers here: the position of the first among all processes' workers, and how many those are."""
        counts = [
            round(n) for n in self.total([float(mine) if rank == self.rank else 0.0 for rank in range(self.size)])
        ]
        return sum(counts[: self.rank]), sum(counts)

    def add_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace every gradient by the sum over all processes, in one message of a fixed order.

        A process without pieces has no gradients: one that any process has counts.
        """
        if self.size == 1:
            return
        known = list(parameters)
        there = self.total([0.0 if p.grad is None else 1.0 for p in known])
        used = [p for p, count in zip(known, there, strict=True) if count > 0]
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in used])
        self._add(flat)
        for p, part in zip(used, torch.split(flat, [p.numel() for p in used]), strict=True):
            p.grad = part.view_as(p)

    def agreed(self, work: Callable[[], T]) -> T:
        """The result of `work`, once it is done everywhere; a user's mistake in one process is raised in all."""
        result: T | None = None
        message = b""
        try:
            result = work()
        except UserError as error:
            if self.size == 1:
                raise
            message = str(error).encode()[:_MESSAGE] or b"?"
        said = [0.0] * (self.size * _MESSAGE) if self.size > 1 else []
        if said:
            said[self.rank * _MESSAGE : self.rank * _MESSAGE + len(message)] = map(float, message)
            told = bytes(round(code) for code in self.total(said))
            for rank in range(self.size):
                text = told[rank * _MESSAGE : (rank + 1) * _MESSAGE].rstrip(b"\0")
                if text:
                    raise UserError(text.decode(errors="ignore"))
        return result  # type: ignore[return-value]

    def check_same(self, numbers: Sequence[float], what: str) -> None:
        """Refuse to go on when the processes do not start from the same numbers."""
        if self.any(self.total([n if self.first else 0.0 for n in numbers]) != list(numbers)):
            raise UserError(
                f"the processes of this fit start from different {what}; "
                "give all of them the same files (one machine or a shared disk) and the same version"
            )

    def _add(self, tensor: Tensor) -> None:
        try:
            dist.all_reduce(tensor)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:120]
            raise UserError(f"another process of this fit is gone ({reason}); --resume goes on") from error


def current() -> Processes:
    """The processes this one has joined, or itself alone."""
    if dist.is_available() and dist.is_initialized():
        return Processes(dist.get_rank(), dist.get_world_size())
    return Processes()


@contextmanager
def joined() -> Iterator[Processes]:
    """Inside, this process is one of those torchrun started; without torchrun it is alone."""
    there = all(os.environ.get(name) for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"))
    if not there or int(os.environ["WORLD_SIZE"]) < 2:
        yield Processes()
        return
    # agreements travel on the CPU, gradients where the field is
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield current()
    finally:
        dist.destroy_process_group()


def own_device(device: torch.device, processes: Processes) -> torch.device:
    """The device of this process: of several on a machine each has a CUDA device of its own, or all share the CPU."""
    if processes.size == 1 or device.type == "cpu":
        return device
    if device.type != "cuda":
        raise UserError(f"{device.type} serves one process, torchrun started {processes.size}; give --device cpu")
    local, mine = int(os.environ.get("LOCAL_WORLD_SIZE", 1)), int(os.environ.get("LOCAL_RANK", 0))
    count = torch.cuda.device_count()
    if local > count:
        raise UserError(
            f"torchrun started {local} processes on a machine with {count} CUDA devices; "
            f"give --nproc-per-node {count}, or --device cpu"
        )
    torch.cuda.set_device(mine)
    return torch.device("cuda", mine)
