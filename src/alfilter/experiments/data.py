"""The data of studies: where it is, what can be fetched, pictures cropped and reduced."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alfilter.errors import UserError

if TYPE_CHECKING:
    from alfilter.signals import GridSignal

_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".npy")

# 16 of the 32 DIV2K pictures of Tancik et al., 512×512, as FINER's repository holds them; for academic use. The other
# 16 (its test_data) belong under div2k/16.png … 31.png: without a hash they are not fetched.
_FINER = "https://raw.githubusercontent.com/liuzhen0212/FINER/07a9a922e5bc20323d080ba382f71d333e9c7482"
_HASHES = (
    "5e12ce950833a3af415a4f7ee1de99a3cca12445d5b1166f7a4c48fe9f505795",
    "03543c216c82297e4f07078516169542ef0b1450c3111bb61a217f77a680ed08",
    "7db6d92a8c480696d5169c635505586850477cd5f66414ff7b67d42eca8f4ea5",
    "cb57cbc6b0b8a2304dfb24b5cdc21c63e085ed1052539dae8a4d8da3544e723f",
    "9bce5c246c4e2fb903bb37b733c787659da6b002f5ea559c0f2d785f28cf2e34",
    "49eec86aab4656f2d233a924ed58c4b8217aa8331becff9339e8f029217ac2ff",
    "675b56f480d4f96341d93df86f28f9e1f75513ecabab6292a6cfd70e91881d47",
    "bead606db20d0c7328f439c8ed61ed8ab6a02e573be1e2f2f6f896473b4e13f8",
    "225f0296ed396ae6571b14ada96da875652523d305b6c7deb2a6a27af0ca23a5",
    "17ff7b37eab646775c63f121c14810b7d76d6918a51a33975c5be55f839404b6",
    "b14292a8e36a7ea2ae0b8750025bae0e5fb061241cf13b174e6dd881cfc9b90f",
    "2b6bf851c87f8e4eb0dfd6cac38cf94ab982c2e89406782d103bcffc240adeac",
    "06ac638e8c27861881039d28d72583bbdbbd61e6f4ce52085222b15d9d5788e8",
    "9bcddb19ec256192caaaf69f31702c970a69fedb11ac8b33d62ac38dcf64b472",
    "9cd7d20f504589f6b90710e7c4fc0a0977e43c5056239f736a5e482530ac8a97",
    "df561022c0c1a0c762766ef52637300a683a5aef86660537370a24efafbcdaef",
)
FILES: dict[str, tuple[str, str]] = {
    f"div2k/{number:02d}.png": (f"{_FINER}/data/div2k/train_data/{number:02d}.png", digest)
    for number, digest in enumerate(_HASHES)
}


def data_folder() -> str:
    """Where data is read from and fetched to: $ALFILTER_DATA, or a folder of the user's cache."""
    named = os.environ.get("ALFILTER_DATA")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return named or str(cache / "alfilter" / "data")


class MissingData(UserError):
    """Files that a study needs and the data folder lacks. fetchable: whether `fetch_missing` gets all of them."""

    def __init__(self, data: str, files: Sequence[str]) -> None:
        more = f" and {len(files) - 1} more files" if len(files) > 1 else ""
        super().__init__(f"the data folder {data} lacks {files[0]}{more}")
        self.fetchable = set(files) <= set(FILES)


def missing_files(names: Iterable[str], data: str) -> list[str]:
    """Those of the named signals that are files below the data folder and are not there, each once.

    A name without an ending, like `terrain`, is no file; what follows a `#` says what is done with one.

    >>> missing_files(["terrain", "a.png", "b.obj#carved", "a.png"], "/no/such/folder")
    ['a.png', 'b.obj']
    """
    files = dict.fromkeys(name.partition("#")[0] for name in names)
    return [file for file in files if Path(file).suffix and not (Path(data) / file).is_file()]


def images(folder: str | Path) -> list[str]:
    """The names of all pictures below a folder, sorted: one `Run` each makes a study over a collection."""
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise UserError(f"the images are expected in a folder, {root} is not one; name another")
    files = (file for file in root.rglob("*") if file.suffix.lower() in _PICTURES and file.is_file())
    return sorted(file.relative_to(root).as_posix() for file in files)


def crop(path: Path, size: int | None) -> GridSignal:
    """A picture, or the square in its middle."""
    from alfilter.signals import GridSignal, read_image

    picture = read_image(path)
    if size is None:
        return picture
    top, left = ((n - size) // 2 for n in picture.shape)
    if top < 0 or left < 0:
        raise UserError(
            f"{path} is {picture.shape[1]}x{picture.shape[0]}, a crop of {size} was requested; give larger images"
        )
    return GridSignal(picture.data[top : top + size, left : left + size].copy())


def reduced(picture: GridSignal, size: int) -> GridSignal:
    """A picture reduced to size × size by area: every new pixel is the mean of what it covers, rounded to 8 bits."""
    from skimage.transform import resize_local_mean

    from alfilter.signals import GridSignal

    if picture.shape == (size, size):
        return picture
    small: Any = resize_local_mean(  # type: ignore[no-untyped-call]
        picture.data.astype(np.float64), (size, size), channel_axis=-1
    )
    return GridSignal(np.rint(small).astype(np.uint8))


def fetch_missing(data: str, files: Mapping[str, tuple[str, str]] = FILES) -> list[Path]:
    """Fetch the files a data folder lacks and check their hashes; what is there is left alone.

    files: name below the folder → (address, sha256).
    """
    missing = {name: source for name, source in files.items() if not (Path(data) / name).is_file()}
    if not missing:
        return []
    try:
        import pooch
    except ImportError as error:
        raise UserError("fetching needs pooch; install it with: pip install 'alfilter[fetch]'") from error
    fetched = []
    for name, (address, digest) in missing.items():
        target = Path(data) / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            pooch.retrieve(address, f"sha256:{digest}", fname=target.name, path=target.parent, progressbar=False)
        except (OSError, ValueError) as error:  # no connection, a full disk, another hash
            reason = " ".join(str(error).split())[:160]
            raise UserError(f"cannot fetch {name} from {address}: {reason}; put it there: {target}") from error
        fetched.append(target)
    return fetched
