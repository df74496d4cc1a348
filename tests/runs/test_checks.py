"""What is checked before a run: which signals are read first, and what makes two runs the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from alfilter.errors import UserError
from alfilter.runs.checks import check_folder, check_same, is_quick_to_read
from alfilter.runs.folder import RunFolder
from alfilter.runs.request import FitRequest


def test_small_files_and_what_cannot_be_read_are_quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert all(map(is_quick_to_read, ("sample:camera", "not-there", str(tmp_path / "a"), "x" * 5000, "a\0b")))
    monkeypatch.setattr("alfilter.runs.checks._QUICK", 3)
    assert not is_quick_to_read(str(tmp_path / "a"))


def test_files_that_are_no_run_are_never_written_over(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    check_folder(folder, FitRequest("sample:camera", overwrite=True))  # it is empty
    (tmp_path / "error.png").write_text("mine")
    folder.write_config({"architectures": ["of another program"]})
    for overwrite in (False, True):
        with pytest.raises(UserError, match="holds files but no run, and they are not written over") as caught:
            check_folder(folder, FitRequest("sample:camera", overwrite=overwrite))
        assert caught.value.arguments == ("out",)
    folder.config.unlink()
    with pytest.raises(UserError, match="holds files but no run to resume"):
        check_folder(folder, FitRequest("sample:camera", resume=True))


@pytest.mark.parametrize("name", ["config", "metrics"])
def test_a_run_is_written_over_when_asked(name: str, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    if name == "config":
        folder.write_config({"method": "siren", "signal": {}, "training": {}})
        folder.metrics.write_text("{")
    else:
        folder.write_metrics(dict.fromkeys(("method", "signal", "steps", "seconds", "params", "model"), 1))
    with pytest.raises(UserError, match="holds a run already; resume or overwrite it, or give another folder"):
        check_folder(folder, FitRequest("sample:camera"))
    check_folder(folder, FitRequest("sample:camera", overwrite=True))


def test_another_place_or_length_is_the_same_run(tmp_path: Path) -> None:
    stored = {"method": "siren", "seed": 0, "signal": {"source": "a", "sha256": "x"}, "options": {},
              "training": {"steps": 5, "budget": None, "lr": 1.0}}  # fmt: skip
    other = {**stored, "signal": {"source": "b", "sha256": "x"}, "training": {"steps": 9, "budget": None, "lr": 1.0}}
    check_same(RunFolder(tmp_path), stored, other)
    with pytest.raises(UserError, match=r"has training lr=1\.0, this one lr=2\.0"):
        check_same(RunFolder(tmp_path), stored, {**other, "training": {"steps": 9, "budget": None, "lr": 2.0}})
