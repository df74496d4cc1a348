"""Imported by the server that processes come from: reads originals once, so that nothing is loaded for the first
time in the processes themselves."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

HOME = "ALFILTER_CAMPAIGN"  # the environment's name of the folder of originals
ONLY = "ALFILTER_CAMPAIGN_KINDS"  # … of the kinds to read, all if it is not set


def warm_up(home: Path) -> None:
    """Run the commands of every kind on its original, quietly."""
    import torch
    from benchmarks.campaigns.originals import copy_case, kinds
    from benchmarks.campaigns.processes import without_pictures

    from alfilter.cli import main

    torch.set_num_threads(1)  # no pool of threads, which a fork would not survive
    without_pictures()
    before, nowhere, here = [os.dup(number) for number in (1, 2)], os.open(os.devnull, os.O_WRONLY), Path.cwd()
    for number in (1, 2):
        os.dup2(nowhere, number)
    try:
        with tempfile.TemporaryDirectory() as text:
            only = os.environ.get(ONLY, "").split()
            for number, kind in enumerate(kind for kind in kinds() if not only or kind.name in only):
                folder = Path(text) / str(number)
                folder.mkdir()
                file = copy_case(kind, home, folder, (home / kind.file).read_bytes())
                os.chdir(folder)
                for command in kind.commands:
                    main([word.replace("{file}", str(file)).replace("{home}", str(home)) for word in command])
            os.chdir(here)
    finally:
        for number, old in zip((1, 2), before, strict=True):
            os.dup2(old, number)
            os.close(old)
        os.close(nowhere)


if os.environ.get(HOME):
    warm_up(Path(os.environ[HOME]))
