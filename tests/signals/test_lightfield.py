"""Light fields from arrays, archives and folders, and what is said of those that are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from alfilter.errors import UserError
from alfilter.signals import GridSignal, open_signal, write_image
from alfilter.signals.arrays import lightfield_signal

VIEWS = np.random.default_rng(0).integers(0, 256, (2, 3, 5, 6, 3), dtype=np.uint8)


def write_views(folder: Path, views: np.ndarray = VIEWS, name: str = "view_{u}_{v}.png") -> Path:
    folder.mkdir()
    for u, row in enumerate(views):
        for v, view in enumerate(row):
            write_image(folder / name.format(u=u, v=v), view / 255)
    return folder


def opened(path: Path) -> GridSignal:
    signal = open_signal(str(path))
    assert isinstance(signal, GridSignal)
    return signal


def test_the_same_views_from_every_source(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", VIEWS)
    np.savez(tmp_path / "b.npz", views=VIEWS, note=np.array("taken in spring"))
    np.savez_compressed(tmp_path / "c.npz", views=VIEWS)
    sources = [tmp_path / "a.npy", tmp_path / "b.npz", tmp_path / "c.npz", write_views(tmp_path / "views")]
    sources.append(write_views(tmp_path / "more", name="View-{u}-{v}.png"))
    for signal in [*map(opened, sources), lightfield_signal(VIEWS)]:
        assert (signal.kind, signal.shape, signal.mode) == ("lightfield", (2, 3, 5, 6), "RGB")
        assert np.array_equal(signal.data, VIEWS)
    assert opened(tmp_path / "a.npy").coords()[-1].tolist() == [1, 1, 1, 1]


def test_views_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    many = np.zeros((2, 11, 2, 2, 1), np.uint8) + np.arange(11, dtype=np.uint8)[:, None, None, None]
    assert np.array_equal(opened(write_views(tmp_path / "views", many)).data, many)


def test_other_names_are_frames_as_before(tmp_path: Path) -> None:
    assert opened(write_views(tmp_path / "frames", name="{u}_{v}.png")).kind == "video"


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (
            (1, 3, 4, 4, 3),
            "with 2 samples or more per axis in the array, got shape (1, 3, 4, 4, 3); a line of views is",
        ),
        ((1, 1, 4, 4, 3), "got shape (1, 1, 4, 4, 3)"),
        ((3, 3, 4, 4, 5), "expected a light field (u, v, y, x, 1 to 4)"),
        ((3, 3, 4, 4), "got shape (3, 3, 4, 4); reshape it"),
        ((3, 3, 4, 4, 3, 1), "reshape it"),
    ],
)
def test_wrong_axes(shape: tuple[int, ...], text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        lightfield_signal(np.zeros(shape))
    assert text in str(caught.value)
    if len(shape) == 5:
        np.save(tmp_path / "a.npy", np.zeros(shape))
        np.savez(tmp_path / "a.npz", np.zeros(shape))
        for name in ("a.npy", "a.npz"):
            with pytest.raises(UserError, match=r"light field \(u, v, y, x, 1 to 4\).* got shape"):
                open_signal(str(tmp_path / name))


def test_numbers_that_are_none(tmp_path: Path) -> None:
    values = VIEWS.astype(np.float32)
    values[1, 2, 3, 4, 0] = np.nan
    np.savez(tmp_path / "a.npz", values)
    for make in (lambda: lightfield_signal(values), lambda: open_signal(str(tmp_path / "a.npz"))):
        with pytest.raises(UserError, match=r"1 NaN or infinite, the first at \(1, 2, 3, 4\); correct them"):
            make()


def test_folders_with_something_missing_or_else(tmp_path: Path) -> None:
    folder = write_views(tmp_path / "views")
    write_image(folder / "view_0_1.png", np.zeros((4, 6, 3)))
    with pytest.raises(UserError, match=r"views of one size in .*, view_0_1.png is 6x4x3 uint8, the first 6x5x3 uint8"):
        open_signal(str(folder))
    (folder / "view_0_1.png").unlink()
    with pytest.raises(UserError, match=r"expected all 2x3 views in .*, got 5; view_0_1 is missing, add it"):
        open_signal(str(folder))
    write_image(folder / "cover.png", np.zeros((5, 6, 3)))
    with pytest.raises(UserError, match=r"expected views called view_U_V in .*, got cover.png; take it out"):
        open_signal(str(folder))
    alone = write_views(tmp_path / "one", VIEWS[:1, :1])
    with pytest.raises(UserError, match=r"with 2 samples or more per axis in .*one, got shape \(1, 1, 5, 6, 3\)"):
        open_signal(str(alone))


def test_archives_that_cannot_be_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", a=VIEWS, b=VIEWS)
    with pytest.raises(UserError, match=r"expected one array of 5 axes in .*, got a, b; save the one to fit alone"):
        open_signal(str(tmp_path / "two.npz"))
    np.savez(tmp_path / "flat.npz", a=VIEWS[0])
    with pytest.raises(UserError, match=r"holds the arrays a \(3, 5, 6, 3\) uint8"):
        open_signal(str(tmp_path / "flat.npz"))
    np.savez(tmp_path / "bad.npz", a=np.zeros((2, 3, 200, 200, 3), np.uint8))
    raw = bytearray((tmp_path / "bad.npz").read_bytes())
    raw[len(raw) // 2] ^= 255  # a sample, which the checksum of the archive covers
    (tmp_path / "bad.npz").write_bytes(raw)
    with pytest.raises(UserError, match=r"cannot read .*bad.npz: .*; it is damaged or cut short, get it again"):
        open_signal(str(tmp_path / "bad.npz"))
