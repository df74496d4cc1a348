"""Layers of a tile: which there are, and that their numbers are the library's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from alfilter.errors import UserError
from alfilter.evaluate import Section
from alfilter.signals import read_image
from alfilter.viewer.layers import Sampling, check_layer, field_tile, filter_tile, reference_tile, scale_of
from alfilter.viewer.model import Detail, Model
from alfilter.viewer.open import grid_models, open_files
from alfilter.viewer.tiles import TileIndex


@pytest.fixture
def models(trained: Path) -> list[Model]:
    return grid_models(open_files([str(trained / "al"), str(trained / "siren")]))


def whole(model: Model, rough: bool = True) -> Sampling:
    """The tile in which a pixel of the screen is a sample of the picture."""
    return Sampling(TileIndex(0, 0, 0), Section(model.shape, (0, 1)), rough, lambda: None)


def test_layers_by_name(models: list[Model]) -> None:
    assert [scale_of(name) for name in ("scale0", "scale12", "scale123", "alpha", "field")] == [0, 12, None, None, None]
    filtered, plain = models
    for name in ("field", "alpha", "scale3"):
        check_layer(filtered, name)
    check_layer(plain, "field")
    with pytest.raises(UserError, match="there is no layer 'scale4'"):
        check_layer(filtered, "scale4")
    with pytest.raises(UserError, match="α is not defined for siren"):
        check_layer(plain, "alpha")


def test_a_tile_nobody_waits_for_ends(models: list[Model]) -> None:
    class Gone(Exception):
        pass

    def gone() -> None:
        raise Gone

    sampling = Sampling(TileIndex(-1, 0, 0), Section(models[0].shape, (0, 1)), False, gone)
    with pytest.raises(Gone):
        field_tile(models[0], models[0].original, Detail(), sampling)


def test_the_numbers_of_a_tile(models: list[Model], trained: Path) -> None:
    model, sampling = models[0], whole(models[0])
    rows, columns = model.shape
    values = np.frombuffer(field_tile(model, model.original, Detail(), sampling), "<u2").reshape(rows, columns, 3)
    with torch.no_grad():
        from alfilter.evaluate import sample_grid

        expected = sample_grid(model.original, model.shape).clamp(0, 1).numpy()
    np.testing.assert_allclose(values / 65535, expected, atol=2e-5)
    alpha = np.frombuffer(filter_tile(model.original, None, sampling), "<f4")
    share = np.frombuffer(filter_tile(model.original, 1, sampling), "<f4")
    assert alpha.size == share.size == rows * columns
    assert 0 <= share.min() <= share.max() <= 1
    signal = read_image(trained / "al" / "reference.png")
    pixels = np.frombuffer(reference_tile(signal, "nearest", sampling), "<u2").reshape(rows, columns, 3)
    np.testing.assert_allclose(pixels / 65535, signal.data / 255, atol=2e-5)
