"""How long does the first fit on a machine compile, and does it compile all that it calls?

A process per method with an empty cache: the seconds before the clock of a fit starts, and the kernels that were still
compiled afterwards, in three steps and an evaluation.

    python benchmarks/first_use.py [METHOD …]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from machine import machine

METHODS = ("al-sine", "siren", "hash-grid", "octree", "al-grid")
SCRIPT = """
import sys, time, torch
from alfilter import ImageTask, build, fit
from alfilter.evaluate import sample_grid
from alfilter.kernels import cache
task = ImageTask.from_file("sample:astronaut")
field = build(sys.argv[1], in_dim=2, out_dim=3, preset="default", samples=task.samples)
began, started = time.perf_counter(), []
load, late = cache.KernelCache.load_overload, []
def noted(self, signature, context):
    result = load(self, signature, context)
    if result is None:
        late.append(self.path(signature).name.partition("-")[0])
    return result
cache.KernelCache.load_overload = noted
fit(field, task, steps=3, on_start=lambda step: started.append(time.perf_counter() - began))
with torch.inference_mode():
    sample_grid(field, (64, 64))
print(f"{sys.argv[1]:12}{started[0]:8.1f} s   compiled later: {', '.join(late) or 'nothing'}")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="what the first fit on a machine waits for")
    parser.add_argument("methods", nargs="*", default=METHODS)
    names = parser.parse_args().methods
    print(machine(), flush=True)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            subprocess.run([sys.executable, "-c", SCRIPT, name], env=environment, check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
