"""Small options of the grid methods, and their parameter counts at 8 × 6 samples as formulas."""

from __future__ import annotations

from typing import Any

SMALL: dict[str, dict[str, Any]] = {
    "hash-grid": {"width": 8, "depth": 2, "levels": 3, "base": 2, "finest": 6, "table": 4},
    "al-grid": {"width": 8, "depth": 2, "levels": 3, "base": 2, "finest": 6, "table": 4, "grid": 4},
    "filter-bank": {"width": 8, "backbone": 4, "levels": 2, "base": 2, "finest": 5, "table": 5, "omega": 5.0},
    "diner": {"width": 8, "depth": 2},
    "octree": {"width": 8, "levels": 3, "base": 2, "features": 3, "capacity": 90},
    "acorn": {"width": 8, "depth": 2, "tiles": 20, "patch": 3, "deepest": 3, "features": 3, "decoder": 5},
}


def mlp_count(inputs: int, outputs: int, width: int, depth: int) -> int:
    return (inputs + 1) * width + (depth - 1) * (width + 1) * width + (width + 1) * outputs


# levels of 2, 3 and 6 cells have 9, 16 and 49 nodes, of which T = 16 rows are kept
HASH_ROWS = 9 + 16 + 16
# levels of 2 and 5 cells: 9 nodes, and 32 rows for 36; frequencies (L, w, F); a first and two further sine layers
BANK_ROWS = 9 + 32
COUNTS = {
    "hash-grid": 2 * HASH_ROWS + mlp_count(3 * 2, 3, 8, 2),
    "al-grid": 2 * HASH_ROWS + 4 * 4 + mlp_count(3 * 2, 3, 8, 2),
    "filter-bank": 2 * BANK_ROWS + 2 * 8 * 2 + (2 + 1) * 8 + 2 * (8 + 1) * 8 + mlp_count(2 * 8, 3, 4, 2),
    "diner": 2 * 8 * 6 + mlp_count(2, 3, 8, 2),
    # levels of 2, 4 and 8 cells have 9 + 25 + 81 nodes, of which 90 may have a row; a decoder per level
    "octree": 3 * 90 + 3 * mlp_count(2 + 3, 3, 8, 1),
    # the encoder reads two coordinates and a level, raw and at six octaves, and writes 3 × 3 nodes of 3 features
    "acorn": mlp_count(3 * (1 + 2 * 6), 3 * 3 * 3, 8, 2) + mlp_count(3, 3, 5, 2),
}
