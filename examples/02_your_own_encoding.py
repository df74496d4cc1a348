"""An encoding of your own in front of the library's network, trained by the library's loop."""

from __future__ import annotations

import torch
from torch import Tensor

import alfilter as al
from alfilter.encodings import Encoding
from alfilter.methods import Field
from alfilter.networks import MLP


class Powers(Encoding):
    """x, x², …, x^p of every coordinate."""

    def __init__(self, in_dim: int, degree: int) -> None:
        super().__init__(in_dim, in_dim * degree)
        self.degree = degree

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x**p for p in range(1, self.degree + 1)], dim=-1)


def main(steps: int = 100) -> float:
    task = al.ImageTask.from_file("sample:camera", observe="every:8")
    encoding = Powers(2, degree=4)
    field = Field(encoding, MLP(encoding.out_dim, 1, width=64, depth=2, activation="relu"))
    al.fit(field, task, steps=steps, lr=3e-3)
    psnr = task.evaluate(field).metrics["psnr"]
    print(f"{psnr:.2f} dB on the seen pixels")
    return psnr


if __name__ == "__main__":
    main()
