"""The training step of `step.py` jitted in JAX: takes one step for every line on its input and answers with a line.

    python benchmarks/jax_peer.py "one pass" | pieces

`one pass` differentiates the whole batch at once, `pieces` scans over pieces of 4096 samples and adds their gradients.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

SIDE, LEVELS, WIDTH, OMEGA, BAND, KAPPA, PIECE = 512, 8, 256, 30.0, 20.0, 10.0, 4096
CHANNELS = 4 * LEVELS


def start() -> dict[str, Any]:
    draw = np.random.default_rng(0)
    sizes = [(CHANNELS, WIDTH), (WIDTH, WIDTH), (WIDTH, WIDTH), (WIDTH, 3)]
    weights = [draw.uniform(-1, 1, size).astype(np.float32) * math.sqrt(6 / size[0]) / OMEGA for size in sizes]
    biases = [draw.uniform(-1, 1, size[1]).astype(np.float32) / math.sqrt(size[0]) for size in sizes]
    alpha = np.full((SIDE, SIDE), CHANNELS / 2, np.float32)
    return {"weights": weights, "biases": biases, "alpha": alpha}


def interpolate(grid: Any, x: Any) -> Any:
    position = (jnp.clip(x, -1, 1) + 1) * ((SIDE - 1) / 2)  # (n, 2)
    low = jnp.minimum(jnp.floor(position), SIDE - 2).astype(jnp.int32)
    (i, j), (u, v) = low.T, (position - low).T
    top = grid[i, j] * (1 - v) + grid[i, j + 1] * v
    bottom = grid[i + 1, j] * (1 - v) + grid[i + 1, j + 1] * v
    return top * (1 - u) + bottom * u


def forward(parameters: Any, x: Any) -> Any:
    scales = math.pi * 2.0 ** jnp.arange(LEVELS)
    angles = x[:, None, :] * scales[:, None]  # (n, L, 2)
    gamma = jnp.stack((jnp.sin(angles), jnp.cos(angles)), axis=-1).reshape(len(x), CHANNELS)
    offset = jnp.arange(CHANNELS) - interpolate(parameters["alpha"], x)[:, None]
    z = gamma * jax.nn.sigmoid(KAPPA * (offset + BAND / 2)) * jax.nn.sigmoid(KAPPA * (BAND / 2 - offset))
    *hidden, (weight, bias) = zip(parameters["weights"], parameters["biases"], strict=True)
    for w, b in hidden:
        z = jnp.sin(OMEGA * (z @ w + b))
    return 0.5 + 0.5 * (z @ weight + bias)


def loss(parameters: Any, x: Any, y: Any) -> Any:
    return jnp.sum((forward(parameters, x) - y) ** 2) / (3 * SIDE * SIDE)


def in_pieces(parameters: Any, x: Any, y: Any) -> Any:
    """The gradient of the batch as a sum over its pieces."""

    def add(total: Any, piece: Any) -> Any:
        return jax.tree.map(jnp.add, total, jax.grad(loss)(parameters, *piece)), None

    pieces = x.reshape(-1, PIECE, 2), y.reshape(-1, PIECE, 3)
    return jax.lax.scan(add, jax.tree.map(jnp.zeros_like, parameters), pieces)[0]


@partial(jax.jit, static_argnums=0, donate_argnums=(1, 2, 3))
def step(mode: str, parameters: Any, first: Any, second: Any, count: Any, x: Any, y: Any) -> Any:
    """One step of Adam."""
    grad = (jax.grad(loss) if mode == "one pass" else in_pieces)(parameters, x, y)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grad)
    second = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, second, grad)

    def move(p: Any, m: Any, s: Any) -> Any:
        return p - 1e-3 * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)

    return jax.tree.map(move, parameters, first, second), first, second


def main() -> None:
    mode = sys.argv[1]
    axis = np.linspace(-1, 1, SIDE, dtype=np.float32)
    x = jnp.asarray(np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2))
    y = jnp.asarray(np.random.default_rng(1).random((SIDE * SIDE, 3), np.float32))
    parameters = jax.tree.map(jnp.asarray, start())
    state = parameters, jax.tree.map(jnp.zeros_like, parameters), jax.tree.map(jnp.zeros_like, parameters)
    for count, _ in enumerate(sys.stdin, start=1):
        state = jax.block_until_ready(step(mode, *state, jnp.float32(count), x, y))
        print(count, flush=True)


if __name__ == "__main__":
    main()
