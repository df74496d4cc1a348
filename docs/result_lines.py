"""Keeps the result lines of finished studies, without their pictures, for `alfilter experiment claims`.

python docs/result_lines.py runs/experiments first-steps sparse-paper image-fitting-half
"""

from __future__ import annotations

import sys
from pathlib import Path

from alfilter.experiments.paper.committed import keep

if __name__ == "__main__":
    folder, *studies = sys.argv[1:]
    for study in studies:
        print(keep(Path(folder), study))
