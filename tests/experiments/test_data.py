"""Where the data of studies lies, what is fetched, and how pictures are cut."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import alfilter, complaint

from alfilter.errors import UserError
from alfilter.experiments.data import FILES, crop, data_folder, fetch_missing, images, reduced
from alfilter.signals import GridSignal, write_image


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_image(tmp_path / "a.png", np.random.default_rng(0).random((12, 14, 3)))
    return tmp_path


def test_the_folder_is_named_by_the_environment_or_lies_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALFILTER_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/home/someone/.cache")
    assert data_folder() == "/home/someone/.cache/alfilter/data"
    monkeypatch.setenv("ALFILTER_DATA", "/somewhere/else")
    assert data_folder() == "/somewhere/else"


def test_what_is_missing_is_said_with_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFILTER_DATA", str(tmp_path))
    text = complaint("experiment", "methods-table", "--out", tmp_path / "out")
    assert text == (
        f"the data folder {tmp_path} lacks div2k/00.png and 3 more files; fetch what is missing with "
        "'alfilter experiment --fetch', or name the folder that has it with --data"
    )
    shapes = complaint("experiment", "shapes", "--out", tmp_path / "out")
    assert shapes.endswith("lacks meshes/armadillo.obj and 3 more files; name the folder that has it with --data")
    done = alfilter("experiment", "responses", "--out", tmp_path / "out", "--workers", "1")
    assert done.code == 0, "a study without data needs no folder"


def test_a_crop_is_the_middle(data: Path) -> None:
    whole, middle = crop(data / "a.png", None), crop(data / "a.png", 8)
    assert np.array_equal(middle.data, whole.data[2:10, 3:11])
    with pytest.raises(UserError, match="a crop of 99 was requested"):
        crop(data / "a.png", 99)


def test_reduced_by_area() -> None:
    data = np.arange(16, dtype=np.uint8).reshape(4, 4, 1) * 4
    assert reduced(GridSignal(data), 2).data[..., 0].tolist() == [[10, 18], [42, 50]]
    same = GridSignal(data)
    assert reduced(same, 4) is same


def test_images_of_a_folder(data: Path) -> None:
    (data / "sub").mkdir()
    for name in ("sub/b.JPG", "sub/note.txt"):
        (data / name).touch()
    assert images(data) == ["a.png", "sub/b.JPG"]
    with pytest.raises(UserError, match="is not one"):
        images(data / "a.png")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A real server on this machine that hands out a folder."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *words: object) -> None:
            del words

    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}", folder
        serving.shutdown()


def test_missing_data_is_fetched_and_checked(server: tuple[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("pooch")
    address, folder = server
    (folder / "a.png").write_bytes(b"picture")
    digest = hashlib.sha256(b"picture").hexdigest()
    data = tmp_path / "data"
    assert fetch_missing(str(data), {"div2k/a.png": (f"{address}/a.png", digest)}) == [data / "div2k" / "a.png"]
    assert (data / "div2k" / "a.png").read_bytes() == b"picture"
    assert fetch_missing(str(data), {"div2k/a.png": ("http://no.example", digest)}) == []  # it is there
    with pytest.raises(UserError, match=r"cannot fetch b\.png .*; put it there"):
        fetch_missing(str(data), {"b.png": (f"{address}/a.png", "0" * 64)})
    assert not (data / "b.png").exists()
    assert len(FILES) == 16
