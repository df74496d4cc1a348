"""How long does `alfilter --help` take, and does `import alfilter` stay light?

python benchmarks/startup.py
"""

from __future__ import annotations

import subprocess
import sys
import time

from machine import machine

LIMIT = 0.5  # seconds


def seconds(*arguments: str) -> float:
    """Wall-clock time of a fresh interpreter."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def imports_torch() -> bool:
    """Whether `import alfilter` brings torch along."""
    code = "import sys, alfilter; sys.exit('torch' in sys.modules)"
    return subprocess.run([sys.executable, "-c", code]).returncode != 0


def main() -> None:
    print(machine())
    best = min(seconds("-c", "from alfilter.cli import main; main(['--help'])") for _ in range(5))
    print(f"alfilter --help        {best:.3f} s   {'under' if best < LIMIT else 'over'} {LIMIT} s")
    print(f"import alfilter        {'imports torch' if imports_torch() else 'without torch'}")


if __name__ == "__main__":
    main()
