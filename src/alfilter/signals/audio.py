"""Sound as a signal over time: WAV files in and out, read chunk by chunk with every length checked."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from alfilter.errors import UserError
from alfilter.files import write_bytes
from alfilter.signals.signal import GridSignal

MOST = 1 << 23  # samples: coordinates in float32 lie 2⁻²³ apart near the ends, so more could not be told apart
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_CODECS = {2: "ADPCM", 6: "A-law", 7: "µ-law", 0x11: "IMA ADPCM", 0x50: "MPEG", 0x55: "MP3", 0xFF: "AAC"}
_OPEN = (0, 0xFFFFFFFF)  # sizes that a program writes when it streams and never comes back to fill them in
Array = NDArray[Any]


@dataclass(frozen=True)
class Sound:
    """How samples are stored. code: 1 PCM or 3 float. bits: of one number. rate: samples per second."""

    code: int
    bits: int
    channels: int
    rate: int

    @property
    def is_float(self) -> bool:
        """Whether the numbers are floats, of which 1 is full scale."""
        return self.code == _FLOAT

    @property
    def frame(self) -> int:
        """Bytes of one sample of all channels."""
        return self.channels * self.bits // 8

    @property
    def zero(self) -> float:
        """The stored number of silence: 8 bits have no sign."""
        return 128.0 if self.bits == 8 else 0.0

    @property
    def full(self) -> float:
        """The stored number, above silence, that is full scale."""
        return 1.0 if self.code == _FLOAT else float(2 ** (self.bits - 1))


def is_wav(start: bytes) -> bool:
    """Whether a file's first bytes are those of a WAV file.

    >>> is_wav(b"RIFF....WAVEfmt "), is_wav(b"RIFF....WEBPVP8 ")
    (True, False)
    """
    return start[:4] == b"RIFF" and start[8:12] == b"WAVE"


def read_audio(path: str | Path) -> GridSignal:
    """The sound in a WAV file: PCM of 8, 16, 24 or 32 bits or float of 32 or 64, any number of channels up to 16.

    value = (sample / peak + 1) / 2, peak being the largest amplitude in the file: silence is at 0.5, and a quiet sound
    fills the range as a loud one does. The stored numbers are kept.
    """
    file = Path(path)
    with file.open("rb") as handle:
        sound, start, count = _chunks(file, handle)
        data = _samples(file, handle, sound, start, count)
    wrong = ~np.isfinite(data)
    if wrong.any():
        where = f"{int(np.count_nonzero(wrong))} NaN or infinite, the first at sample {int(wrong.any(-1).argmax())}"
        raise UserError(f"expected finite samples in {file}, got {where}; correct them")
    peak = max(abs(float(data.max()) - sound.zero), abs(float(data.min()) - sound.zero)) or sound.full
    facts = {"rate": sound.rate, "format": "float" if sound.code == _FLOAT else "PCM"}
    span = sound.zero - peak, sound.zero + peak
    return GridSignal(data, kind="audio", bits=sound.bits, span=span, facts=facts)


def write_audio(path: str | Path, amplitude: Array, rate: int, bits: int, *, is_float: bool = False) -> None:
    """Write amplitudes (n, c), 1 being full scale, to a WAV file: rounded and clipped to PCM, or as they are."""
    sound = Sound(_FLOAT if is_float else _PCM, bits, amplitude.shape[1], rate)
    check_audio(path, len(amplitude), sound)
    if count := int(np.isnan(amplitude).sum()):
        raise UserError(f"expected numbers to write to {Path(path)}, got {count} NaN; the fit has diverged")
    data = _encode(amplitude, sound)
    extra = b"" if sound.code == _PCM else struct.pack("<H", 0)  # float's header says that nothing follows
    head = struct.pack("<HHIIHH", sound.code, sound.channels, rate, rate * sound.frame, sound.frame, sound.bits)
    chunks = [(b"fmt ", head + extra), (b"data", data)]
    if sound.code == _FLOAT:
        chunks.insert(1, (b"fact", struct.pack("<I", len(amplitude))))
    body = b"".join(name + struct.pack("<I", len(part)) + part + b"\0" * (len(part) % 2) for name, part in chunks)
    write_bytes(path, b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body)


def check_audio(path: str | Path, count: int, sound: Sound) -> None:
    """Refuse what a WAV file cannot hold, before the work."""
    known = (32, 64) if sound.code == _FLOAT else (8, 16, 24, 32)
    if sound.bits not in known:
        able = " or ".join(map(str, known))
        raise UserError(f"a WAV holds {able} bits per sample, got {sound.bits} for {Path(path)}; give 16 bits")
    if not 1 <= sound.rate < 1 << 32:
        raise UserError(f"a WAV's rate is 1 to 4294967295 samples per second, got {sound.rate}; scale it less")
    if count < 1 or count * sound.frame >= (1 << 32) - 64:
        raise UserError(
            f"a WAV holds up to 4 GB, {count} samples are {count * sound.frame} bytes; give a smaller scale"
        )


def _chunks(file: Path, handle: BinaryIO) -> tuple[Sound, int, int]:
    """The format, where the samples begin, and how many there are."""
    size = file.stat().st_size
    handle.seek(12)
    sound: Sound | None = None
    while len(head := handle.read(8)) == 8:
        name, length = head[:4], int.from_bytes(head[4:], "little")
        here = handle.tell()
        if name == b"data" and sound is not None:
            return (
                sound,
                here,
                _count(file, sound, size - here if length in _OPEN and size > here else length, size - here),
            )
        if name == b"fmt ":
            sound = _format(file, handle.read(min(length, 40)))
        if here + length > size:
            break
        handle.seek(here + length + length % 2)
    missing = "samples" if sound is not None else "format"
    raise UserError(
        f"cannot read {file} as WAV: it ends before its {missing}; it is damaged or cut short, get it again"
    )


def _format(file: Path, body: bytes) -> Sound:
    """The `fmt ` chunk; an extensible one names the code at the head of a long name."""
    if len(body) < 16:
        raise UserError(f"cannot read {file} as WAV: its format is cut short; it is damaged, get it again")
    code, channels, rate, _, block, bits = struct.unpack("<HHIIHH", body[:16])
    if code == _EXTENSIBLE and len(body) >= 26:
        code = int.from_bytes(body[24:26], "little")
    if (code, bits) not in {(_PCM, 8), (_PCM, 16), (_PCM, 24), (_PCM, 32), (_FLOAT, 32), (_FLOAT, 64)}:
        kind = {_PCM: "PCM", _FLOAT: "float"}.get(code, _CODECS.get(code, f"codec {code:#x}"))
        known = "PCM of 8, 16, 24 or 32 bits or float of 32 or 64"
        raise UserError(f"expected {known} in {file}, got {kind} of {bits} bits; convert it, e.g. with ffmpeg")
    if not 1 <= channels <= 16 or rate < 1 or block != channels * bits // 8:
        got = f"{channels} channels at {rate} Hz in blocks of {block} bytes"
        raise UserError(
            f"expected 1 to 16 channels at a rate above 0 in {file}, got {got}; it is damaged, get it again"
        )
    return Sound(code, bits, channels, rate)


def _count(file: Path, sound: Sound, length: int, left: int) -> int:
    """How many samples the data chunk holds; one that is cut short is refused."""
    if length > left:
        got = f"{left} of {length} bytes"
        raise UserError(f"cannot read {file} as WAV: {got} of its samples are there; it is cut short, get it again")
    count = length // sound.frame
    if count < 2:
        raise UserError(f"expected at least 2 samples in {file}, got {count}; give a longer sound")
    if count > MOST:
        time = f"{MOST / sound.rate:.0f} s at its rate"
        raise UserError(f"expected at most {MOST:,} samples in {file} ({time}), got {count:,}; cut it into parts")
    return count


def _samples(file: Path, handle: BinaryIO, sound: Sound, start: int, count: int) -> Array:
    """The stored numbers (n, c); those of 24 bits as int32 of the same value."""
    handle.seek(start)
    raw = handle.read(count * sound.frame)
    if len(raw) < count * sound.frame:
        raise UserError(f"cannot read {file} as WAV: its samples are cut short; get it again")
    if sound.bits == 24:
        wide = np.zeros((count * sound.channels, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(raw, np.uint8).reshape(-1, 3)
        return (wide.view("<i4") >> 8).reshape(count, sound.channels)
    return np.frombuffer(raw, _dtype(sound)).reshape(count, sound.channels)


def _encode(amplitude: Array, sound: Sound) -> bytes:
    if sound.code == _FLOAT:
        return amplitude.astype(_dtype(sound)).tobytes()
    whole = np.rint(amplitude.astype(np.float64) * sound.full).clip(-sound.full, sound.full - 1) + sound.zero
    if sound.bits == 24:
        return whole.astype("<i4").reshape(-1, 1).view(np.uint8)[:, :3].tobytes()
    return whole.astype(_dtype(sound)).tobytes()


def _dtype(sound: Sound) -> np.dtype[Any]:
    return np.dtype("u1" if sound.bits == 8 else f"<{'f' if sound.code == _FLOAT else 'i'}{sound.bits // 8}")
