"""The row filters of PNG, undone: each byte needs the one before it, which rules whole-array code out."""

from __future__ import annotations

from typing import Any

from alfilter.kernels.jit import kernel


@kernel()
def unfilter(lines: Any, plain: Any, size: int) -> bool:
    """Undo filters None, Sub, Up, Average, Paeth row by row into `plain`; True if a filter is unknown.

    lines: (rows, 1 + bytes), the filter's number first. plain: (rows, bytes). size: bytes per pixel.
    """
    for r in range(plain.shape[0]):
        kind = lines[r, 0]
        if kind > 4:
            return True
        for i in range(plain.shape[1]):
            left = int(plain[r, i - size]) if i >= size else 0
            up = int(plain[r - 1, i]) if r > 0 else 0
            guess = 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = up
            elif kind == 3:
                guess = (left + up) // 2
            elif kind == 4:
                corner = int(plain[r - 1, i - size]) if r > 0 and i >= size else 0
                a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                guess = left if a <= b and a <= c else (up if b <= c else corner)
            plain[r, i] = (int(lines[r, i + 1]) + guess) & 255
    return False
