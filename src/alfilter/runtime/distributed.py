"""One fit on several processes: each computes its share of a step's micro-batches, and all stay in the same state.

Started by torchrun, which gives every process its rank. The gradient of a step is a sum over micro-batches, so each
process sums its own and the sums are added (data parallel); parameters, moments and decisions are then the same
everywhere, and nothing else has to be sent. What could differ is agreed on: a budget's clock is the main process's, a
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
    """This process among those of a fit; a single process agrees with itself.

    >>> Processes().all_reduce([1.5, 2.0]), Processes().any(False)
    ([1.5, 2.0], False)
    """

    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this is the one that writes files and reports progress."""
        return self.rank == 0

    def all_reduce(self, numbers: Sequence[float]) -> list[float]:
        """The elementwise sum over all processes, bitwise the same in each."""
        if self.size == 1:
            return list(numbers)
        tensor = torch.tensor(numbers, dtype=torch.float64)
        self._add(tensor)
        return [float(value) for value in tensor]

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any process."""
        return flag if self.size == 1 else self.all_reduce([float(flag)])[0] > 0

    def from_main(self, number: float) -> float:
        """The main process's number."""
        return number if self.size == 1 else self.all_reduce([number if self.is_main else 0.0])[0]

    def worker_range(self, workers: int) -> tuple[int, int]:
        """The position of this process's first worker among the workers of all processes, and their number."""
        counts = [
            round(n)
            for n in self.all_reduce([float(workers) if rank == self.rank else 0.0 for rank in range(self.size)])
        ]
        return sum(counts[: self.rank]), sum(counts)

    def all_reduce_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace every gradient by the sum over all processes, in one message of a fixed order.

        A process without micro-batches has no gradients: a parameter counts if any process has one.
        """
        if self.size == 1:
            return
        listed = list(parameters)
        counts = self.all_reduce([0.0 if p.grad is None else 1.0 for p in listed])
        used = [p for p, count in zip(listed, counts, strict=True) if count > 0]
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in used])
        self._add(flat)
        for p, part in zip(used, torch.split(flat, [p.numel() for p in used]), strict=True):
            p.grad = part.view_as(p)

    def run_on_all(self, work: Callable[[], T]) -> T:
        """The result of `work`, once every process has done it; a UserError in one process is raised in all."""
        result: T | None = None
        message = b""
        try:
            result = work()
        except UserError as error:
            if self.size == 1:
                raise
            message = str(error).encode()[:_MESSAGE] or b"?"
        codes = [0.0] * (self.size * _MESSAGE) if self.size > 1 else []
        if codes:
            codes[self.rank * _MESSAGE : self.rank * _MESSAGE + len(message)] = map(float, message)
            received = bytes(round(code) for code in self.all_reduce(codes))
            for rank in range(self.size):
                text = received[rank * _MESSAGE : (rank + 1) * _MESSAGE].rstrip(b"\0")
                if text:
                    raise UserError(text.decode(errors="ignore"))
        return result  # type: ignore[return-value]

    def check_same(self, numbers: Sequence[float], what: str) -> None:
        """Raise if the processes do not start from the same numbers."""
        if self.any(self.all_reduce([n if self.is_main else 0.0 for n in numbers]) != list(numbers)):
            raise UserError(
                f"the processes of this fit start from different {what}; "
                "give all of them the same files (one machine or a shared disk) and the same version"
            )

    def _add(self, tensor: Tensor) -> None:
        try:
            dist.all_reduce(tensor)
        except RuntimeError as error:
            reason = " ".join(str(error).split())[:120]
            raise UserError(f"another process of this fit is gone ({reason}); resume the run to continue") from error


def current() -> Processes:
    """The process group of this process, or itself alone."""
    if dist.is_available() and dist.is_initialized():
        return Processes(dist.get_rank(), dist.get_world_size())
    return Processes()


@contextmanager
def process_group() -> Iterator[Processes]:
    """Inside, this process belongs to those torchrun started; without torchrun it is alone."""
    launched = all(os.environ.get(name) for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"))
    if not launched or int(os.environ["WORLD_SIZE"]) < 2:
        yield Processes()
        return
    # flags travel on the CPU, gradients on the device of the field
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield current()
    finally:
        dist.destroy_process_group()


def local_device(device: torch.device, processes: Processes) -> torch.device:
    """The device of this process: each on a machine gets its own CUDA device, or all share the CPU."""
    if processes.size == 1 or device.type == "cpu":
        return device
    if device.type != "cuda":
        raise UserError(f"{device.type} serves one process, torchrun started {processes.size}; choose the device cpu")
    local, local_rank = int(os.environ.get("LOCAL_WORLD_SIZE", 1)), int(os.environ.get("LOCAL_RANK", 0))
    count = torch.cuda.device_count()
    if local > count:
        raise UserError(
            f"torchrun started {local} processes on a machine with {count} CUDA devices; "
            f"start {count} per node, or choose the device cpu"
        )
    torch.cuda.set_device(local_rank)
    return torch.device("cuda", local_rank)
