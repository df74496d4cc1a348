"""`alfilter report`: a page, or tables on stdout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.commands import alfilter, complaint


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    rows = [
        {"group": "siren", "image": "a.png", "method": "siren", "seed": seed, "steps": 5, "seconds": 1.0, "params": 10,
         "metrics": {"psnr": 20.0 + seed}, "heldout": None, "name": f"run {seed}"}
        for seed in (0, 1)
    ]  # fmt: skip
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "mine.jsonl"


@pytest.mark.parametrize(("form", "message"), [("markdown", "| siren | 2 |"), ("csv", "siren"), ("latex", "tabular")])
def test_tables_go_to_stdout(lines: Path, form: str, message: str) -> None:
    code, out, err = alfilter("report", lines, "--format", form)
    assert (code, err) == (0, "")
    assert message in out


def test_a_page_goes_to_a_file(lines: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    code, out, _ = alfilter("report", lines, "--out", page, "--title", "My runs")
    assert code == 0
    assert out.startswith(f"{page} 2 runs, ")
    assert "My runs" in page.read_text()


def test_nothing_to_report_is_refused(tmp_path: Path) -> None:
    complaint("report", tmp_path / "none")
