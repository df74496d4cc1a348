"""A run cut anywhere and continued is the run that was never cut."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from alfilter.config import REMOVED, Training
from alfilter.errors import UserError
from alfilter.methods import Field, build
from alfilter.runtime.thread_pool import workers
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.training import Progress, fit, gradient
from alfilter.training.checkpoint import Position, first_difference, read_checkpoint, write_checkpoint
from alfilter.training.loop import make_optimiser
from alfilter.training.modelfile import read_tensors, write_tensors

STEPS, ROWS = 12, 6
SETTINGS: list[dict[str, Any]] = [
    {"batch": None, "schedule": "step", "every": 5},
    {"batch": 9, "schedule": "cosine", "tv": 1e-3},
]


class Killed(BaseException):
    """The process is gone."""


def task() -> ImageTask:
    return ImageTask(GridSignal(np.random.default_rng(0).integers(0, 256, (ROWS, 7, 3), dtype=np.uint8)))


def field(**options: Any) -> Field:
    return build("al-sine", in_dim=2, out_dim=3, **{"width": 8, "depth": 1, "levels": 2, "grid": 4, **options})


def same(a: Field, b: Field) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True))


@pytest.fixture(scope="module")
def whole() -> list[Field]:
    fields = []
    for setting in SETTINGS:
        fields.append(field())
        fit(fields[-1], task(), steps=STEPS, seed=4, **setting)
    return fields


@settings(max_examples=25, deadline=None)
@given(
    which=st.sampled_from([0, 1]), cuts=st.lists(st.integers(1, STEPS), max_size=4), every=st.sampled_from([0.0, 1e9])
)
def test_cut_anywhere(
    which: int, cuts: list[int], every: float, whole: list[Field], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("run") / "checkpoint"
    for cut in cuts:

        def die(progress: Progress, cut: int = cut) -> None:
            if progress.step >= cut:
                raise Killed

        torch.manual_seed(cut)  # whatever happened elsewhere in between
        with suppress(Killed):
            fit(field(), task(), steps=STEPS, seed=4, checkpoint=file, checkpoint_every=every, on_progress=die,
                **SETTINGS[which])  # fmt: skip
    last = field()
    starts: list[int] = []
    fit(last, task(), steps=STEPS, seed=4, checkpoint=file, on_start=starts.append, **SETTINGS[which])
    assert same(last, whole[which])
    if cuts and every == 0:
        assert starts[0] >= max(cuts) - 1


def test_a_stop_in_the_middle_of_a_batch_takes_no_step(
    whole: list[Field], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gradient, "COMPILED_PIECES", 1)
    pieces = -(-ROWS // max(1, workers()))  # of a row each, that the one who is asked takes
    answers = iter([False] * (2 * (pieces + 1) + 1) + [True] * 99)
    first = field()
    result = fit(first, task(), steps=STEPS, seed=4, checkpoint=tmp_path / "c", micro=7,
                 should_stop=lambda: next(answers), **SETTINGS[0])  # fmt: skip
    assert not result.finished
    assert result.steps == 2  # a question before every piece and one per step: the third step ended after one piece
    again = field()
    assert fit(again, task(), steps=STEPS, seed=4, checkpoint=tmp_path / "c", micro=7, **SETTINGS[0]).finished
    uncut = field()
    fit(uncut, task(), steps=STEPS, seed=4, micro=7, **SETTINGS[0])
    assert same(again, uncut)


def test_everything_is_put_back(tmp_path: Path) -> None:
    a, b = field(), field()
    fit(a, task(), steps=3)

    optimiser, other = make_optimiser(a, Training()), make_optimiser(b, Training())
    a(torch.rand(5, 2)).sum().backward()
    optimiser.step()
    torch.manual_seed(123)
    write_checkpoint(tmp_path / "c", a, optimiser, Position(7, 1.5), {"seed": 1})
    expected = torch.rand(3)
    assert read_checkpoint(tmp_path / "c", b, other, {"seed": 1}) == Position(7, 1.5)
    assert torch.equal(torch.rand(3), expected)
    assert same(a, b)
    assert other.steps == 7
    for mine, theirs in zip(optimiser.moments, other.moments, strict=True):
        assert torch.equal(mine.mean, theirs.mean)
        assert torch.equal(mine.square, theirs.square)
    assert any(bool(moments.square.any()) for moments in other.moments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 13}, "training steps=12, this one steps=13"),
        ({"seed": 5}, "seed 4, this one 5"),
        ({"lr": 0.5}, "training lr=0.001, this one lr=0.5"),
    ],
)
def test_another_run_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    fit(field(), task(), steps=STEPS, seed=4, checkpoint=tmp_path / "c")
    with pytest.raises(UserError, match=f"the run to resume has {message}"):
        fit(field(), task(), **{"steps": STEPS, "seed": 4, **change}, checkpoint=tmp_path / "c")


def test_another_field_is_refused(tmp_path: Path) -> None:
    fit(field(), task(), steps=2, checkpoint=tmp_path / "c")
    with pytest.raises(UserError, match="options width=8, this one width=16"):
        fit(field(width=16), task(), steps=2, checkpoint=tmp_path / "c")
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes()[:-9])
    with pytest.raises(UserError, match="not a readable model file"):
        fit(field(), task(), steps=2, checkpoint=tmp_path / "c")


def test_a_model_file_is_no_checkpoint(tmp_path: Path) -> None:
    from alfilter.training import save

    save(field(), tmp_path / "c")
    with pytest.raises(UserError, match="does not say which run it belongs to"):
        fit(field(), task(), steps=2, checkpoint=tmp_path / "c")


def test_first_difference() -> None:
    assert first_difference(1, 2) == (1, 2)
    assert first_difference({"a": 1}, {"a": 1, "b": 2}) == ("b=None", "b=2")


def test_a_checkpoint_with_a_removed_option_at_its_default_is_resumed(tmp_path: Path) -> None:
    one, file = field(), tmp_path / "checkpoint"
    optimiser = make_optimiser(one, Training())
    now = {"training": {"steps": 5}}
    write_checkpoint(file, one, optimiser, Position(3, 1.5), {"training": {"steps": 5, **REMOVED}})
    assert read_checkpoint(file, field(), optimiser, now) == Position(3, 1.5)
    write_checkpoint(file, one, optimiser, Position(3, 1.5), {"training": {"steps": 5, "bend": 0.1}})
    with pytest.raises(UserError, match=r"has training bend=0\.1, this one bend=None"):
        read_checkpoint(file, field(), optimiser, now)


def damaged(change: Callable[[dict[str, Any], dict[str, Tensor]], None], folder: Path) -> str:
    """What a resumed run says about a changed checkpoint of an octree."""
    tree: dict[str, Any] = {"levels": 3, "capacity": 200, "width": 8}
    file, setting = folder / "c", {"steps": 4}
    fit(build("octree", in_dim=2, out_dim=3, **tree), task(), checkpoint=file, **setting)
    header, tensors = read_tensors(file)
    change(header, tensors)
    write_tensors(file, tensors, header)
    with pytest.raises(UserError) as refused:
        fit(build("octree", in_dim=2, out_dim=3, **tree), task(), checkpoint=file, **setting)
    return str(refused.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, t: t["field.encoding.rows"].fill_(2_000_000_000), "a node's row is -1 or below 200, got "),
        (lambda h, t: t["field.encoding.table"].fill_(float("nan")), "tensor encoding.table holds NaN or infinity"),
        (lambda h, t: t.update({"optimiser.0.mean": torch.zeros(1)}), "expected moments of shape"),
        (lambda h, t: t["optimiser.0.square"].fill_(float("inf")), "its moments hold NaN or infinity"),
        (lambda h, t: h.update(step=-3), "step -3"),
        (lambda h, t: h.update(step=float("inf")), "does not fit this run"),
        (lambda h, t: h.update(seconds=float("nan")), "after nan seconds"),
    ],
)
def test_a_damaged_checkpoint_is_refused(change: Any, message: str, tmp_path: Path) -> None:
    answer = damaged(change, tmp_path)
    assert message in answer
    assert "\n" not in answer
