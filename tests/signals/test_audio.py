"""WAV files: every stored kind of number against scipy's reader, and everything that can be wrong with one."""

from __future__ import annotations

import io
import struct
import wave
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import wavfile
from tests.support.data import shared_data

from alfilter.errors import UserError
from alfilter.signals import GridSignal, open_signal, read_audio, write_audio
from alfilter.signals.audio import MOST

KINDS = [(8, False), (16, False), (24, False), (32, False), (32, True), (64, True)]


def tone(count: int = 101, channels: int = 1) -> np.ndarray:
    time = np.arange(count)[:, None] / 40
    return 0.7 * np.sin(2 * np.pi * time * (1 + np.arange(channels)))


def chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def riff(*chunks: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 4 + sum(map(len, chunks))) + b"WAVE" + b"".join(chunks)


FORMAT = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16))


@pytest.mark.parametrize(("bits", "is_float"), KINDS)
@pytest.mark.parametrize("channels", [1, 2])
def test_what_is_written_is_read_as_scipy_reads_it(bits: int, is_float: bool, channels: int, tmp_path: Path) -> None:
    write_audio(tmp_path / "a.wav", tone(channels=channels), 8000, bits, is_float=is_float)
    rate, reference = wavfile.read(tmp_path / "a.wav")
    signal = open_signal(str(tmp_path / "a.wav"))
    assert isinstance(signal, GridSignal)
    ours = signal.data.astype(np.float64) * (256 if bits == 24 else 1)  # scipy keeps 24 bits in the upper ones
    assert np.array_equal(ours, reference.reshape(-1, channels).astype(np.float64))
    facts = signal.describe()
    assert (rate, facts["rate"], facts["bits"], facts["kind"], facts["shape"]) == (8000, 8000, bits, "audio", [101])
    assert facts["channels"] == channels
    silence = 128 if bits == 8 else 0
    assert (facts["low"] + facts["high"]) / 2 == silence
    step = 0 if is_float else 2.0 ** (1 - bits)
    full = 1 if is_float else 2 ** (bits - 1)
    assert np.abs((signal.data - float(silence)) / full - tone(channels=channels)).max() <= step / 2 + 1e-7


def test_the_standard_librarys_file_by_hand(tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(100)
        file.writeframes(struct.pack("<4h", 0, 10, -20, 5))
    signal = read_audio(tmp_path / "a.wav")
    assert (signal.low, signal.high) == (-20.0, 20.0)
    assert signal.values().flatten().tolist() == [0.5, 0.75, 0.0, 0.625]
    assert torch.equal(signal.coords(), torch.tensor([[-3.0], [-1.0], [1.0], [3.0]]) / 3)


def test_silence_is_a_half_everywhere(tmp_path: Path) -> None:
    write_audio(tmp_path / "a.wav", np.zeros((5, 1)), 100, 8)
    assert read_audio(tmp_path / "a.wav").values().flatten().tolist() == [0.5] * 5


def test_other_chunks_odd_lengths_and_extensible_formats_are_understood(tmp_path: Path) -> None:
    long = struct.pack("<HHIIHHHHI", 0xFFFE, 1, 8000, 16000, 2, 16, 22, 16, 4) + struct.pack("<H", 1) + bytes(14)
    data = riff(chunk(b"LIST", b"odd"), chunk(b"fmt ", long), chunk(b"fact", bytes(4)), chunk(b"data", bytes(6)))
    (tmp_path / "a.wav").write_bytes(data)
    assert read_audio(tmp_path / "a.wav").shape == (3,)


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF])
def test_a_stream_whose_length_was_never_filled_in(size: int, tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(riff(FORMAT) + b"data" + struct.pack("<I", size) + bytes(20))
    assert read_audio(tmp_path / "a.wav").shape == (10,)


def codec(code: int, bits: int, block: int) -> bytes:
    return riff(chunk(b"fmt ", struct.pack("<HHIIHH", code, 1, 8000, 8000, block, bits)), chunk(b"data", bytes(8)))


def huge() -> bytes:
    return riff(FORMAT) + b"data" + struct.pack("<I", 2 * MOST + 2)


WRONG = {
    "cut": (riff(FORMAT, chunk(b"data", bytes(100)))[:-40], "60 of 100 bytes of its samples are there; it is cut"),
    "no samples": (riff(FORMAT), "it ends before its samples"),
    "empty": (riff(FORMAT, chunk(b"data", b"")), "at least 2 samples in .*, got 0"),
    "no format": (riff(chunk(b"data", bytes(4))), "it ends before its format"),
    "short format": (riff(chunk(b"fmt ", bytes(4))), "its format is cut short"),
    "mulaw": (codec(7, 8, 1), "got µ-law of 8 bits; convert it"),
    "strange": (codec(0x1234, 16, 2), "got codec 0x1234 of 16 bits"),
    "12 bits": (codec(1, 12, 2), "got PCM of 12 bits"),
    "block": (codec(1, 16, 3), "in blocks of 3 bytes; it is damaged"),
    "head": (b"RIFF\0\0\0\0WAVE", "it ends before its format"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_files_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    data, message = WRONG[name]
    (tmp_path / "a.wav").write_bytes(data)
    with pytest.raises(UserError, match=message) as raised:
        read_audio(tmp_path / "a.wav")
    assert "\n" not in str(raised.value)


def test_what_is_too_long_is_refused_by_its_header(tmp_path: Path) -> None:
    with (tmp_path / "a.wav").open("wb") as file:
        file.write(huge())
        file.truncate(2 * MOST + 1000)  # a hole: nothing is stored
    with pytest.raises(UserError, match=r"at most 8,388,608 samples .*\(1049 s at its rate\), got 8,388,609; cut it"):
        read_audio(tmp_path / "a.wav")


def test_samples_that_are_no_numbers(tmp_path: Path) -> None:
    values = np.zeros((6, 2), np.float32)
    values[4, 1], values[5, 0] = np.nan, np.inf
    wavfile.write(tmp_path / "a.wav", 100, values)
    with pytest.raises(UserError, match="got 2 NaN or infinite, the first at sample 4; correct them"):
        read_audio(tmp_path / "a.wav")
    with pytest.raises(UserError, match="got 1 NaN; the fit has diverged"):
        write_audio(tmp_path / "b.wav", np.array([[0.0], [np.nan]]), 100, 16)
    assert not (tmp_path / "b.wav").exists()


@given(st.binary(max_size=80), st.integers(0, 60))
@settings(max_examples=150, deadline=None)
def test_damaged_bytes_never_end_in_a_traceback(tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int) -> None:
    whole = riff(FORMAT, chunk(b"data", bytes(16)))
    file = tmp_path_factory.getbasetemp() / "damaged.wav"
    file.write_bytes(whole[: 12 + at] + junk + whole[12 + at + len(junk) :])
    try:
        signal = read_audio(file)
    except UserError:
        return
    assert signal.values().isfinite().all()


def test_loud_samples_are_clipped_to_pcm_and_kept_as_float(tmp_path: Path) -> None:
    loud = np.array([[2.0], [-2.0]])
    write_audio(tmp_path / "a.wav", loud, 100, 16)
    assert read_audio(tmp_path / "a.wav").data.flatten().tolist() == [32767, -32768]
    write_audio(tmp_path / "a.wav", loud, 100, 64, is_float=True)
    assert read_audio(tmp_path / "a.wav").data.flatten().tolist() == [2.0, -2.0]


def test_scipy_and_the_standard_library_read_what_is_written(tmp_path: Path) -> None:
    write_audio(tmp_path / "a.wav", tone(11, 2), 44100, 24)
    with wave.open(io.BytesIO((tmp_path / "a.wav").read_bytes())) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate(), file.getnframes()) == (2, 3, 44100, 11)


def test_a_real_sound() -> None:
    signal = read_audio(shared_data("audio", "gt_bach.wav"))
    rate, reference = wavfile.read(shared_data("audio", "gt_bach.wav"))
    assert np.array_equal(signal.data[:, 0], reference)
    assert signal.facts == {"rate": rate, "format": "float"}
