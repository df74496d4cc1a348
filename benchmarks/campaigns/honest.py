"""One client of the page in a process of its own: asks for a first impression again and again, and times it.

Started by `benchmarks.campaigns.page`; ends with its standard input and prints the seconds of every tile as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from threading import Thread

PAUSE = 0.2  # seconds between two tiles


def place_of_tile(chance: random.Random, about: dict[str, int]) -> str:
    """Any tile of the model, from an eighth of its size to thirty-two times. about: its side, a tile's, the octave."""
    octave = chance.randrange(-3, 6)
    most = max(1, int(about["side"] * 2**octave) // about["tile"])
    return f"m=0&z={about['octave'] * octave}&x={chance.randrange(most)}&y={chance.randrange(most)}"


def ask(port: int, path: str) -> int:
    """The status of a request on a new connection."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers={"Host": f"127.0.0.1:{port}"})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def main() -> None:
    port, seed, about = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
    chance, waits = random.Random(seed), list[float]()
    end = Thread(target=sys.stdin.read, daemon=True)
    end.start()
    while True:
        began = time.monotonic()
        with suppress(OSError, HTTPException):
            if ask(port, f"/api/tile?{place_of_tile(chance, about)}&layer=field&rough=1") == 200:
                waits.append(time.monotonic() - began)
        if not end.is_alive():
            break
        time.sleep(PAUSE)
    print(json.dumps(waits))


if __name__ == "__main__":
    main()
