"""The file of result lines: whole lines, each run once, one writer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from alfilter.errors import UserError
from alfilter.experiments.runner.ledger import Ledger


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text().splitlines()]


def test_a_ledger_holds_whole_lines_and_each_run_once(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "study.jsonl"
    path.parent.mkdir()
    path.write_text('{"name": "a", "v": 1}\n[3]\n{"name": "b", "v"')
    with Ledger(path) as ledger:
        assert list(ledger.lines) == ["a"]
        ledger.add({"name": "b", "v": 2})
        ledger.add({"name": "b", "v": 3})
    assert lines_of(path) == [{"name": "a", "v": 1}, {"name": "b", "v": 2}]


def test_a_ledger_has_one_writer(tmp_path: Path) -> None:
    first, second = Ledger(tmp_path / "study.jsonl"), Ledger(tmp_path / "study.jsonl")
    with first, pytest.raises(UserError, match=r"study\.jsonl is in use by process \d+; wait"):
        second.__enter__()
    with second:
        second.add({"name": "a"})
