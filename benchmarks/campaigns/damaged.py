"""Does any damaged file get more out of alfilter than one line?

Writes a small valid file of every kind, damages it in thousands of ways, and has every one read by the command line in
a process of its own with limits on memory, time and the size of files. A trial passes when the command ends with 0 or
with 2 and one line on stderr, and leaves no file half-written.

    python -m benchmarks.campaigns.damaged --files 5000          # from the repository's root
    python -m benchmarks.campaigns.damaged --files 200 --only .safetensors --keep /tmp/found
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.campaigns.mutate import mutated
from benchmarks.campaigns.originals import Kind, copy_case, make_originals
from benchmarks.campaigns.processes import Outcome, run_all
from benchmarks.campaigns.warm import HOME

OURS = {".out", ".err"}


def is_error(out: str) -> bool:
    """Whether what a command printed is nothing, or with --json one object that says what was wrong."""
    try:
        return not out or set(json.loads(out)) == {"error"}
    except ValueError:
        return False


def fault(outcome: Outcome, folder: Path, kind: Kind) -> str | None:
    """What is wrong with the way a command ended; None when nothing is."""
    if outcome.code not in (0, 2):
        return f"exit code {outcome.code}"
    lines = outcome.err.splitlines()
    if "Traceback" in outcome.err or any("Warning" in line for line in lines):
        return "a traceback or a warning"
    if outcome.code == 2 and (len(lines) != 1 or not lines[0].startswith("alfilter: ") or not is_error(outcome.out)):
        return f"{len(lines)} lines on stderr, {len(outcome.out)} characters on stdout"
    if "gave no more memory" in outcome.err:
        return "memory ran out"
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    left = [name for name in files - OURS - {kind.file} if Path(name).name.startswith(".")]
    return f"left {left[0]}" if left else None


def cases(
    kinds: list[Kind], home: Path, work: Path, count: int, chance: random.Random
) -> Iterator[tuple[tuple[Kind, Path, bytes], list[str], Path]]:
    """Every kind in turn, damaged."""
    contents = [(home / kind.file).read_bytes() for kind in kinds]
    for number in range(count):
        which = number % len(kinds)
        kind = kinds[which]
        data = mutated(contents[which], chance.choice(contents), chance)
        folder = work / str(number)
        folder.mkdir()
        file = copy_case(kind, home, folder, data)
        command = kind.commands[number // len(kinds) % len(kind.commands)]
        words = [word.replace("{file}", str(file)).replace("{home}", str(home)) for word in command]
        yield (kind, folder, data), words, folder


def campaign(count: int, seed: int, only: str = "", keep: Path | None = None, at_once: int = 2) -> int:
    """Run it and print a table; the number of failures."""
    began, failures = time.monotonic(), 0
    table: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as text:
        home, work = Path(text) / "originals", Path(text) / "work"
        home.mkdir()
        work.mkdir()
        kinds = [kind for kind in make_originals(home) if only in kind.name]
        os.environ[HOME] = str(home)  # what the processes have read before they start
        trials = cases(kinds, home, work, count, random.Random(seed))
        for (kind, folder, data), outcome in run_all(trials, at_once=at_once):
            wrong = fault(outcome, folder, kind)
            counts = table.setdefault(kind.name, Counter())
            counts["failed" if wrong else "read" if outcome.code == 0 else "refused"] += 1
            if wrong:
                failures += 1
                print(f"{kind.name} {folder.name}: {wrong}: {outcome.err[-300:]!r}", flush=True)
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{seed}-{folder.name}-{Path(kind.file).name}").write_bytes(data)
            shutil.rmtree(folder)
    print(f"{'kind':<26}{'files':>7}{'read':>7}{'refused':>9}{'failed':>8}")
    for name, counts in table.items():
        print(f"{name:<26}{counts.total():>7}{counts['read']:>7}{counts['refused']:>9}{counts['failed']:>8}")
    total = sum((counts for counts in table.values()), Counter[str]())
    print(
        f"{'all':<26}{total.total():>7}{total['read']:>7}{total['refused']:>9}{total['failed']:>8}"
        f"   seed {seed}, {time.monotonic() - began:.0f} s"
    )
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="kinds whose name holds this")
    parser.add_argument("--keep", type=Path, help="a folder for the files that failed")
    parser.add_argument("--at-once", type=int, default=2)
    words = parser.parse_args()
    return 1 if campaign(words.files, words.seed, words.only, words.keep, words.at_once) else 0


if __name__ == "__main__":
    sys.exit(main())
