"""Video as a signal over time, row and column: clips, animated GIFs and folders of frames in, clips and GIFs out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from fractions import Fraction
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError, need
from alfilter.files import replacing
from alfilter.signals.file_checks import head
from alfilter.signals.image import FORMATS, MODES, read_image
from alfilter.signals.mapped import LARGE
from alfilter.signals.pixels import check_size
from alfilter.signals.signal import GridSignal

MOST = 1 << 32  # bytes of all frames
MOST_FRAMES = 1 << 20
_PER_BYTE = 1 << 16  # pixels of a GIF's canvas for a byte of its file
RATE = 25.0  # frames per second where the file does not say
CLIPS = (".mp4", ".mov", ".mkv", ".webm", ".avi")
_STILLS = (b"heic", b"heix", b"mif1", b"avif")  # pictures in the container of a clip
Array = NDArray[Any]


def is_clip(start: bytes) -> bool:
    """Whether a file's first bytes are those of an MP4, MOV, Matroska, WebM or AVI file.

    >>> is_clip(bytes(4) + b"ftypisom"), is_clip(b"RIFF....WAVE")
    (True, False)
    """
    riff = start[:4] == b"RIFF" and start[8:12] == b"AVI "
    return riff or start[:4] == b"\x1aE\xdf\xa3" or (start[4:8] == b"ftyp" and start[8:12] not in _STILLS)


def is_gif(start: bytes) -> bool:
    """Whether a file's first bytes are those of a GIF."""
    return start[:6] in (b"GIF87a", b"GIF89a")


class Frames:
    """Frames one after the other into a file without a name: memory holds one of them, whatever their number."""

    def __init__(self, source: Path) -> None:
        self.source, self.count, self.first = source, 0, np.zeros((0, 0, 0), np.uint8)
        self._file = TemporaryFile()  # noqa: SIM115, closed below, or kept by the array that looks into it

    def add(self, frame: Array) -> None:
        """The next frame (H, W, c), of the size and kind of the first."""
        if self.count == 0:
            self.first = frame
            self.check(*frame.shape[:2])
        if (frame.shape, frame.dtype) != (self.first.shape, self.first.dtype):
            got = f"{_size(frame)} {frame.dtype}, the first is {_size(self.first)} {self.first.dtype}"
            raise UserError(f"expected frames of one size in {self.source}, frame {self.count} is {got}; convert them")
        if (self.count + 1) * frame.nbytes > MOST or self.count >= MOST_FRAMES:
            raise UserError(f"expected at most 4 GB of frames in {self.source}, frame {self.count} is beyond; cut it")
        self._file.write(np.ascontiguousarray(frame).data)
        self.count += 1

    def check(self, height: int, width: int, count: int = 1) -> None:
        """Refuse sizes out of bounds, before anything of them is decoded."""
        if count > MOST_FRAMES or count * height * width * 3 > MOST:
            raise UserError(
                f"expected at most {MOST_FRAMES:,} frames and 4 GB of them in {self.source}, got {count:,} of "
                f"{width}x{height}; cut it"
            )
        check_size(self.source, height, width)

    def array(self) -> Array:
        """All frames (T, H, W, c): in memory if they are few, else in their file."""
        if self.count < 2:
            raise UserError(f"expected at least 2 frames in {self.source}, got {self.count}; give a longer clip")
        self._file.flush()
        shape = (self.count, *self.first.shape)
        frames = np.memmap(self._file, self.first.dtype, "r", shape=shape)
        return np.array(frames) if frames[..., 0].size <= LARGE else frames

    def close(self) -> None:
        """Give the file back; an array that maps it keeps it open."""
        self._file.close()


def read_clip(path: str | Path) -> GridSignal:
    """The first video stream of a file, as RGB of 8 bits, upright; needs the extra `media`."""
    av = need("av", "media")
    file = Path(path)
    with closing(Frames(file)) as frames:
        try:
            with av.open(str(file)) as opened:
                if not opened.streams.video:
                    raise UserError(f"expected a video in {file}, got none; it may hold sound alone")
                stream = opened.streams.video[0]
                stream.thread_type = "AUTO"
                rate, promised = float(stream.average_rate or RATE), int(stream.frames or 0)
                frames.check(stream.codec_context.height, stream.codec_context.width, max(1, promised))
                for frame in opened.decode(stream):
                    frames.check(frame.height, frame.width)
                    frames.add(np.rot90(frame.to_ndarray(format="rgb24"), round(frame.rotation / 90)))
        except UserError:
            raise
        except Exception as error:  # damaged bytes make decoders fail in every way there is
            said = getattr(error, "strerror", None) or error  # FFmpeg's words without their number
            reason = " ".join(str(said).split()) or type(error).__name__
            raise UserError(f"cannot read {file} as video: {reason}; it is damaged or its codec unknown") from error
        if frames.count < 0.9 * promised:  # an edit list may leave out a few
            raise UserError(f"cannot read {file}: {frames.count} of {promised} frames are there; it is cut short")
        return _signal(frames.array(), rate)


def read_gif(path: str | Path) -> GridSignal:
    """The frames of a GIF as RGB; the picture of one that is not animated."""
    from PIL import GifImagePlugin, ImageSequence

    file = Path(path)
    with closing(Frames(file)) as frames:
        lasted = 0.0
        try:
            with file.open("rb") as handle, GifImagePlugin.GifImageFile(handle) as image:
                frames.check(image.height, image.width)
                if image.height * image.width > _PER_BYTE * file.stat().st_size:
                    raise ValueError(f"{file.stat().st_size} bytes for {image.width}x{image.height} pixels")
                for frame in ImageSequence.Iterator(image):
                    frames.add(np.array(frame.convert("RGB")))
                    lasted += float(frame.info.get("duration", 0)) / 1000
        except UserError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise UserError(f"cannot read {file} as GIF: {reason}; it is damaged or cut short, get it again") from error
        if frames.count == 1:
            return GridSignal(frames.first, mode="RGB")
        return _signal(frames.array(), frames.count / lasted if lasted > 0 else RATE)


def read_frames(folder: str | Path) -> GridSignal:
    """The pictures in a folder as frames, in the order of their names with numbers counted: 2.png before 10.png."""
    home = Path(folder)
    names = frame_names(home)
    if not names:
        head(home)  # a folder is not a file, and says so
    if len(names) == 1:
        raise UserError(
            f"expected at least 2 frames in {home}, got 1; add the others, or give {names[0].name} alone as a picture"
        )
    with closing(Frames(home)) as frames:
        for name in names:
            frames.add(read_image(name).data)
        return _signal(frames.array(), RATE)


def frame_names(folder: Path) -> list[Path]:
    """The pictures in a folder, in order.

    >>> [p.name for p in sorted(map(Path, ("f10.png", "f2.png")), key=_order)]
    ['f2.png', 'f10.png']
    """
    try:
        frames = [file for file in folder.iterdir() if file.suffix.lower() in FORMATS and not file.name.startswith(".")]
    except OSError as error:
        raise UserError(f"cannot read {folder}: {error.strerror or error}; check its permissions") from error
    return sorted(frames, key=_order)


def write_clip(path: str | Path, frames: Iterator[Array], rate: float) -> None:
    """Write frames (H, W, 3) of uint8, one by one: H.264 (WebM: VP9) in the file's container, or a GIF."""
    file = Path(path)
    with replacing(file) as temporary:
        if file.suffix.lower() == ".gif":
            _write_gif(temporary, frames, rate)
        else:
            try:
                _write_video(temporary, frames, rate)
            except need("av", "media").FFmpegError as error:
                raise UserError(f"cannot write {file} as video: {error}; try an .mp4 of another size") from error


def _write_gif(file: Path, frames: Iterator[Array], rate: float) -> None:
    from PIL import Image

    pictures = (Image.fromarray(frame) for frame in frames)
    first = next(pictures)
    # GIF counts hundredths of a second, and viewers slow down frames shorter than two of them
    duration = max(20, round(100 / rate) * 10)
    first.save(file, format="GIF", save_all=True, append_images=pictures, duration=duration, loop=0)


def _write_video(file: Path, frames: Iterator[Array], rate: float) -> None:
    av = need("av", "media")
    first = next(frames)
    height, width = first.shape[:2]
    with av.open(str(file), "w") as out:
        codec = "libvpx-vp9" if file.suffix.lower() == ".webm" else "libx264"  # WebM holds no H.264
        stream = out.add_stream(codec, rate=Fraction(rate).limit_denominator(1001), options={"crf": "16"})
        stream.width, stream.height = width, height
        # what every player shows has colours at half the size, which odd sizes cannot have
        stream.pix_fmt = "yuv420p" if height % 2 == width % 2 == 0 else "yuv444p"
        for frame in chain((first,), frames):
            out.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        out.mux(stream.encode(None))


def _signal(data: Array, rate: float) -> GridSignal:
    return GridSignal(data, kind="video", mode=MODES[data.shape[-1]], facts={"rate": rate})


def _order(file: Path) -> list[tuple[bool, int, str]]:
    parts = re.split(r"(\d+)", file.name)
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def _size(frame: Array) -> str:
    return f"{frame.shape[1]}x{frame.shape[0]}x{frame.shape[2]}"
