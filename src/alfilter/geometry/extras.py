"""What shapes need beyond the base installation, and the line that says so."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from alfilter.errors import UserError


def need(module: str) -> Any:
    """The imported module, or the error that names the extra which brings it.

    >>> need("math").floor(1.5)
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise UserError(f"shapes need {module}, which is not installed; pip install 'alfilter[shapes]'") from error
