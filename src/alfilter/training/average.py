"""The mean of the weights on their way: a field that is calmer than any single step of its training."""

from __future__ import annotations

import torch
from torch import Tensor

from alfilter.methods import Field


class Average:
    """w̄_t = w̄_{t-1} + (w_t - w̄_{t-1}) (η + 1) / (t + η) with η = 1/share - 1: late steps count more, as t^η.

    The polynomial-decay averaging of Shamir and Zhang, 2013: no horizon has to be known, and the mean's age stays a
    share of the run's. share: in (0, 1]; 1 is the plain mean of all steps. An encoding that rearranges its own features
    (its buffers change) begins the mean again, since the numbers before and after do not mean the same.
    """

    def __init__(self, field: Field, share: float) -> None:
        self.weight = 1 / share  # η + 1
        self.count = 0
        self.values = [p.detach().clone() for p in field.parameters()]
        self.buffers = [b.clone() for b in field.encoding.buffers()]

    @torch.no_grad()
    def update(self, field: Field) -> None:
        """Count the field's numbers as those of one more step."""
        if not all(map(torch.equal, self.buffers, field.encoding.buffers())):
            self.count = 0
            for kept, now in zip(self.buffers, field.encoding.buffers(), strict=True):
                kept.copy_(now)
        self.count += 1
        part = self.weight / (self.count + self.weight - 1)
        for mean, p in zip(self.values, field.parameters(), strict=True):
            mean.lerp_(p, part)

    @torch.no_grad()
    def give_to(self, field: Field) -> None:
        """Let the field be the mean."""
        if self.count:
            for mean, p in zip(self.values, field.parameters(), strict=True):
                p.copy_(mean)

    def tensors(self) -> dict[str, Tensor]:
        """Everything a checkpoint keeps."""
        named = {f"average.{i}": value for i, value in enumerate(self.values)}
        named |= {f"average.buffer.{i}": value for i, value in enumerate(self.buffers)}
        return {**named, "average.count": torch.tensor(self.count)}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """What `tensors` gave."""
        self.count = int(tensors["average.count"])
        for label, values in (("average", self.values), ("average.buffer", self.buffers)):
            for i, value in enumerate(values):
                value.copy_(tensors[f"{label}.{i}"])
