"""Video: frames in order from clips, GIFs and folders, and everything that can be wrong with them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.support.data import shared_data

from alfilter.errors import UserError
from alfilter.signals import GridSignal, open_signal, read_clip, read_frames, read_gif, write_image
from alfilter.signals import video as module
from alfilter.signals.video import Frames, frame_names, write_clip


def moving(count: int = 5, height: int = 16, width: int = 24) -> Any:
    """A bright bar that moves to the right over a slope, (T, H, W, 3)."""
    frames = np.zeros((count, height, width, 3), np.uint8)
    frames[..., 1] = np.linspace(40, 160, width).astype(np.uint8)
    for k in range(count):
        frames[k, :, 3 * k : 3 * k + 4, 0] = 200
    return frames


def test_a_folder_of_frames_is_a_video_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    frames = moving(11)
    for k, frame in enumerate(frames):
        write_image(tmp_path / f"f{k}.png", frame / 255)
    (tmp_path / "notes.txt").write_text("not a frame")
    signal = open_signal(str(tmp_path))
    assert isinstance(signal, GridSignal)
    assert (signal.kind, signal.shape, signal.facts) == ("video", (11, 16, 24), {"rate": 25.0})
    assert np.array_equal(signal.data, frames)


def test_a_folder_with_odd_digits_in_its_names(tmp_path: Path) -> None:
    for name in ("²5.png", "①2.png", "٣.png", "²10.png"):
        write_image(tmp_path / name, np.full((2, 2, 1), 0.5))
    assert [file.name for file in frame_names(tmp_path)] == ["٣.png", "²5.png", "²10.png", "①2.png"]


def test_a_folder_must_hold_frames_of_one_size(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="it is a folder; give a file inside it"):
        open_signal(str(tmp_path))
    write_image(tmp_path / "a.png", np.zeros((4, 5, 3)))
    with pytest.raises(UserError, match=r"at least 2 frames in .*, got 1; add the others, or give a\.png alone as a"):
        read_frames(tmp_path)
    write_image(tmp_path / "b.png", np.zeros((4, 6, 3)))
    with pytest.raises(UserError, match="frame 1 is 6x4x3 uint8, the first is 5x4x3 uint8; convert them"):
        read_frames(tmp_path)
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes()[:40])
    with pytest.raises(UserError, match="damaged or cut short"):
        read_frames(tmp_path)


def test_a_gif_is_read_with_its_rate(tmp_path: Path) -> None:
    pictures = [Image.new("RGB", (6, 4), colour) for colour in ("red", "lime", "blue")]
    pictures[0].save(tmp_path / "a.gif", save_all=True, append_images=pictures[1:], duration=[100, 100, 200])
    signal = open_signal(str(tmp_path / "a.gif"))
    assert isinstance(signal, GridSignal)
    assert (signal.kind, signal.shape, signal.out_dim) == ("video", (3, 4, 6), 3)
    assert signal.facts["rate"] == pytest.approx(3 / 0.4)
    assert signal.data[:, 0, 0].tolist() == [[255, 0, 0], [0, 255, 0], [0, 0, 255]]


def test_a_gif_that_does_not_move_is_a_picture(tmp_path: Path) -> None:
    Image.new("RGB", (6, 4), "red").save(tmp_path / "a.gif")
    signal = read_gif(tmp_path / "a.gif")
    assert (signal.kind, signal.shape, signal.mode) == ("image", (4, 6), "RGB")


def test_a_damaged_gif_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.gif").write_bytes(b"GIF89a\x00")
    with pytest.raises(UserError, match=r"cannot read .* as GIF: .*; it is damaged or cut short"):
        read_gif(tmp_path / "a.gif")


def test_a_gif_comes_back(tmp_path: Path) -> None:
    frames = moving()
    write_clip(tmp_path / "a.gif", iter(frames), 10.0)
    back = read_gif(tmp_path / "a.gif")
    assert back.facts["rate"] == pytest.approx(10.0)
    assert np.abs(back.data.astype(int) - frames).mean() < 4  # 256 colours


@pytest.mark.parametrize(("name", "size"), [("a.mp4", (16, 24)), ("a.webm", (16, 24)), ("a.mp4", (17, 25))])
def test_a_clip_comes_back(name: str, size: tuple[int, int], tmp_path: Path) -> None:
    pytest.importorskip("av", reason="needs the extra media")
    frames = moving(6, *size)
    write_clip(tmp_path / name, iter(frames), 12.5)
    signal = open_signal(str(tmp_path / name))
    assert isinstance(signal, GridSignal)
    assert (signal.kind, signal.shape, signal.data.dtype) == ("video", (6, *size), np.uint8)
    assert signal.facts["rate"] == pytest.approx(12.5)
    assert np.abs(signal.data.astype(int) - frames).mean() < 12  # H.264 is lossy


def test_bad_clips_are_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("av", reason="needs the extra media")
    write_clip(tmp_path / "a.mp4", iter(moving(30)), 25.0)
    whole = (tmp_path / "a.mp4").read_bytes()
    for name, data in (("cut", whole[: len(whole) // 2]), ("head", whole[:40]), ("junk", whole[:16] + bytes(500))):
        (tmp_path / f"{name}.mp4").write_bytes(data)
        with pytest.raises(UserError, match=r"cannot read .*(damaged|cut short)") as raised:
            read_clip(tmp_path / f"{name}.mp4")
        assert "\n" not in str(raised.value)


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    (tmp_path / "a.mp4").write_bytes(bytes(4) + b"ftypisom" + bytes(40))
    message = r"this needs av, which is not installed; pip install 'alfilter\[media\]'"
    with pytest.raises(UserError, match=message):
        open_signal(str(tmp_path / "a.mp4"))
    with pytest.raises(UserError, match=message):
        write_clip(tmp_path / "b.mp4", iter(moving()), 25.0)
    assert [file.name for file in tmp_path.iterdir()] == ["a.mp4"]


def test_many_frames_stay_in_their_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 100)
    store, frames = Frames(tmp_path), moving()
    for frame in frames:
        store.add(frame)
    array = store.array()
    store.close()
    assert isinstance(array, np.memmap)
    assert np.array_equal(array, frames)
    assert not list(tmp_path.iterdir())


def test_too_many_frames_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3000)
    store = Frames(tmp_path)
    store.add(moving()[0])
    store.add(moving()[0])
    with pytest.raises(UserError, match=r"at most 4 GB of frames in .*, frame 2 is beyond; cut it"):
        store.add(moving()[0])
    store.close()


def test_one_frame_is_no_video(tmp_path: Path) -> None:
    store = Frames(tmp_path)
    store.add(moving()[0])
    with pytest.raises(UserError, match=r"at least 2 frames in .*, got 1; give a longer clip"):
        store.array()
    store.close()


def test_a_real_clip() -> None:
    pytest.importorskip("av", reason="needs the extra media")
    signal = read_clip(shared_data("video", "carphone_pristine.mp4"))
    assert (signal.shape, signal.out_dim) == ((120, 144, 176), 3)
    assert 10 < signal.data.mean() < 245


def test_what_is_no_video_is_said_without_a_number(tmp_path: Path) -> None:
    pytest.importorskip("av")
    (tmp_path / "fake.mp4").write_bytes(b"\0\0\0\x18ftypmp42" + bytes(100))
    with pytest.raises(UserError, match=r"cannot read .*fake\.mp4 as video: [A-Z][a-z ]+; it is damaged or its"):
        open_signal(str(tmp_path / "fake.mp4"))
