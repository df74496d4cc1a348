"""`alfilter experiment` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import alfilter, complaint


def test_a_study_prints_its_table_and_writes_its_figure(tmp_path: Path) -> None:
    done = alfilter("experiment", "responses", "--out", tmp_path, "--workers", "1")
    assert done.code == 0
    assert done.out.startswith("| setting |")
    assert f"figure {tmp_path / 'responses.png'}" in done.err
    assert len((tmp_path / "responses.jsonl").read_text().splitlines()) == 3
    again = alfilter("experiment", "responses", "--out", tmp_path, "--workers", "1", "--json")
    assert "3 finished already" in again.err
    assert [line["image"] for line in json.loads(again.out)["lines"]] == ["none"] * 3


def test_an_unknown_study_names_the_nearest() -> None:
    assert complaint("experiment", "respones") == "there is no study 'respones'; did you mean 'responses'?"
