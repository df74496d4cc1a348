"""The commands, one row each: the function that adds its arguments to the parser.

Only what `--help` needs is imported by these modules: torch and the rest come in with the command that uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alfilter.commands.experiment import add_experiment
from alfilter.commands.export import add_export
from alfilter.commands.fit import add_fit
from alfilter.commands.methods import add_methods
from alfilter.commands.models import add_eval, add_info, add_mesh, add_predict, add_render
from alfilter.commands.ntk import add_ntk
from alfilter.commands.report import add_report
from alfilter.commands.view import add_view

COMMANDS: dict[str, Callable[[Any], None]] = {
    "fit": add_fit,
    "render": add_render,
    "mesh": add_mesh,
    "eval": add_eval,
    "predict": add_predict,
    "info": add_info,
    "export": add_export,
    "view": add_view,
    "methods": add_methods,
    "experiment": add_experiment,
    "ntk": add_ntk,
    "report": add_report,
}

__all__ = ["COMMANDS"]
