"""Keeps the result lines of finished studies, without their pictures, and writes tables of the documents from all kept.

python docs/result_lines.py runs/experiments first-steps sparse-paper image-fitting-half borders
python docs/result_lines.py                                             the tables alone
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from alfilter.commands.paper import study_command
from alfilter.experiments.committed import committed_lines, keep
from alfilter.experiments.compare import between, media, minute, noise
from alfilter.experiments.compare import shapes as shapes_minute
from alfilter.experiments.insight import alpha_meaning, borders, local_frequency
from alfilter.experiments.paper import image_fitting, shapes, sparse
from alfilter.experiments.paper.claims import judged
from alfilter.experiments.tuning import equal_sizes
from alfilter.experiments.tuning import minute as tuning_minute
from alfilter.experiments.verdicts import verdict_table

RESULTS = Path(__file__).parent / "results"
# page → name of the table → study, what makes the table
TABLES = {
    "appendix-paper.md": {
        "first-steps": ("first-steps", image_fitting.summarise_curves),
        "image-fitting": ("image-fitting-half", image_fitting.summarise),
        "crops": ("image-fitting-half", image_fitting.summarise_detail),
        "alpha-maps": ("image-fitting-half", image_fitting.summarise_alpha),
        "sparse": ("sparse-paper", sparse.summarise),
        "shapes-half": ("shapes-half", shapes.summarise),
    },
    "alpha.md": {"borders": ("borders", borders.summarise)},
    "../concepts/alpha.md": {"local-frequency": ("local-frequency", local_frequency.summarise)},
    "appendix-kernels.md": {"alpha-meaning": ("alpha-meaning", alpha_meaning.summarise)},
    "appendix-alpha.md": {"grids": ("grids", local_frequency.summarise)},
    "minute.md": {
        "minute": ("minute", minute.summarise_minute),
        "headline": ("headline", minute.summarise_pair),
        "minute-equal": ("minute-equal", minute.summarise_pair),
    },
    "appendix-minute.md": {
        "tuning-minute": ("tuning-minute", tuning_minute.summarise),
        "equal-search": ("equal-search", equal_sizes.summarise),
    },
    "between.md": {
        "between-large": ("between-large", between.summarise),
        "filling": ("filling", between.summarise),
        "terrain": ("between", between.summarise_terrain),
    },
    "media.md": {"media": ("media", media.summarise)},
    "shapes.md": {"shapes-minute": ("shapes-minute", shapes_minute.summarise)},
    "noise.md": {"noise": ("noise", noise.summarise)},
}


def write_table(page: Path, name: str, text: str) -> None:
    """Replace what stands between the two marks of a table."""
    pattern = rf"(<!-- table {name} -->\n).*?(<!-- end -->)"
    content, count = re.subn(pattern, lambda m: f"{m[1]}\n{text}\n\n{m[2]}", page.read_text("utf-8"), flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{page} has {count} places for the table {name}; expected one")
    page.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    for study in sys.argv[2:]:
        print(keep(Path(sys.argv[1]), study))
    studies = committed_lines()
    write_table(RESULTS / "claims.md", "claims", verdict_table(judged(studies, study_command)))
    for page, tables in TABLES.items():
        for name, (study, summarise) in tables.items():
            lines = studies.get(study)
            write_table(RESULTS / page, name, summarise(lines) if lines else "Not run.")
