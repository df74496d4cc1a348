"""A study in a file of one's own."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import complaint


def declared(folder: Path, text: str) -> str:
    (folder / "mine.py").write_text(text, encoding="utf-8")
    return str(folder / "mine.py")


def test_a_study_file_is_read_or_refused_in_one_line(tmp_path: Path) -> None:
    assert "no such file" in complaint("experiment", tmp_path / "none.py").lower()
    assert "ZeroDivisionError: division by zero (line 2)" in complaint("experiment", declared(tmp_path, "\n1 / 0\n"))
    assert "SyntaxError" in complaint("experiment", declared(tmp_path, "def"))
    assert "got nothing of that name" in complaint("experiment", declared(tmp_path, "x = 1\n"))
    assert "got int" in complaint("experiment", declared(tmp_path, "STUDY = 1\n"))
    nameless = "from alfilter.experiments import Study\nSTUDY = Study('a/b', list, str)\n"
    assert "a study's name becomes a file's" in complaint("experiment", declared(tmp_path, nameless))
