"""A script as a user writes it: run by a test, and type-checked by another against the package's own types."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import assert_type

import numpy as np
import torch
from torch import Tensor

import alfilter as al
from alfilter.config import option
from alfilter.encodings import Encoding, Fourier
from alfilter.methods import Method, Preset
from alfilter.networks import MLP, Network
from alfilter.testing import check_encoding, check_network


@dataclass(frozen=True)
class Options:
    levels: int = option(2, "scales of the encoding", low=1, high=8)
    width: int = option(8, "neurons of the hidden layer", low=1)


def build(
    options: Options, in_dim: int, out_dim: int, samples: tuple[int, ...] | None, generator: torch.Generator
) -> tuple[Encoding, Network]:
    encoding = Fourier(in_dim, options.levels)
    network = MLP(encoding.out_dim, out_dim, width=options.width, depth=1, activation="relu", generator=generator)
    return encoding, network


def main(picture: Path, folder: Path) -> float:
    al.register("user-method", Method("A user's method", 2026, Options, build, {"default": Preset({"levels": 3})}))
    task = assert_type(al.ImageTask.from_file(picture), al.ImageTask)
    field = assert_type(al.build("user-method", in_dim=2, out_dim=task.out_dim, preset="default"), al.Field)
    result = al.fit(field, task, training=al.Training(steps=3), seed=1)
    steps: int = assert_type(result.steps, int)
    al.save(field, folder / "m.safetensors")
    loaded = assert_type(al.load(folder / "m.safetensors"), al.Field)
    values: Tensor = loaded(torch.zeros(steps, 2))
    check_encoding(lambda in_dim: Fourier(in_dim, 2))
    check_network(MLP(3, 1, width=4, depth=1, activation="sine"))
    regressor = al.ALFilterRegressor(max_iter=2).fit(np.zeros((8, 2)) + np.arange(8)[:, None], np.arange(8.0))
    assert_type(regressor, al.ALFilterRegressor)
    with suppress(al.UserError):
        al.build("no-method", in_dim=2, out_dim=1)
    titles: list[str] = [method.title for method in al.METHODS.values()]
    assert "A user's method" in titles
    return float(values.detach().sum()) + task.evaluate(field).metrics["psnr"]


def mistakes() -> None:
    """Never called: each line is an error of types, so the ignores themselves would be reported if it were not."""
    al.build("siren", in_dim="2", out_dim=1)  # type: ignore[arg-type]
    al.fit(al.Field, None)  # type: ignore[arg-type]
    al.save("m.safetensors", "field")  # type: ignore[arg-type]
    al.register("mine", build)  # type: ignore[arg-type]
    al.biuld  # type: ignore[attr-defined]  # noqa: B018
