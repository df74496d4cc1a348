"""Standard streams that are closed, full or read by nobody."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.commands import TINY, picture

from alfilter.commands.streams import SafeStream


class Gone:
    """A stream whose reader left."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        raise BrokenPipeError

    def fileno(self) -> int:
        raise io.UnsupportedOperation

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def test_messages_that_nobody_reads_are_dropped() -> None:
    stream = SafeStream(Gone(), OSError)  # type: ignore[arg-type]
    print("hello", file=stream, flush=True)
    assert stream.write("five!") == 5


def test_results_are_dropped_for_a_reader_who_left_but_not_for_a_full_disk() -> None:
    stream = SafeStream(Gone(), BrokenPipeError)  # type: ignore[arg-type]
    assert stream.write("five!") == 5
    with pytest.raises(OSError, match="No space left"):
        stream.flush()


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ALFILTER": f"{sys.executable} -m alfilter"}
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_reader_who_leaves_in_the_middle_does_not_end_the_run(tmp_path: Path) -> None:
    """The first line is read, everything after it fails to be written, and the run still finishes."""
    picture(tmp_path / "photo.png")
    words = " ".join(("fit photo.png --method siren --steps 300 --out out", *TINY[:4], *TINY[-2:]))
    done = shell(f"$ALFILTER {words} 2>&1 | head -1; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("alfilter: fitting photo.png")
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["steps"] == 300
    assert not (tmp_path / "out" / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", ">&- 2>&-"])
def test_closed_streams_take_no_files_place(closed: str, tmp_path: Path) -> None:
    done = shell(f"$ALFILTER experiment --list {closed}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (not closed.startswith(">"))


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_listing_nobody_reads_to_its_end(unbuffered: str, tmp_path: Path) -> None:
    done = shell(f"PYTHONUNBUFFERED={unbuffered} $ALFILTER experiment --list | true; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
