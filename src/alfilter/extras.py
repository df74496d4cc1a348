"""What needs more than the base installation, and the line that says so."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from alfilter.errors import UserError


def need(module: str, extra: str = "shapes") -> Any:
    """The imported module, or the error that names the extra which brings it.

    extra: of this package, named in the error.

    >>> need("math").floor(1.5)
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        what = "shapes need" if extra == "shapes" else "this needs"
        package = module.split(".")[0]
        raise UserError(f"{what} {package}, which is not installed; pip install 'alfilter[{extra}]'") from error
