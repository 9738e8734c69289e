"""Reads the words of a command line as values for the parameters of a function.

Options may stand anywhere before `--`: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, and several flags in one
word: `-ab`. A group stops at its first argument, the name of its command. Unknown options are passed on if the command
passes arguments on, but never taken for an argument of its own.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option, Parameter

HELP_NAMES = ("-h", "--help")


class UsageError(Exception):
    """The command line is wrong. The text says how."""


class HelpWanted(Exception):  # not an error
    """The command line asks for the help."""


class Parsed:
    """What a command line contains: the values of options and the other words."""

    def __init__(self, parameters: Sequence[Parameter], *, forwards: bool = False, stops: bool = False) -> None:
        self.options = {
            name: each for each in parameters if isinstance(each.described, Option) for name in each.described.names
        }
        self.arguments = [each for each in parameters if isinstance(each.described, Argument)]
        self.values: dict[str, Any] = {}
        self.rest: list[str] = []
        """The words that are no options."""
        self._unknown: list[str] = []
        """Those that look like one."""
        self._forwards = forwards
        self._stops = stops

    def read(self, words: Sequence[str]) -> None:
        """Read all words."""
        left = list(words)
        while left:
            word = left.pop(0)
            if word == "--":
                self.rest += left
                return
            if len(word) < 2 or word[0] != "-":  # `-` is an argument
                self.rest.append(word)
                if self._stops:
                    self.rest += left
                    return
            elif not self._read_option(word, left):
                self.rest.append(word)
                if len(word.partition("=")[0].split()) == 1:
                    self._unknown.append(word)

    def _read_option(self, word: str, left: list[str]) -> bool:
        """Read an option, and its value from the words that are left. False if the word is passed on."""
        if word.startswith("--"):
            name, has_value, value = word.partition("=")
            found: list[tuple[str, str | None]] = [(name, value if has_value else None)]
        else:
            found = list(self._short_options(word))
        unknown = [name for name, _ in found if name not in self.options and name not in HELP_NAMES]
        if unknown and self._forwards:
            return False
        if unknown:
            raise UsageError(f"No such option: {unknown[0]}{_possible(unknown[0], self.options)}")
        for name, given in found:
            self._take(name, given, left)
        return True

    def _short_options(self, word: str) -> Iterator[tuple[str, str | None]]:
        """The options in a word of one dash: flags, and at most one with a value, which comes last."""
        for at, letter in enumerate(word[1:], 2):
            option = self.options.get(f"-{letter}")
            takes_value = option is not None and not option.is_flag
            yield f"-{letter}", (word[at:].removeprefix("=") or None) if takes_value else None
            if takes_value:
                return

    def _take(self, name: str, value: str | None, left: list[str]) -> None:
        if name in HELP_NAMES:
            raise HelpWanted
        option = self.options[name]
        if option.is_flag:
            if value is not None:
                raise UsageError(f"Option '{name}' does not take a value.")
            self._set(option)
            return
        if value is None and _can_be_left_out(option, left):
            value = ""
        if value is None and not left:
            raise UsageError(f"Option '{name}' requires an argument.")
        self._add(option, left.pop(0) if value is None else value)

    def _set(self, flag: Parameter) -> None:
        self.values[flag.name] = True
        if isinstance(flag.described, Option) and flag.described.action is not None:
            flag.described.action()
            sys.exit()

    def _add(self, parameter: Parameter, text: str) -> None:
        try:
            value = parameter.convert(text)
        except ValueError as error:
            raise UsageError(f"Invalid value for '{parameter.label}': {error}") from None
        if parameter.is_list:
            self.values.setdefault(parameter.name, []).append(value)
        else:
            self.values[parameter.name] = value

    def fill_arguments(self) -> None:
        """Give the words to the arguments, in order. One that takes a list leaves enough for those after it."""
        for number, argument in enumerate(self.arguments, 1):
            count = max(0, len(self.rest) - (len(self.arguments) - number)) if argument.is_list else 1
            for word in self.rest[:count]:
                if word in self._unknown:
                    raise UsageError(f"No such option: {word}. What is passed on comes after the {argument.label}.")
                self._add(argument, word)
            self.rest = self.rest[count:]
        if self.rest and not self._forwards:
            several = len(self.rest) > 1
            raise UsageError(f"Got unexpected extra argument{'s' if several else ''} ({' '.join(self.rest)})")

    def require(self, parameters: Sequence[Parameter]) -> None:
        """Add the defaults. Raises an error if a value is missing."""
        for each in parameters:
            if each.name not in self.values:
                if each.is_required:
                    kind = "argument" if isinstance(each.described, Argument) else "option"
                    raise UsageError(f"Missing {kind} '{each.label}'.")
                self.values[each.name] = each.default


def _can_be_left_out(option: Parameter, left: list[str]) -> bool:
    """Whether an option without a value is complete: the next word is not its value."""
    is_value = option.described.is_value if isinstance(option.described, Option) else None
    return is_value is not None and not (left and is_value(left[0]))


def _possible(name: str, options: dict[str, Parameter]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  # only for errors

    found = get_close_matches(name, [each for each in options if each.startswith("--")])
    return f" (Possible options: {', '.join(sorted(found))})" if found else ""
