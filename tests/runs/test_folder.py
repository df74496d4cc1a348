"""The run folder: its names, its lines, and when a run is finished."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from alfilter.errors import UserError
from alfilter.runs.folder import FILES, History, RunFolder, append_json_line, read_history, read_json, read_json_lines


def no_space(*arguments: object, **named: object) -> None:
    raise OSError(28, "No space left on device")


def test_history_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        write = staticmethod(no_space)
        close = staticmethod(no_space)

    monkeypatch.setattr(Path, "open", lambda *arguments, **named: Full())
    with pytest.raises(ValueError, match="No space left on device"), History(tmp_path / "history.jsonl") as history:
        history.append({"step": 1})


def test_history_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n{"st')
    with History(file) as history:
        history.truncate(2)
        history.append({"step": 3, "again": True})
    assert read_history(file) == [{"step": 1}, {"step": 2}, {"step": 3, "again": True}]
    file.write_text('{"step": 1}\n[2]\n{"step": 3}\n')
    assert read_history(file) == [{"step": 1}]
    assert read_history(tmp_path / "none") == []


def test_json_lines_say_which_ones_are_damaged(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    with file.open("a", encoding="utf-8") as stream:
        append_json_line(stream, {"a": 1})
        assert file.read_text() == '{"a": 1}\n'  # at once, not when the file is closed
        stream.write('[2]\n{"b": \n')
        append_json_line(stream, {"c": "γ"})
    assert read_json_lines(file) == [{"a": 1}, None, None, {"c": "γ"}]
    assert read_json_lines(tmp_path / "none") == []
    with pytest.raises(UserError, match="cannot read"):
        read_json_lines(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"{", "not valid JSON at line 1"), (b"[]", "expected a JSON object, got list"), (b"\xff", "not UTF-8 text")],
)
def test_a_damaged_object_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        read_json(file)
    assert str(file) in str(caught.value)
    with pytest.raises(UserError, match="No such file"):
        read_json(tmp_path / "none.json")


def test_a_run_is_finished_when_the_checkpoint_is_gone(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.finished_result() is None
    line = dict.fromkeys(("method", "signal", "steps", "seconds", "params", "model"), 1) | {
        "finished": True,
        "metrics": {},
    }
    folder.write_metrics(line)
    assert folder.finished_result() is None  # there is no model
    folder.model.touch()
    folder.checkpoint.touch()
    assert folder.finished_result() is None  # the report may be missing
    folder.checkpoint.unlink()
    assert folder.finished_result() == line
    folder.write_metrics({**line, "finished": False})
    assert folder.finished_result() is None


def test_only_files_of_a_run_are_cleared(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for name in (*FILES, "notes.txt", ".error.png.abcdefgh.png", ".notes.png.abcdefgh.png"):
        (tmp_path / name).write_text("x")
    assert ".error.png.abcdefgh.png" not in folder.contents()
    assert set(folder.pictures()) == {Path(name).stem for name in FILES if name.endswith(".png")}
    folder.clear(())
    assert not (tmp_path / ".error.png.abcdefgh.png").exists()
    assert folder.model.exists()
    folder.clear()
    assert sorted(folder.contents()) == [".notes.png.abcdefgh.png", "notes.txt"]
    assert RunFolder(tmp_path / "none").contents() == []


def test_results_are_a_config_and_metrics(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert not folder.holds_results
    folder.write_config({"seed": 1})
    assert not folder.holds_results
    folder.write_metrics({"steps": 2})
    assert folder.holds_results
    assert (folder.read_config(), folder.read_metrics()) == ({"seed": 1}, {"steps": 2})
    assert json.loads((tmp_path / "config.json").read_text()) == {"seed": 1}
