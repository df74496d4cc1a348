"""All that says how fast training is on this machine, in one table of at most ten minutes; `make bench` runs it.

python benchmarks/table.py [--avx2] [--out FILE.md]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from machine import add_avx2, hold_to_avx2, machine

HERE = Path(__file__).parent
Row = tuple[str, str]


def run(script: str, *arguments: str) -> list[str]:
    """The lines that a benchmark prints; none if it cannot run here."""
    print(f"{script} {' '.join(arguments)}", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, str(HERE / script), *arguments], stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def parse(lines: list[str]) -> list[Any]:
    return [json.loads(line) for line in lines]


def step_rows() -> list[Row]:
    """A full batch at the paper's setting."""
    rows: list[Row] = []
    for result in parse(run("step.py", "--json", "--repeat", "3")):
        for name in ("al-sine", "al-relu"):
            seconds, best = result["median"][name], result["seconds"][name]
            share = f"{result[f'{name} of products']:.2f} of its products' speed"
            rows.append((f"{name}, all of 512×512", f"{seconds:.3f} s (best {best:.3f}), {share}"))
        rows.append(("al-sine against eager PyTorch", f"{result['al-sine over eager']:.1f} times"))
        rows.append(("the filter's share of a step", f"{100 * result['share of the filter']:.1f} %"))
        rows.append(("peak memory of a step", f"{result['peak megabytes']:.0f} MB"))
    return rows


def fit_rows() -> list[Row]:
    """What `fit` delivers over 20 s."""
    return [
        (f"{name}, samples per second in `fit`", f"{row['mean']:,.0f} (best {row['best']:,.0f}){_ratios(row)}")
        for result in parse(run("fit_rate.py", "--json", "--seconds", "20"))
        for name, row in result["rows"].items()
    ]


def _ratios(row: dict[str, float]) -> str:
    known = {"times its floor": "× its floor's time", "times plain": "× plain PyTorch's rate"}
    return "".join(f", {row[key]:.2f} {text}" for key, text in known.items() if key in row)


def method_rows() -> list[Row]:
    """Every method at its own batch."""
    return [
        (f"{row['method']}, batch {row['batch']:,}", f"{row['ms']:.1f} ms, {row['ratio']:.2f} × its floor's time")
        for result in parse(run("methods.py", "--json", "--own", "--seconds", "2"))
        for row in result["rows"]
    ]


def worker_rows() -> list[Row]:
    """Samples per second by the number of workers."""
    return [
        (f"{name}, {count} workers", f"{rate:,.0f} samples per second")
        for result in parse(run("workers.py", "--json", "--seconds", "4"))
        for name, rates in result["rates"].items()
        for count, rate in rates.items()
    ]


def shape_rows() -> list[Row]:
    """A shape's step, samples included."""
    lines = parse(run("shapes.py", "--json", "--turns", "2"))
    lines += parse(run("shapes.py", "--method", "al-grid", "--preset", "default-shape", "--json", "--turns", "2"))
    return [
        (line["setting"], f"{line['step ms']} ms, {line['of the products']} of its products' speed") for line in lines
    ]


def first_use_rows() -> list[Row]:
    """What the first fit compiles for."""
    lines = run("first_use.py")[1:]  # the first names the machine
    return [(f"{line.split()[0]}, first use", " ".join(line.split()[1:])) for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description="one table of how fast training is on this machine")
    add_avx2(parser)
    parser.add_argument("--out", type=Path, help="write it to a file, too")
    arguments = parser.parse_args()
    if arguments.avx2:
        hold_to_avx2()
    rows = [*step_rows(), *fit_rows(), *method_rows(), *worker_rows(), *shape_rows(), *first_use_rows()]
    table = "\n".join([machine(), "", "| | |", "|---|---|", *(f"| {name} | {figure} |" for name, figure in rows)])
    print(table)
    if arguments.out is not None:
        arguments.out.write_text(table + "\n", encoding="utf-8")
        print(f"written to {arguments.out.resolve()}", file=sys.stderr)


if __name__ == "__main__":
    main()
