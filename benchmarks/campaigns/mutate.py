"""Damage to files: blind to what they are, and knowing where their numbers stand."""

from __future__ import annotations

import gzip
import json
import random
import re
import struct
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

ODD = (0, 1, -1, 2, 127, 128, 255, 256, 32767, 65535, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 63)
WORDS = ("", "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "x" * 300, "\u0000", "α", "[]", "{}", "null", "true")
OTHERS = (None, True, 0.5, float("nan"), float("inf"), 1e300, [], {}, [[]], "mask:/etc/passwd")
NAMES = (".npy", "../x.npy", "/etc/passwd", "x", "a/b.npy", "α" * 300)
Mutation = Callable[[bytearray, random.Random], None]


def mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Damage that keeps the lengths, sums and packing of a known format right, or one to four kinds of blind damage.

    other: a file of any kind, to splice from.
    """
    structured = next((damage for mark, place, damage in _STRUCTURED if data[place:].startswith(mark)), None)
    if structured is not None and chance.random() < 0.6:
        return bytes(structured(bytearray(data), chance))
    return _blindly(data, chance, other)


def _blindly(data: bytes, chance: random.Random, other: bytes = b"") -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if other and chance.random() < 0.05:
            _splice(out, other, chance)
        elif out:
            chance.choice(MUTATIONS)(out, chance)
    return bytes(out)


def _place(data: bytearray, chance: random.Random) -> int:
    """Somewhere, more often near the start, where headers are."""
    span = len(data) if chance.random() < 0.4 else min(len(data), chance.choice((32, 128, 512)))
    return chance.randrange(max(1, span))


def _flip(data: bytearray, chance: random.Random) -> None:
    data[_place(data, chance)] ^= 1 << chance.randrange(8)


def _byte(data: bytearray, chance: random.Random) -> None:
    data[_place(data, chance)] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))


def _number(data: bytearray, chance: random.Random) -> None:
    size = chance.choice((2, 4, 8))
    raw = (chance.choice(ODD) & ((1 << 8 * size) - 1)).to_bytes(size, chance.choice(("little", "big")))
    place = _place(data, chance)
    data[place : place + size] = raw[: len(data) - place]


def _float(data: bytearray, chance: random.Random) -> None:
    value = chance.choice((float("nan"), float("inf"), -1e30, 1e-40, 3e38))
    raw = struct.pack(chance.choice(("<f", ">f", "<d")), value)
    place = _place(data, chance)
    data[place : place + len(raw)] = raw[: len(data) - place]


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[_place(data, chance) :]


def _remove(data: bytearray, chance: random.Random) -> None:
    place = _place(data, chance)
    del data[place : place + chance.choice((1, 4, 16, 300))]


def _repeat(data: bytearray, chance: random.Random) -> None:
    place = _place(data, chance)
    part = bytes(data[place : place + chance.choice((1, 8, 64))])
    data[place:place] = part * chance.choice((1, 2, 50))


def _insert(data: bytearray, chance: random.Random) -> None:
    place = _place(data, chance)
    data[place:place] = chance.randbytes(chance.choice((1, 3, 40)))


def _word(data: bytearray, chance: random.Random) -> None:
    """Replace a number that is written in digits."""
    numbers = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", bytes(data[: 1 << 16])))
    if numbers:
        number = chance.choice(numbers)
        data[slice(*number.span())] = str(chance.choice(ODD + WORDS)).encode()


MUTATIONS: tuple[Mutation, ...] = (
    _flip,
    _flip,
    _byte,
    _number,
    _number,
    _float,
    _cut,
    _remove,
    _repeat,
    _insert,
    _word,
)


def _splice(data: bytearray, other: bytes, chance: random.Random) -> None:
    start = chance.randrange(len(other))
    data[_place(data, chance) :] = other[start : start + 4096]


def _safetensors(data: bytearray, chance: random.Random) -> bytes:
    """Change the JSON header, its own or the one it carries, and keep the lengths right."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    if chance.random() < 0.8:
        inner = _changed(json.loads(header["__metadata__"]["alfilter"]), chance)
        header["__metadata__"]["alfilter"] = json.dumps(inner)
    else:
        header = _changed(header, chance)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    body = data[8 + length :]
    if chance.random() < 0.3 and body:
        _number(body, chance)
    return len(text).to_bytes(8, "little") + text + bytes(body)


def _glb(data: bytearray, chance: random.Random) -> bytes:
    (length,) = struct.unpack_from("<I", data, 12)
    text = json.dumps(_changed(json.loads(data[20 : 20 + length]), chance)).encode()
    text += b" " * (-len(text) % 4)
    rest = bytes(data[20 + length :])
    return (
        struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest))
        + struct.pack("<I4s", len(text), b"JSON")
        + text
        + rest
    )


def _json_lines(data: bytearray, chance: random.Random) -> bytes:
    """Change one object of a file of one, or of one per line."""
    text = bytes(data).decode()
    try:
        return json.dumps(_changed(json.loads(text), chance)).encode()
    except ValueError:
        lines = text.splitlines()
    place = chance.randrange(len(lines))
    lines[place] = json.dumps(_changed(json.loads(lines[place]), chance))
    return "".join(line + "\n" for line in lines).encode()


def _gzip(data: bytearray, chance: random.Random) -> bytes:
    """Damage what is packed, and pack it again."""
    return gzip.compress(_blindly(gzip.decompress(data), chance), mtime=0)


def _zip(data: bytearray, chance: random.Random) -> bytes:
    """Damage one of the packed files, or its name, and pack all again."""
    with ZipFile(BytesIO(data)) as archive:
        files = [(name, archive.read(name)) for name in archive.namelist()]
    place = chance.randrange(len(files))
    name, content = files[place]
    files[place] = (name, _blindly(content, chance)) if chance.random() < 0.9 else (chance.choice(NAMES), content)
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return packed.getvalue()


def _png(data: bytearray, chance: random.Random) -> bytes:
    """Damage a chunk, or the rows that are packed in it, and correct its checksum."""
    chunks, place = [], 8
    while place + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, place)
        chunks.append((bytes(data[place + 4 : place + 8]), bytes(data[place + 8 : place + 8 + length])))
        place += 12 + length
    number = chance.randrange(len(chunks))
    name, body = chunks[number]
    if name == b"IDAT" and len(chunks) == 3 and chance.random() < 0.7:
        body = zlib.compress(_blindly(zlib.decompress(body), chance))
    else:
        body = _blindly(body, chance)
    chunks[number] = name, body
    summed = (struct.pack(">I", len(b)) + n + b + struct.pack(">I", zlib.crc32(n + b)) for n, b in chunks)
    return bytes(data[:8]) + b"".join(summed)


def _changed(value: Any, chance: random.Random) -> Any:
    """A JSON value with one of its leaves, or one of its branches, replaced, removed or added."""
    if isinstance(value, dict) and value and chance.random() < 0.95:
        key = chance.choice(list(value))
        if chance.random() < 0.08:
            return {name: entry for name, entry in value.items() if name != key}
        return {**value, key: _changed(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        place = chance.randrange(len(value))
        if chance.random() < 0.1:
            return value * chance.choice((0, 2, 40))
        return [*value[:place], _changed(value[place], chance), *value[place + 1 :]]
    return chance.choice((*ODD, *WORDS, *OTHERS))


_STRUCTURED: tuple[tuple[bytes, int, Callable[[bytearray, random.Random], bytes]], ...] = (
    (b"{", 8, _safetensors),
    (b"glTF", 0, _glb),
    (b"{", 0, _json_lines),
    (b"\x1f\x8b", 0, _gzip),
    (b"PK", 0, _zip),
    (b"\x89PNG", 0, _png),
)
