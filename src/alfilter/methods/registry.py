"""Methods by name: the library's own, those a program registers, and those that installed packages provide.

A package provides a method as an entry point of the group `alfilter.methods`, whose name is the method's and whose
object is a `Method`:

    [project.entry-points."alfilter.methods"]
    powers = "my_package:POWERS"

Entry points are read when a name is not one of the library's, or when the names are listed; a package is imported when
its method is used. One that fails is an error of that method alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import PurePath

from alfilter.config import Training, check_declaration, configure
from alfilter.errors import UserError
from alfilter.methods.method import Method, Preset

GROUP = "alfilter.methods"


class Registry(Mapping[str, Method]):
    """Method by name; the names that it lists are those of methods that can be used."""

    def __init__(self, library: Mapping[str, Method]) -> None:
        self._library = dict(library)
        self._registered: dict[str, Method] = {}
        self._loaded: dict[str, Method] = {}

    def __getitem__(self, name: str) -> Method:
        if name in self._library:
            return self._library[name]
        if name in self._registered:
            return self._registered[name]
        if name not in self._loaded:
            self._loaded[name] = _load(name, self._provided[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._library
        yield from self._registered
        broken = self.broken()
        yield from (name for name in self._provided if name not in self._registered and name not in broken)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def register(self, name: str, method: Method) -> None:
        """Add a method under a name of its own; one that was registered before is replaced."""
        if name in self._library:
            raise UserError(f"{name!r} is a method of alfilter itself; register yours under another name")
        check_method_row(name, method)
        self._registered[name] = method

    def unregister(self, name: str) -> None:
        """Forget a method that was registered."""
        del self._registered[name]

    def provider(self, name: str) -> str | None:
        """Where a method comes from, `package NAME` or `module NAME`; none for the library's own."""
        if name in self._library:
            return None
        if name in self._registered:
            return f"module {_module(self._registered[name])}"
        return f"package {_package(self._provided[name][0])}"

    def broken(self) -> dict[str, str]:
        """Why each entry point that cannot be used fails, in one line."""
        reasons = {}
        for name in self._provided:
            try:
                self[name]
            except UserError as error:
                reasons[name] = str(error)
        return reasons

    @cached_property
    def _provided(self) -> dict[str, list[EntryPoint]]:
        """The entry points of installed packages under each name that is not the library's: one, unless they clash."""
        provided: dict[str, list[EntryPoint]] = {}
        for entry in entry_points(group=GROUP):
            others = provided.setdefault(entry.name, [])
            if all(entry.value != other.value for other in others):
                others.append(entry)
        return {name: entries for name, entries in provided.items() if name not in self._library}


def check_method_row(name: str, method: Method) -> None:
    """Refuse a method that could not be built, listed, sized, saved or trained by its name.

    >>> check_method_row("my method", Method("", 2026, object, print))
    Traceback (most recent call last):
    alfilter.errors.UserError: a method's name is made of letters, digits, '-', '_' and '.', got 'my method'
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UserError(f"a method's name is made of letters, digits, '-', '_' and '.', got {name!r}")
    if not isinstance(method, Method):
        raise UserError(f"method {name!r} must be an alfilter.methods.Method, got {type(method).__name__}")
    if not callable(method.build):
        raise UserError(f"method {name!r}: build must be a function, got {type(method.build).__name__}")
    check_declaration(method.options, name)
    if "default" not in method.presets:
        known = ", ".join(method.presets) or "none"
        raise UserError(f"method {name!r} needs a preset named 'default', got {known}; add \"default\": Preset()")
    for which, preset in method.presets.items():
        if not isinstance(preset, Preset):
            raise UserError(f"preset {which!r} of {name} must be a Preset, got {type(preset).__name__}")
        configure(method.options, preset.options, f"preset {which!r} of {name}: {name}")
        for part in (preset.training, preset.sparse):
            configure(Training, part, f"preset {which!r} of {name}: training")


def _load(name: str, entries: list[EntryPoint]) -> Method:
    """The method of an entry point; whatever fails in it is one line that names the package."""
    packages = " and ".join(sorted({_package(entry) for entry in entries}))
    if len(entries) > 1:
        raise UserError(f"method {name!r} is provided by {packages}; uninstall all but one")
    try:
        method: Method = entries[0].load()
        check_method_row(name, method)
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise UserError(
            f"method {name!r} of the package {packages} cannot be used ({reason}); repair or uninstall that package"
        ) from error
    return method


def _module(method: Method) -> str:
    """The module of a registered method, by the name that it can be imported by; of a program, that of its file."""
    name = method.build.__module__
    program = sys.modules.get("__main__")
    file = getattr(program, "__file__", None)
    return PurePath(file).stem if name == "__main__" and file else name


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value.split(":")[0].split(".")[0]
