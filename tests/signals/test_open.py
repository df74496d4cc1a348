"""open_signal: samples, files and everything that is neither."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from alfilter.errors import UserError
from alfilter.signals import GridSignal, open_signal, read_image, read_points, sample, write_image
from alfilter.signals.image import SAMPLES


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_inside_the_wheel(name: str) -> None:
    signal = open_signal(f"sample:{name}")
    assert isinstance(signal, GridSignal)
    assert signal.data.dtype == np.uint8
    assert signal.mode == {1: "L", 3: "RGB", 4: "RGBA"}[signal.out_dim]
    assert min(signal.shape) >= 100


def test_unknown_samples_name_the_nearest() -> None:
    with pytest.raises(UserError, match="got 'astronot'; did you mean 'astronaut'"):
        sample("astronot")


def test_a_path_is_read_by_its_content(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", np.full((3, 4, 3), 0.5))
    (tmp_path / "a.png").rename(tmp_path / "a.jpg")
    assert open_signal(str(tmp_path / "a.jpg")).describe() == read_image(tmp_path / "a.jpg").describe()


def test_home_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write_image(tmp_path / "a.png", np.full((3, 4, 3), 0.5))
    assert len(open_signal("~/a.png")) == 12


def test_unknown_content_lists_what_is_understood(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x00\x01\x02\x03junk")
    with pytest.raises(UserError, match=r"expected a PNG, JPEG, WebP, TIFF or BMP image.* or sample:NAME, got unknown"):
        open_signal(str(tmp_path / "a.png"))


def test_pipes_are_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="not a regular file"):
        open_signal(str(tmp_path / "pipe"))


def test_paths_the_system_refuses(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        open_signal(str(tmp_path / ("x" * 5000)))
    with pytest.raises(UserError, match="cannot read"):
        open_signal("a\0b")


def test_an_archive_says_what_it_holds(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", photo=np.zeros((4, 5, 3), np.uint8), depth=np.zeros((2, 3, 4)))
    with pytest.raises(UserError, match=r"holds the arrays photo \(4, 5, 3\) uint8, depth \(2, 3, 4\) float64; save"):
        open_signal(str(tmp_path / "a.npz"))
    with pytest.raises(UserError, match=r"has no columns, .* it holds photo \(4, 5, 3\) uint8"):
        read_points(tmp_path / "a.npz", ["a"], ["b"])
