"""Does the live page stay small and quick under load from clients of every kind?

Starts `alfilter view` on a model, and clients that zoom, steer, take back, ask for what is not there, send nonsense,
trickle their requests or leave in the middle; beside them one honest client asks for a first tile again and again.
Prints answers by status, the server's memory along the way, and the honest client's waiting times.

    python -m benchmarks.campaigns.page --requests 10000 --clients 32          # from the repository's root
"""

from __future__ import annotations

import argparse
import json
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
from benchmarks.campaigns.honest import place_of_tile

from alfilter.methods import build
from alfilter.signals import write_image
from alfilter.tasks import ImageTask
from alfilter.training import save
from alfilter.viewer.tiles import OCTAVE, TILE

SIDE = 256
ABOUT = {"side": SIDE, "tile": TILE, "octave": OCTAVE}
ODD_PATHS = ("/../etc/passwd", "/api/tile?z=1e9", "/api/tile?" + "a=1&" * 9, "/api/at?x=nan&y=0", "/%00", "/api/none")


class Load:
    """Counts what the clients see."""

    def __init__(self, port: int, total: int, seed: int) -> None:
        self.port, self.seed, self.left = port, seed, total
        self.answers: Counter[str] = Counter()
        self._lock = Lock()

    def take(self) -> bool:
        """Whether another request is to be made."""
        with self._lock:
            self.left -= 1
            return self.left >= 0

    def note(self, answer: str) -> None:
        with self._lock:
            self.answers[answer] += 1

    def client(self, number: int) -> None:
        """Requests of every kind until there are enough."""
        chance = random.Random(self.seed * 1000 + number)
        kinds = (self.tile, self.tile, self.tile, self.steer, self.take_back, self.place, self.odd, self.junk,
                 self.leave, self.trickle)  # fmt: skip
        while self.take():
            try:
                chance.choice(kinds)(chance)
            except (OSError, HTTPException) as error:
                self.note(type(error).__name__)

    def ask(self, path: str, body: Any = None) -> int:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        host = f"127.0.0.1:{self.port}"
        try:
            if body is None:
                connection.request("GET", path, headers={"Host": host})
            else:
                headers = {"Host": host, "Origin": f"http://{host}", "Content-Type": "application/json"}
                connection.request("POST", path, json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()

    def tile(self, chance: random.Random) -> None:
        layer, rough = chance.choice(("field", "alpha", "scale0")), chance.randrange(2)
        self.note(str(self.ask(f"/api/tile?{place_of_tile(chance, ABOUT)}&layer={layer}&rough={rough}")))

    def steer(self, chance: random.Random) -> None:
        dabs = [[chance.random() * SIDE, chance.random() * SIDE] for _ in range(chance.randrange(1, 9))]
        body = {
            "m": 0,
            "gesture": str(chance.randrange(99)),
            "dabs": dabs,
            "radius": 9.0,
            "amount": chance.uniform(-3, 3),
        }
        self.note(str(self.ask("/api/steer", body)))

    def take_back(self, chance: random.Random) -> None:
        self.note(str(self.ask(chance.choice(("/api/undo", "/api/undo", "/api/reset")), {"m": 0})))

    def place(self, chance: random.Random) -> None:
        self.note(str(self.ask(f"/api/at?m=0&x={chance.random() * SIDE}&y={chance.random() * SIDE}")))

    def odd(self, chance: random.Random) -> None:
        if chance.random() < 0.5:
            self.note(str(self.ask(chance.choice(ODD_PATHS))))
        else:
            body = chance.choice(({"m": "x"}, {"m": 0, "dabs": [[1e99, 0]]}, {"m": 0, "dabs": "a"}, {"m": 2**70}))
            self.note(str(self.ask("/api/steer", body)))

    def _open(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def junk(self, chance: random.Random) -> None:
        with self._open() as raw:
            raw.sendall(
                chance.choice((b"", b"\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n")) + chance.randbytes(60) + b"\r\n\r\n"
            )
            self.note("junk " + (raw.recv(64)[9:12].decode("ascii", "replace") or "closed"))

    def leave(self, chance: random.Random) -> None:
        """Ask and hang up before the answer."""
        with self._open() as raw:
            raw.sendall(
                f"GET /api/tile?m=0&z={chance.randrange(4)}&x=0&y=0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
            )
        self.note("left")

    def trickle(self, chance: random.Random) -> None:
        """A request byte by byte, for a second or so."""
        with self._open() as raw:
            for byte in b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "[: chance.randrange(4, 30)]:
                raw.sendall(bytes([byte]))
                time.sleep(0.03)
        self.note("trickled")


def make_model(home: Path) -> Path:
    rng = np.random.default_rng(0)
    write_image(home / "photo.png", rng.random((SIDE, SIDE, 3)).astype(np.float32))
    task = ImageTask.from_file(home / "photo.png")
    field = build("al-sine", in_dim=2, out_dim=3, samples=task.samples, width=64, depth=2, levels=6, grid=64)
    field.signal = task.describe()
    save(field, home / "model.safetensors")
    return home / "model.safetensors"


def resident(pid: int) -> float:
    """Megabytes in memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def campaign(total: int, clients: int, seed: int) -> int:
    """Run it and print what was seen; 1 when the server grew, was slow or is gone."""
    with tempfile.TemporaryDirectory() as text:
        model = make_model(Path(text))
        words = [sys.executable, "-m", "alfilter", "view", str(model), "--port", "0", "--no-browser"]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            while server.poll() is None and not (address := re.search(r"http://127\.0\.0\.1:(\d+)/", line)):
                line = server.stdout.readline()
            assert address is not None, "the page did not start"
            return load_page(server.pid, lambda: server.poll() is None, int(address[1]), total, clients, seed)
        finally:
            server.terminate()
            server.wait(30)


def load_page(pid: int, is_alive: Callable[[], bool], port: int, total: int, clients: int, seed: int) -> int:
    """Load the page at a port, whose process is `pid`."""
    load, began = Load(port, total, seed), time.monotonic()
    load.ask("/api/tile?m=0&z=0&x=0&y=0&layer=field")
    threads = [Thread(target=load.client, args=(number,)) for number in range(clients)]
    words = [sys.executable, "-m", "benchmarks.campaigns.honest", str(port), str(seed), json.dumps(ABOUT)]
    root = Path(__file__).parents[2]
    honest = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)
    for thread in threads:
        thread.start()
    memory: list[tuple[int, float]] = []
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.5)
        if not is_alive():
            print("the server is gone")
            honest.kill()
            return 1
        memory.append((total - max(0, load.left), resident(pid)))
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    early = [size for done, size in memory if total * 0.2 <= done <= total * 0.5] or [memory[0][1]]
    late = [size for done, size in memory if done >= total * 0.8] or [memory[-1][1]]
    waits = sorted(json.loads(honest.communicate()[0])) or [float("inf")]
    print("answers: " + ", ".join(f"{name} {count}" for name, count in load.answers.most_common()))
    print(f"memory: {max(early):.0f} MB in the first half, {max(late):.0f} MB in the last fifth; {files} files open")
    print(
        f"the honest client's {len(waits)} first tiles: median {waits[len(waits) // 2]:.3f} s, "
        f"95 % {waits[int(0.95 * (len(waits) - 1))]:.3f} s, slowest {waits[-1]:.3f} s"
    )
    print(f"{total} requests by {clients} clients, seed {seed}, {time.monotonic() - began:.0f} s")
    broken = load.answers["500"] + (max(late) > 1.2 * max(early) + 32) + (waits[-1] == float("inf"))
    return 1 if broken else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    return campaign(words.requests, words.clients, words.seed)


if __name__ == "__main__":
    sys.exit(main())
