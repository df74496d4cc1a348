"""The paper's complexity table, measured: time and memory of a training pass against N, C_N, W, G; fitted exponents."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

from alfilter.experiments.study import Lines, Run, Study
from alfilter.experiments.verdicts import Verdict, combined, graded, verdict_table

NOWHERE = "none"
REPEATS = 7
BASE: dict[str, Any] = {"N": 8192, "levels": 8, "width": 256, "grid": 128}
SWEEPS: dict[str, tuple[int, ...]] = {
    "N": (1024, 2048, 4096, 8192, 16384, 32768),
    "levels": (2, 4, 8, 16),  # C_N = 4 levels
    "width": (64, 128, 256, 512),  # W grows with its square
    "grid": (32, 128, 512, 1024),  # G = grid²
}
# what the paper's table says of time and memory against each quantity, all others fixed
PAPER: dict[str, dict[str, tuple[str, str]]] = {
    "al-sine": {"N": ("N", "N"), "C_N": ("C_N + const", "C_N + const"), "W": ("W", "W + const"),
                "G": ("const", "G + const")},
    "siren": {"N": ("N", "N"), "W": ("W", "W + const")},
    "fourier-features": {"N": ("N", "N"), "C_N": ("C_N + const", "C_N + const"), "W": ("W", "W + const")},
    "diner": {"N": ("N", "const"), "G": ("const", "G + const")},
}  # fmt: skip
OF = {
    "al-sine": ("N", "levels", "width", "grid"),
    "siren": ("N", "width"),
    "fourier-features": ("N", "levels", "width"),
    "diner": ("N", "grid"),
}


def runs() -> list[Run]:
    """One quantity at a time around a common base, each method where the quantity exists."""
    return [
        Run(method, NOWHERE, method, settings={**BASE, name: value, "vary": name})
        for method, names in OF.items()
        for name in names
        for value in SWEEPS[name]
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Seconds on the core of a forward pass and of a training pass, best of seven, and the bytes that training holds.

    All points go through in one piece here: the trainer's pieces of 4,096 would bound the memory (and keep the time).
    """
    import torch

    from alfilter.methods import parameter_count

    del data
    field, x = _field(run)
    network, encoding = parameter_count(field.network), parameter_count(field.encoding)

    def forward() -> None:
        with torch.no_grad():
            field(x)

    def training() -> None:
        field(x).square().mean().backward()

    training()
    metrics = {
        "forward": _cpu_seconds(forward),
        "training": _cpu_seconds(training),
        "held": float(_held(field, x)),
        "parameters": 4.0 * (network + encoding),
    }
    metrics["memory"] = metrics["held"] + metrics["parameters"]
    sizes = {"N": len(x), "C_N": field.encoding.out_dim, "W": network, "G": encoding}
    return {**run.heading, "metrics": metrics, "heldout": None,
            "sizes": sizes}  # fmt: skip


def _field(run: Run) -> Any:
    import torch

    from alfilter.methods import build

    s = run.settings
    options: dict[str, Any] = {"width": s["width"]}
    if run.method == "al-sine":
        options |= {"levels": s["levels"], "grid": s["grid"]}
    if run.method == "fourier-features":
        options["features"] = 2 * s["levels"]  # as many channels as the dyadic encoding
    field = build(run.method, in_dim=2, out_dim=3, samples=(s["grid"], s["grid"]), **options)
    return field, torch.rand(s["N"], 2, generator=torch.Generator().manual_seed(0)) * 2 - 1


def _cpu_seconds(action: Callable[[], None]) -> float:
    """The least time on the core: waiting for other programs does not count."""
    seconds = []
    for _ in range(REPEATS):
        began = time.process_time()
        action()
        seconds.append(time.process_time() - began)
    return min(seconds)


def _held(field: Any, x: Any) -> int:
    """Bytes of the distinct tensors, parameters and points apart, that a pass keeps for the way back."""
    import torch

    known = {tensor.untyped_storage().data_ptr() for tensor in (x, *field.parameters(), *field.buffers())}
    saved: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = field(x).square().mean()  # alive to the end, so that no place in memory is used twice
    del loss
    return sum(saved.values())


def exponent(sizes: list[float], values: list[float]) -> float:
    """The slope of log value over log size, by least squares.

    >>> round(exponent([1.0, 2.0, 4.0], [3.0, 6.0, 12.0]), 6)
    1.0
    """
    x, y = ([math.log(v) for v in column] for column in (sizes, values))
    mean_x, mean_y = statistics.fmean(x), statistics.fmean(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread


def fits(lines: Lines) -> list[dict[str, Any]]:
    """For every method and quantity: the exponents over the sweep and over its upper half."""
    rows = []
    names = {"N": "N", "levels": "C_N", "width": "W", "grid": "G"}
    for method, swept in OF.items():
        for vary in swept:
            sweep = [line for line in lines if line["method"] == method and line["settings"]["vary"] == vary]
            size = [float(line["sizes"][names[vary]]) for line in sweep]
            row: dict[str, Any] = {"method": method, "quantity": names[vary], "from": size[0], "to": size[-1]}
            for key in ("forward", "training", "memory"):
                row[key] = exponent(size, [line["metrics"][key] for line in sweep])
            for key in ("training", "memory"):
                row[f"{key}_last"] = exponent(size[-2:], [line["metrics"][key] for line in sweep[-2:]])
            rows.append(row)
    return rows


def summarise(lines: Lines) -> str:
    """Fitted exponents beside the paper's O(·), and verdicts."""
    rows = [
        "| method | quantity | range | paper: time | forward | training | last | paper: memory | held | last |",
        "|---" * 10 + "|",
    ]
    rows_of = fits(lines)
    for row in rows_of:
        time_says, memory_says = PAPER[row["method"]][row["quantity"]]
        cells = [row["method"], row["quantity"], f"{row['from']:,.0f} – {row['to']:,.0f}", time_says]
        cells += [f"{row[key]:.2f}" for key in ("forward", "training", "training_last")]
        cells += [memory_says, *(f"{row[key]:.2f}" for key in ("memory", "memory_last"))]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join([*rows, "", verdict_table(_verdicts(rows_of))])


def _verdicts(rows: list[dict[str, Any]]) -> list[Verdict]:
    """Exponents against those of the paper: times are noisy, so a miss by less than twice the margin is undecided."""
    of = {(row["method"], row["quantity"]): row for row in rows}
    ours = {quantity: of["al-sine", quantity] for quantity in ("N", "C_N", "W", "G")}
    in_n = [row for row in rows if row["quantity"] == "N"]
    claims = (
        (
            "time is O(N)",
            graded(max(abs(row["training"] - 1) for row in in_n), 0.15, 0.3),
            ", ".join(f"{row['method']} N^{row['training']:.2f}" for row in in_n),
        ),
        (
            "time is O(N(C_N + W)): at most linear in C_N and in W",
            graded(max(ours["C_N"]["training_last"], ours["W"]["training_last"]), 1.1, 1.2),
            f"C_N^{ours['C_N']['training']:.2f} (C_N is small beside W), W^{ours['W']['training']:.2f}",
        ),
        (
            "time does not depend on G",
            graded(max(abs(ours["G"]["forward"]), abs(ours["G"]["training"])), 0.1, 0.2),
            f"forward G^{ours['G']['forward']:.2f}, training G^{ours['G']['training']:.2f}, last step "
            f"G^{ours['G']['training_last']:.2f}: the gradient of the grid is a grid",
        ),
        (
            "memory is O(G + W + N max(C_N, d_hidden))",
            combined([graded(abs(ours["N"]["memory_last"] - 1), 0.1, 0.2), graded(ours["G"]["memory"], 1.05, 1.1)]),
            f"N^{ours['N']['memory']:.2f}, G^{ours['G']['memory']:.2f} (last step G^{ours['G']['memory_last']:.2f}), "
            f"W^{ours['W']['memory']:.2f} (activations grow with √W)",
        ),
        (
            "DINER's memory is O(G d_feat + W), without N",
            graded(of["diner", "N"]["memory"], 0.1, 0.2),
            f"N^{of['diner', 'N']['memory']:.2f}: training a network keeps its activations, here as everywhere",
        ),
    )
    size = f"one thread, least of {REPEATS} passes; {_sweep('N')} points, widths {_sweep('width')}"
    command = "alfilter experiment complexity"
    return [Verdict(*claim, "Table complexity", command, size) for claim in claims]


def _sweep(name: str) -> str:
    return f"{SWEEPS[name][0]:,} – {SWEEPS[name][-1]:,}"


STUDY = Study("complexity", runs, summarise, execute, threads=1)
