"""The fastest way is measured once, remembered, and never a matter of chance."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
import torch

pytest.importorskip("numba")

from alfilter.kernels.dispatch import VARIABLE
from alfilter.runtime import ways
from alfilter.runtime.ways import fastest_way, library_products, pick, time_in_turns

XEON = {"blocks": 1.0, "layers": 0.78, "plain": 0.95}  # relative times where the library's products are faster


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(ways, "_folder", lambda: tmp_path)
    return tmp_path


def never() -> dict[str, float]:
    raise AssertionError("nothing is to be measured")


def test_what_was_measured_is_remembered(folder: Path) -> None:
    assert fastest_way("one", lambda: XEON) == "layers"
    assert fastest_way("one", never) == "layers"
    assert fastest_way("other", lambda: {"blocks": 1.0, "layers": 1.2}) == "blocks"
    assert fastest_way("other", never) == "blocks"
    kept = [json.loads(file.read_text()) for file in folder.glob("way-*.json")]
    assert {"way": "layers", "seconds": XEON} in kept


def test_another_library_is_measured_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fastest_way("one", lambda: XEON) == "layers"
    monkeypatch.setenv("MKL_ENABLE_INSTRUCTIONS", "AVX2")
    assert fastest_way("one", lambda: {"blocks": 1.0}) == "blocks"


def test_the_environment_decides_without_measuring(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "plain")
    assert fastest_way("one", never) == "plain"


def test_nothing_is_measured_that_cannot_be_remembered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "_folder", lambda: None)
    assert fastest_way("one", never) == "blocks"


def test_a_choice_that_could_not_be_written_is_not_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk, as `files.replacing` finds it."""

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert fastest_way("one", lambda: XEON) == "blocks"
    assert not list(folder.glob("*way*"))


@pytest.mark.parametrize("content", ["", "{", "[]", '{"way": "fast"}', '{"way": 1}', "[" * 100_000])
def test_a_damaged_file_is_measured_again(folder: Path, content: str) -> None:
    fastest_way("one", lambda: XEON)
    (file,) = folder.glob("way-*.json")
    file.write_text(content)
    assert fastest_way("one", lambda: {"blocks": 1.0}) == "blocks"
    assert fastest_way("one", never) == "blocks"


def test_the_default_stays_unless_another_is_worth_it() -> None:
    assert pick(XEON) == "layers"
    assert pick({"blocks": 1.0, "layers": 0.96}) == "blocks"
    assert pick({"blocks": 1.0}) == "blocks"


def test_times_are_taken_in_turns_and_the_hopeless_once() -> None:
    order: list[str] = []
    takes = {"a": iter([9.0, 2.0, 3.0, 1.0, 2.0, 2.0]), "b": iter([9.0, 4.0])}
    now = 0.0

    def work(name: str) -> None:
        nonlocal now
        order.append(name)
        now += next(takes[name])

    seconds = time_in_turns({name: lambda name=name: work(name) for name in takes}, clock=lambda: now)  # type: ignore[misc]
    assert seconds == {"a": 1.0, "b": 4.0}, "the first turn warms up"
    assert order == ["a", "b", "a", "b", "a", "a", "a", "a"]


def test_the_products_are_those_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    monkeypatch.setattr(torch, "mm", lambda a, b: shapes.append((tuple(a.shape), tuple(b.shape))))
    library_products([(5, 2), (3, 5)], rows=7)()
    first = [((7, 2), (2, 5)), ((5, 7), (7, 2)), ((7, 5), (5, 2))]
    assert shapes == [*first, ((7, 5), (5, 3)), ((3, 7), (7, 5)), ((7, 3), (3, 5))]
