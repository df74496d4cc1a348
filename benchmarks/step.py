"""How close is a training step to its matrix products alone, and what do the filter and the peers cost?

One step: the gradient of all 262,144 samples of a 512×512 colour picture and the optimiser's update, at the paper's
setting (3×256, L = 8, an α grid of 512×512). Everything is timed in one process, in turns, so that a machine that slows
down slows everything down; ratios are of medians, with the best beside. The filter's share is the median over pairs of
steps with and without it, side by side, and like the peak memory it is taken in a process of its own: an eager pass
over the whole batch leaves two gigabytes of used memory behind.

    python benchmarks/step.py [--avx2] [--json] [--repeat 7] [--jax-python PYTHON]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from alfilter.config import Training
from alfilter.core import fourier, grid, layers
from alfilter.encodings import FilteredFourier, Fourier
from alfilter.methods import Field, build
from alfilter.networks import MLP
from alfilter.runtime.memory import keep_freed_memory
from alfilter.runtime.thread_pool import single_threaded_ops
from alfilter.runtime.ways import use_way
from alfilter.tasks import ImageTask
from alfilter.training.gradient import GradientWorkers, accumulate_gradient
from alfilter.training.loop import make_optimiser
from machine import add_avx2, fit_way, hold_to_avx2, machine

Step = Callable[[], object]
SAMPLES = 512 * 512
CHUNKS = (2048, 4096, 8192)  # the floor is taken at the best of these
SIZES = ((32, 256), (256, 256), (256, 256), (256, 3))


def floor(chunk: int) -> Step:
    """The matrix products of one step, forward and backward, and nothing else."""
    weights = [torch.randn(outputs, inputs) / 16 for inputs, outputs in SIZES]
    inputs = [torch.randn(chunk, size) for size, _ in SIZES]
    grads = [torch.randn(chunk, size) for _, size in SIZES]
    outs, by_input = [torch.empty_like(g) for g in grads], [torch.empty_like(x) for x in inputs]
    by_weight = [torch.empty_like(w) for w in weights]

    def run() -> None:
        for _ in range(SAMPLES // chunk):
            for x, w, out in zip(inputs, weights, outs, strict=True):
                torch.mm(x, w.t(), out=out)
            for i in reversed(range(len(weights))):
                torch.mm(grads[i].t(), inputs[i], out=by_weight[i])
                torch.mm(grads[i], weights[i], out=by_input[i])

    return run


def step(field: Field, task: ImageTask) -> Step:
    """One step as `fit` takes it."""
    setting, gradient_workers = Training(), GradientWorkers(field)
    optimiser = make_optimiser(field, setting)
    with single_threaded_ops():
        way = fit_way(field, task, setting, optimiser)

    def run() -> None:
        with single_threaded_ops(), use_way(way):  # as `fit` runs
            accumulate_gradient(gradient_workers, task, setting, 0, 0)
            optimiser.step()
            field.encoding.constrain()

    return run


def eager(field: Field, task: ImageTask) -> Step:
    """The same step in plain tensor operations, one pass over the whole batch."""
    optimiser = make_optimiser(field, Training())
    x, y = task.load(slice(0, SAMPLES))

    def run() -> None:
        field.zero_grad()
        loss = task.loss(_plain_field(field, x), y) / SAMPLES
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        field.encoding.constrain()

    return run


def _plain_field(field: Field, x: Tensor) -> Tensor:
    encoding, network = field.encoding, field.network
    assert isinstance(encoding, FilteredFourier)
    assert isinstance(network, MLP)
    alpha = grid.interpolate(encoding.alpha.values, x).squeeze(-1)
    z = fourier.filtered_encoding(x, alpha, encoding.levels, encoding.bandwidth, encoding.kappa)
    z = layers.perceptron(z, list(network.weights), list(network.biases), network.activation, network.omega)
    return torch.addcmul(field.shift, field.scale, z)


def peer(*command: str) -> Step:
    """A step in a process of its own, which takes one for every line it reads."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    requests, replies = process.stdin, process.stdout
    assert requests is not None
    assert replies is not None

    def run() -> None:
        requests.write("step\n")
        requests.flush()
        if not replies.readline():
            raise SystemExit(f"the peer ended: {' '.join(command)}; is jax installed for it?")

    return run


def fields() -> dict[str, Field]:
    """The networks at the paper's setting; `fourier-sine` is al-sine without its filter."""
    sine = MLP(32, 3, width=256, depth=3, activation="sine", omega=30.0)
    return {
        "al-sine": build("al-sine", in_dim=2, out_dim=3, samples=(512, 512)),
        "al-relu": build("al-relu", in_dim=2, out_dim=3, samples=(512, 512)),
        "fourier-sine": Field(Fourier(2, 8), sine),
    }


def measure(steps: dict[str, Step], repeat: int) -> dict[str, list[float]]:
    """Seconds of every step, in turns, after one that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(repeat + 1):
        for name, run in steps.items():
            began = time.perf_counter()
            run()
            if turn > 0:
                seconds[name].append(time.perf_counter() - began)
    return seconds


def share(costly: Step, cheap: Step, turns: int) -> float:
    """What `costly` costs above `cheap`, as a share of itself: the median over turns of both, side by side.

    The two differ by a few percent, less than a shared machine drifts from minute to minute, so each turn compares
    neighbours in time, in changing order (costly, cheap, cheap, costly), and the median drops disturbed turns.
    """
    shares = []
    for _ in range(turns):
        seconds = {costly: 0.0, cheap: 0.0}
        for run in (costly, cheap, cheap, costly):
            began = time.perf_counter()
            run()
            seconds[run] += time.perf_counter() - began
        shares.append(1 - seconds[cheap] / seconds[costly])
    return statistics.median(shares)


def alone(*words: str) -> float:
    """A number that this script prints in a fresh process, whose memory nobody has used before."""
    command = [sys.executable, __file__, *words]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _share(turns: int) -> float:
    """The filter's share of a step."""
    task, by_name = ImageTask.from_file("sample:astronaut"), fields()
    costly, cheap = (step(by_name[name], task) for name in ("al-sine", "fourier-sine"))
    for run in (costly, cheap):
        run()
    return share(costly, cheap, turns)


def _peak() -> float:
    """Megabytes that three steps of al-sine need above what the imports took, here and in the helping processes."""
    before = _high_water()
    run = step(fields()["al-sine"], ImageTask.from_file("sample:astronaut"))
    for _ in range(3):
        run()
    return _high_water() - before + _helpers()


def _high_water() -> float:
    """The largest resident set of this process so far, in megabytes (Linux; exact per program, unlike getrusage)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def _helpers() -> float:
    """Megabytes that belong to child processes alone; freed memory is kept, so that is about their peak."""
    total = 0
    for file in Path("/proc/self/task").glob("*/children"):
        for child in file.read_text().split():
            lines = Path(f"/proc/{child}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))
    return total / 1024


def summary(seconds: dict[str, list[float]], peak: float, of_filter: float) -> dict[str, object]:
    """Seconds, and the ratios of medians that the targets are stated in."""
    median = {name: statistics.median(times) for name, times in seconds.items()}
    lowest = min(value for name, value in median.items() if name.startswith("products"))
    peers = [value for name, value in median.items() if name.startswith("jax")]
    return {
        "machine": machine(),
        "seconds": {name: min(times) for name, times in seconds.items()},
        "median": median,
        "al-sine of products": lowest / median["al-sine"],
        "al-relu of products": lowest / median["al-relu"],
        "al-sine over eager": median["eager al-sine"] / median["al-sine"],
        "al-sine over jax": min(peers) / median["al-sine"] if peers else None,
        "share of the filter": of_filter,
        "peak megabytes": peak,
    }


def show(results: dict[str, object]) -> None:
    targets = {
        "al-sine of products": "≥ 1",
        "al-relu of products": "≥ 1",
        "al-sine over eager": "≥ 3.5",
        "al-sine over jax": "≥ 2",
        "share of the filter": "≤ 0.05",
        "peak megabytes": "≤ 450",
    }
    best, median = results["seconds"], results["median"]
    assert isinstance(best, dict)
    assert isinstance(median, dict)
    print(results["machine"])
    print(f"{'one step':24}{'best s':>9}{'median s':>10}")
    for name in best:
        print(f"{name:24}{best[name]:9.3f}{median[name]:10.3f}")
    print()
    for name, target in targets.items():
        value = results[name]
        print(f"{name:24}{'not measured' if value is None else format(value, '9.3f')}   {target}")


def main() -> None:
    parser = argparse.ArgumentParser(description="time one training step against its matrix products and its peers")
    add_avx2(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeat", type=int, default=7, help="repetitions of everything")
    parser.add_argument("--jax-python", help="a Python that can import jax, for the peer")
    parser.add_argument("--peak", action="store_true", help="print the peak memory of al-sine alone")
    parser.add_argument("--share", action="store_true", help="print the filter's share alone")
    parser.add_argument("--eager", action="store_true", help="take an eager step for every line of the input")
    arguments = parser.parse_args()
    if arguments.avx2:
        hold_to_avx2()
    keep_freed_memory()
    torch.set_flush_denormal(True)  # for eager PyTorch, too: JAX and our own steps have it
    if arguments.peak:
        print(_peak())
        return
    if arguments.share:
        print(_share(2 * arguments.repeat))
        return
    if arguments.eager:
        run = eager(fields()["al-sine"], ImageTask.from_file("sample:astronaut"))
        for _ in sys.stdin:
            run()
            print("done", flush=True)
        return
    peak, of_filter = alone("--peak"), alone("--share", "--repeat", str(arguments.repeat))
    task = ImageTask.from_file("sample:astronaut")
    steps: dict[str, Step] = {f"products, {chunk} rows": floor(chunk) for chunk in CHUNKS}
    steps |= {name: step(field, task) for name, field in fields().items()}
    steps["eager al-sine"] = peer(sys.executable, __file__, "--eager")
    if arguments.jax_python:
        script = str(Path(__file__).with_name("jax_peer.py"))
        steps |= {f"jax, {mode}": peer(arguments.jax_python, script, mode) for mode in ("one pass", "pieces")}
    results = summary(measure(steps, arguments.repeat), peak, of_filter)
    if arguments.json:
        print(json.dumps(results))
    else:
        show(results)


if __name__ == "__main__":
    main()
