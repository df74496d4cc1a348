"""The command line: words in, one result on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from alfilter import __version__
from alfilter.commands import COMMANDS
from alfilter.errors import UserError, nearest

Command = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like every other mistake's; options are never guessed from a start."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see '{self.prog} --help'")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0, 2 for a user's mistake, 130 or 143 for a run that was told to stop."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _check_command(words)
        arguments = parser().parse_args(words)
        arguments.words = words
        command: Command = arguments.command
        code = command(arguments)
        sys.stdout.flush()  # here, where a full disk or a reader that left can still be answered
        return code
    except UserError as error:
        print(f"alfilter: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("alfilter: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output went away
        _discard_output()
        return 0
    except OSError as error:
        _discard_output()
        print(f"alfilter: the system refused: {error}; check the space and the paths", file=sys.stderr)
        return 2


def _discard_output() -> None:
    """Let the interpreter flush what is left on stdout into nothing instead of complaining once more."""
    with suppress(OSError):  # stdout may be no file at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser() -> Parser:
    """The whole command line."""
    top = Parser(prog="alfilter", description="Fit signals with neural fields whose local frequency can be seen.")
    top.add_argument("--version", action="version", version=f"alfilter {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for add in COMMANDS.values():
        add(commands)
    return top


def _check_command(words: list[str]) -> None:
    """Name the nearest command for one that does not exist."""
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        raise UserError(f"there is no command {words[0]!r}; {nearest(words[0], COMMANDS)}")


if __name__ == "__main__":
    sys.exit(main())
