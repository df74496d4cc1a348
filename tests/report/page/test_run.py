"""From a folder on disk to report.html, and the one line a wrong folder gets."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from alfilter.errors import UserError
from alfilter.report import write_report

RESULT = {
    "method": "al-sine",
    "signal": "photos/<b>cat</b>.png",
    "steps": 1000,
    "seconds": 83.4,
    "params": 198915,
    "metrics": {"psnr": float("inf"), "ssim": 1.0},
    "heldout": {"psnr": 27.5},
    "model": "model.safetensors",
}


def png() -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (5, 4)).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps({"method": "al-sine", "preset": "paper", "seed": 0}))
    (tmp_path / "metrics.json").write_text(json.dumps(RESULT))
    lines: list[dict[str, Any]] = [{"step": s, "loss": 1.0, "psnr": 20.0 + s, "seconds": 0.1, "lr": {}} for s in (1, 2)]
    (tmp_path / "history.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    return tmp_path


def test_report_of_a_run(folder: Path) -> None:
    (folder / "alpha.png").write_bytes(png())
    path = write_report(folder)
    text = path.read_text(encoding="utf-8")
    assert path == folder / "report.html"
    assert "<title>al-sine on b&gt;.png</title>" in text, "the name after the last slash, escaped"
    for part in ("1 min 23 s", "198,915", "paper", "∞", "27.50", "<svg", "Map of the filter"):
        assert part in text
    assert sorted(p.name for p in folder.iterdir() if p.name.startswith(".")) == [], "no temporary file stays"


def test_writing_twice_gives_the_same_page(folder: Path) -> None:
    first = write_report(folder).read_bytes()
    assert write_report(folder).read_bytes() == first


def test_history_and_heldout_may_be_absent(folder: Path) -> None:
    (folder / "history.jsonl").unlink()
    (folder / "metrics.json").write_text(json.dumps({**RESULT, "heldout": None}))
    text = write_report(folder).read_text(encoding="utf-8")
    assert "<svg" not in text
    assert "Nothing was held out." in text


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("config.json", b"{", r"config\.json' is not valid JSON at line 1; run the fit again"),
        ("metrics.json", b"[]", r"metrics\.json': expected a JSON object, got list"),
        ("metrics.json", b'{"metrics": 3}', r"expected an object under 'metrics', got int"),
        ("metrics.json", b'{"metrics": {}, "heldout": [1]}', r"expected an object under 'heldout', got list"),
        ("metrics.json", b"\xff\xfe", r"metrics\.json' is not UTF-8"),
        ("alpha.png", b"GIF89a", r"alpha\.png' is not a PNG file"),
    ],
)
def test_broken_files_are_named(folder: Path, name: str, content: bytes, message: str) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        write_report(folder)
    assert "\n" not in str(caught.value)
    assert not (folder / "report.html").exists()


def test_a_line_cut_off_by_a_kill_is_left_out(folder: Path) -> None:
    whole = write_report(folder).read_text(encoding="utf-8")
    with (folder / "history.jsonl").open("a") as stream:
        stream.write('{"step"')
    assert write_report(folder).read_text(encoding="utf-8") == whole


@pytest.mark.parametrize("missing", ["config.json", "metrics.json"])
def test_not_a_run_folder(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(UserError, match=rf"expected a run folder with {missing}, got .*; give the folder of a fit"):
        write_report(folder)


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected a run folder"):
        write_report(tmp_path / "line\nbreak")
