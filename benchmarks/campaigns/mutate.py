"""Damage to files: blind to what they are, and knowing where their numbers stand."""

from __future__ import annotations

import json
import random
import re
import struct
from collections.abc import Callable
from typing import Any

ODD = (0, 1, -1, 2, 127, 128, 255, 256, 32767, 65535, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 63)
WORDS = ("", "nan", "inf", "-inf", "1e308", "-1e308", "1e-320", "x" * 300, "\u0000", "α", "[]", "{}", "null", "true")
OTHERS = (None, True, 0.5, float("nan"), float("inf"), 1e300, [], {}, [[]], "mask:/etc/passwd")
Mutation = Callable[[bytearray, random.Random], None]


def mutated(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """One to four kinds of damage to `data`. other: a file of any kind, to splice from."""
    out = bytearray(data)
    structured = _safetensors if data[8:9] == b"{" else _glb if data[:4] == b"glTF" else None
    if structured is not None and chance.random() < 0.6:
        return bytes(structured(out, chance))
    if data[:1] == b"{" and b"}\n{" not in data and chance.random() < 0.6:
        return json.dumps(_changed(json.loads(data), chance)).encode()
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if chance.random() < 0.05:
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
