"""DINER's table: a row per sample, the order of samples without meaning, and a stated answer between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import alfilter
from alfilter.encodings import SampleTable
from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.signals import GridSignal
from alfilter.tasks import GridTask
from alfilter.testing import check_encoding


def table(samples: tuple[int, ...] = (4, 3), between: Any = "linear") -> SampleTable:
    return SampleTable(samples, features=2, between=between, bound=1.0, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("samples", [(5,), (4, 3), (2, 1, 3), (2, 2, 2, 2)])
def test_contract(samples: tuple[int, ...]) -> None:
    check_encoding(table(samples))


@pytest.mark.parametrize("between", ["linear", "nearest", "refuse"])
@pytest.mark.parametrize("samples", [(512, 3), (7, 1000), (1, 4)])
def test_every_sample_has_its_own_row_exactly(samples: tuple[int, int], between: str) -> None:
    encoding = table(samples, between)
    coords = GridSignal(np.zeros((*samples, 1))).coords()
    assert torch.equal(encoding(coords), encoding.table)


def test_permuting_samples_with_their_rows_changes_nothing() -> None:
    """The lookup knows no neighbourhood: values and gradients of the network are those of a bag of samples."""
    field = alfilter.build("diner", in_dim=1, out_dim=2, samples=(16,), width=8)
    order = torch.randperm(16, generator=torch.Generator().manual_seed(1))
    signal = GridSignal(np.zeros((16, 1)))
    before = field(signal.coords())
    with torch.no_grad():
        field.encoding.get_parameter("table").copy_(field.encoding.get_parameter("table")[order])
    assert torch.allclose(field(signal.coords()), before[order], atol=1e-6)


def test_a_permuted_signal_is_fitted_as_well() -> None:
    """Shuffling the pixels costs nothing, once every row starts at the same numbers."""
    draw = np.random.default_rng(0)
    picture = draw.random((6, 5, 1)).astype(np.float32)
    shuffled = draw.permutation(picture.reshape(-1, 1)).reshape(6, 5, 1)
    losses = []
    for data in (picture, shuffled):
        field = alfilter.build("diner", in_dim=2, out_dim=1, samples=(6, 5), width=8)
        with torch.no_grad():
            field.encoding.get_parameter("table").fill_(0.01)
        result = alfilter.fit(field, GridTask(GridSignal(data)), steps=30, lr=1e-2, lr_encoding=1e-2)
        losses.append(result.history[-1]["loss"])
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)


def test_between_samples_by_hand() -> None:
    encoding = table((3,))
    with torch.no_grad():
        encoding.table.copy_(torch.tensor([[0.0, 0.0], [1.0, 10.0], [3.0, 10.0]]))
    places = torch.tensor([[-0.75], [0.5]])
    torch.testing.assert_close(encoding(places), torch.tensor([[0.25, 2.5], [2.0, 10.0]]))
    encoding.between = "nearest"
    assert encoding(torch.tensor([[-0.75], [0.6]])).tolist() == [[0.0, 0.0], [3.0, 10.0]]
    encoding.between = "refuse"
    with pytest.raises(UserError, match=r"rows for 3 samples and none at \(0.25\); render at the samples"):
        encoding(places)


def test_rows_of_unseen_samples_keep_their_start() -> None:
    task = GridTask(GridSignal(np.random.default_rng(0).random((4, 6, 1))), "every:2")
    field = alfilter.build("diner", in_dim=2, out_dim=1, samples=(4, 6), width=8)
    start = field.encoding.get_parameter("table").detach().clone()
    alfilter.fit(field, task, steps=3)
    moved = (field.encoding.get_parameter("table") != start).any(-1)
    assert task.seen is not None
    assert moved.nonzero().flatten().tolist() == task.seen.tolist()
    assert sample_grid(field, (4, 6)).shape == (4, 6, 1)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"in_dim": 2}, "diner keeps a row per sample and must know how many there are; give samples or the option"),
        ({"in_dim": 2, "table": (4, 4, 4)}, "option 'table' needs 2 sizes for 2 coordinates, got 3"),
    ],
)
def test_what_it_cannot_know_is_asked_for(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError, match=text):
        alfilter.build("diner", out_dim=1, **arguments)


def test_a_table_of_another_size_may_be_asked_for() -> None:
    field = alfilter.build("diner", in_dim=2, out_dim=1, samples=(8, 8), table=4)
    assert field.encoding.get_parameter("table").shape == (16, 2)
