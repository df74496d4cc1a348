"""Whole files or none."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from alfilter.errors import UserError
from alfilter.files import find_temporary_folder, replacing, write_bytes, write_text


def test_text_and_bytes(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "α = ½\n")
    write_bytes(str(tmp_path / "b.bin"), b"\x00\xff\n")
    assert (tmp_path / "a.txt").read_bytes() == "α = ½\n".encode()
    assert (tmp_path / "b.bin").read_bytes() == b"\x00\xff\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "b.bin"]


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "model.bin"
    target.write_bytes(b"old")
    with replacing(target) as temporary:
        assert temporary.parent == tmp_path, "a rename is atomic only within one file system"
        assert temporary.suffix == ".bin", "writers choose their format by the suffix"
        temporary.write_bytes(b"new and longer")
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new and longer"


@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: BaseException) -> None:
    target = tmp_path / "model.bin"
    target.write_bytes(b"old")

    def fail() -> None:
        with replacing(target) as temporary:
            temporary.write_bytes(b"half")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["model.bin"]
    assert target.read_bytes() == b"old"


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    target = tmp_path / "model.bin"
    with pytest.raises(UserError) as caught, replacing(target):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(caught.value) == (f"cannot write {target}: No space left on device; free some space or write elsewhere")
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fails_on_sync_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    target = tmp_path / "a.txt"
    target.write_text("old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UserError, match="Input/output error"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_missing_folder_is_said_in_one_line(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "a.txt"
    with pytest.raises(UserError) as caught:
        write_text(target, "x")
    assert str(caught.value) == (f"cannot write {target}: No such file or directory; give a folder you may write to")


def test_a_folder_in_the_way_is_said_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(UserError, match=r"cannot write .*a\.txt: Is a directory"):
        write_text(tmp_path / "a.txt", "x")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_read_only_folder_is_said_in_one_line(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UserError, match="Permission denied; give a folder you may write to"):
        write_text(tmp_path / "a.txt", "x")


@pytest.mark.skipif(os.name != "posix", reason="permission bits")
def test_others_may_read(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "x")
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644


def test_the_umask_is_respected(tmp_path: Path) -> None:
    for mask, mode in ((0o077, 0o600), (0o022, 0o644), (0o002, 0o664)):
        before = os.umask(mask)
        try:
            write_text(tmp_path / f"{mask}.txt", "x")
        finally:
            os.umask(before)
        assert (tmp_path / f"{mask}.txt").stat().st_mode & 0o777 == mode


def test_the_rename_is_pushed_to_the_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []

    def note(handle: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))

    monkeypatch.setattr(os, "fsync", note)
    write_text(tmp_path / "a.txt", "x")
    assert len(synced) == 2
    assert synced[1] == str(tmp_path.resolve())


def test_shared_memory_takes_the_place_of_a_missing_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "."))
    find_temporary_folder(tmp_path / "memory")
    assert tempfile.gettempdir() == str(tmp_path), "a usual place stays"
    for lost in (str(tmp_path / "here"), None):  # the working directory, or none at all
        monkeypatch.setattr(tempfile, "tempdir", None)
        monkeypatch.setattr(tempfile, "_get_default_tempdir", _raising if lost is None else lambda lost=lost: lost)
        find_temporary_folder(tmp_path / "missing")
        assert tempfile.tempdir == lost, "nothing is better than a place that cannot be used"
        find_temporary_folder(tmp_path)
        assert (tempfile.gettempdir(), os.environ["TMPDIR"]) == (str(tmp_path), str(tmp_path))
        monkeypatch.delenv("TMPDIR")


def _raising() -> str:
    raise FileNotFoundError("no usable temporary directory")
