"""Opening a user's file: the first bytes, and every way it can fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from alfilter.errors import UserError
from alfilter.signals import file_checks
from alfilter.signals.file_checks import check_memory, head, is_folder, looks_like


def test_the_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(range(100)))
    assert head(tmp_path / "f") == bytes(range(64))
    assert head(str(tmp_path / "f"), 3) == b"\0\1\2"


def test_what_is_no_readable_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("x")
    for name, reason in {
        "": "it is a folder; give a file inside it",
        "none": "no such file; check the path",
        "empty": "the file is empty; get it again",
        "pipe": "it is not a regular file; save the data to a file first",
        "file/inside": "Not a directory",
        "n" * 300: "File name too long",
        "a\0b": "null",
    }.items():
        with pytest.raises(UserError, match="cannot read") as refusal:
            head(tmp_path / name)
        assert reason in str(refusal.value)


def test_a_file_of_a_similar_name_is_named(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_text("x")
    with pytest.raises(UserError, match=r"no such file; did you mean '.*photo\.png'\?"):
        head(tmp_path / "Photoo.PNG")
    with pytest.raises(UserError, match="no such file; check the path"):
        head(tmp_path / "nowhere" / "photo.png")


def test_folders(tmp_path: Path) -> None:
    assert is_folder(tmp_path)
    assert not is_folder(tmp_path / "none")
    assert not is_folder(Path("n" * 5000))


def test_what_does_not_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_checks, "free_memory", lambda: 1 << 30)
    check_memory(Path("f"), 1 << 30)
    with pytest.raises(UserError, match=r"cannot read f: it needs 2\.0 GB of memory, 1\.0 GB are available"):
        check_memory(Path("f"), 2 << 30)
    monkeypatch.setattr(file_checks, "free_memory", lambda: None)
    check_memory(Path("f"), 1 << 60)


def test_what_content_seems_to_be() -> None:
    assert looks_like(b"a,b\r\n1,2\t") == "text"
    assert looks_like(b"\x89abc") == "unknown data starting with 89 61 62 63"
