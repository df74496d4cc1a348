"""The command line: arguments in, one result on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import atexit
import gc
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from alfilter import __version__
from alfilter.commands import COMMANDS
from alfilter.commands.streams import SafeStream, discard, open_standard_streams
from alfilter.errors import UserError, nearest, printable
from alfilter.files import find_temporary_folder
from alfilter.runtime.limits import check_address_space
from alfilter.runtime.stages import Stopped

# what torch and Python say when the system's limits are reached
_LIMITS = ("can't allocate memory", "not enough memory", "can't start new thread")

_NEGATIVE = re.compile(r"-\.?\d")  # how a value begins that is no option: -5s, -4dB and -5,0,10,10 are values too

Command = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like every other; options are never guessed from a prefix."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})
        self._negative_number_matcher = _NEGATIVE

    def options(self) -> list[str]:
        """The options that this command has, as they are written."""
        return [word for action in self._actions for word in action.option_strings if word.startswith("--")]

    def flags(self) -> dict[str, str]:
        """How each argument that is an option is written, by the argument's name."""
        return {
            action.dest: action.option_strings[-1]
            for action in self._actions
            if action.option_strings and action.dest != "help"
        }

    def error(self, message: str) -> NoReturn:
        if message.endswith("expected one argument"):
            message += " (one that begins with - is written with =, as in --title=-x-)"
        raise UserError(f"{message}; see '{self.prog} --help'")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 for finished work, 2 for a user's mistake, 129, 130 or 143 for a stopped run.

    A reader who closes the output does not end the work.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        atexit.register(_end_quickly)
    # NumPy and SciPy would start a thread per core as they load, and interrupt this process where the system allows
    # none; what they compute here is small
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    find_temporary_folder()
    open_standard_streams()
    with redirect_stdout(SafeStream(sys.stdout, BrokenPipeError)), redirect_stderr(SafeStream(sys.stderr, OSError)):
        return _run(words)


def _end_quickly() -> None:
    """The process ends with the command: its memory is freed as a whole, not object by object."""
    gc.freeze()
    if "igl" in sys.modules:  # libigl's bindings report on stderr whatever was not freed
        with suppress(OSError):
            sys.stderr.flush()
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _run(words: list[str]) -> int:
    as_json = "--json" in words
    flags: dict[str, str] = {}
    try:
        modules, rest = _split_imports(words)
        _check_command(rest)
        arguments = _parsed(rest)
        arguments.words = words
        flags = arguments.flags_of_command
        for module in modules:
            _import(module)
        check_address_space()
        command: Command = arguments.command
        code = command(arguments)
        sys.stdout.flush()  # here, where a full disk can still be answered
        return code
    except UserError as error:
        _complain(_with_flags(error, flags), as_json)
        return 2
    except Stopped as stop:
        _complain("stopped before the training began", as_json)
        return 128 + stop.number
    except KeyboardInterrupt:
        _complain("stopped", as_json)
        return 130
    except MemoryError as error:
        _complain(_out_of_memory(error), as_json)
        return 2
    except RuntimeError as error:
        if not any(limit in str(error) for limit in _LIMITS):
            raise
        _complain(_out_of_memory(error), as_json)
        return 2
    except OSError as error:
        discard(sys.stdout)
        _complain(f"the system refused: {error}; check the space and the paths", as_json=False)
        return 2


def _split_imports(words: list[str]) -> tuple[list[str], list[str]]:
    """The modules that `--import MODULE` names, before or after the command, and the other arguments.

    >>> _split_imports(["--import", "mine", "fit", "a.png", "--import=other"])
    (['mine', 'other'], ['fit', 'a.png'])
    """
    modules, rest, remaining = [], [], iter(words)
    for word in remaining:
        if word == "--import":
            if (name := next(remaining, None)) is None:
                raise UserError("--import expects the name of a Python module; see 'alfilter --help'")
            modules.append(name)
        elif word.startswith("--import="):
            modules.append(word.partition("=")[2])
        else:
            rest.append(word)
    return modules, rest


def _import(module: str) -> None:
    """Import a module that registers methods, from the working directory too, as `python -m` would.

    Afterwards the working directory comes last: no file in it takes the place of an installed module.
    """
    is_new = "" not in sys.path
    if is_new:
        sys.path.insert(0, "")
    try:
        import_module(module.removesuffix(".py"))
    except (Exception, SystemExit) as error:  # it is the user's code
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise UserError(f"cannot import {module} ({reason}); give a module that Python finds from here") from error
    finally:
        if is_new:
            sys.path.remove("")
            sys.path.append("")


def _complain(message: str, as_json: bool) -> None:
    """One line on stderr; with `--json` also one object on stdout, where a script looks for its answer."""
    line = printable(" ".join(message.split()))
    print(f"alfilter: {line}", file=sys.stderr)
    if as_json:
        with suppress(OSError):
            print(json.dumps({"error": line}), flush=True)


def _with_flags(error: UserError, flags: Mapping[str, str]) -> str:
    """The error's line, and the options that would fix it.

    >>> _with_flags(UserError("which columns?", arguments=["coords", "values"]), {"coords": "--coords"})
    'which columns? (--coords)'
    """
    line = str(error)
    named = [flags[name] for name in error.arguments if name in flags and flags[name] not in line]
    return f"{line} ({', '.join(named)})" if named else line


def _out_of_memory(error: Exception) -> str:
    reason = " ".join(str(error).split())[:120] or "out of memory"
    return f"the system gave no more memory or threads ({reason}); free some, take a smaller size or fewer threads"


def parser(command: str | None = None) -> Parser:
    """The whole command line, or, where a command is named, the part that it needs."""
    top = Parser(prog="alfilter", description="Fit signals with neural fields whose local frequency can be seen.")
    top.add_argument("--version", action="version", version=f"alfilter {__version__}")
    top.add_argument("--import", metavar="MODULE", help="a module that registers methods of your own; may be repeated")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for add in [COMMANDS[command]] if command in COMMANDS else COMMANDS.values():
        add(commands)
    for each in commands.choices.values():
        each.set_defaults(options_of_command=tuple(each.options()), flags_of_command=each.flags())
    return top


def _parsed(words: list[str]) -> argparse.Namespace:
    """The command and its arguments; an unknown option is an error that names the nearest known one."""
    arguments, unknown = parser(words[0] if words else None).parse_known_args(words)
    if not unknown:
        return arguments
    command = words[0]
    see = f"see 'alfilter {command} --help'"
    word = next((word for word in unknown if word.startswith("--")), unknown[0])
    if not word.startswith("-"):
        raise UserError(f"{command} does not take {word!r} as well; {see}")
    name = word.partition("=")[0]
    close = get_close_matches(name, arguments.options_of_command, n=1)
    raise UserError(f"{command} has no option {name!r}; " + (f"did you mean {close[0]!r}? {see}" if close else see))


def _check_command(words: list[str]) -> None:
    """Name the nearest command for one that does not exist."""
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        raise UserError(f"there is no command {words[0]!r}; {nearest(words[0], COMMANDS)}")


if __name__ == "__main__":
    sys.exit(main())
