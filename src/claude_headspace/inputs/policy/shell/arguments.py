"""Parses a program's arguments into flags, option values and operands, by GNU conventions, which BSD mostly shares.

Short flags can be combined (`-rf`), long ones abbreviated (`--recurs`). Flags can follow operands; after `--` there are
only operands.
"""

from collections.abc import Collection, Sequence

import msgspec

from claude_headspace.inputs.policy.shell.markers import unmark


class Arguments(msgspec.Struct, frozen=True):
    """Parsed arguments."""

    flags: frozenset[str]
    options: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]

    def has_flag(self, *names: str) -> bool:
        """Whether one of these flags is present. A long flag can be abbreviated to three letters."""
        return any(
            flag in names or (len(flag) > 2 and any(name.startswith(flag) for name in names)) for flag in self.flags
        )

    def get_values(self, *names: str) -> list[str]:
        """Return the values of these options."""
        return [value for name, value in self.options if name in names]


def parse_arguments(
    arguments: Sequence[str], value_options: Collection[str] = (), attached_options: str = ""
) -> Arguments:
    """Parse arguments. `value_options` take a value, `attached_options` only the rest of their own word (`-i.bak`)."""
    flags: set[str] = set()
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            flags.add(unmark(name))
            if equals or (name in value_options and rest):
                options.append((name, value if equals else rest.pop(0)))
        elif len(word) > 1 and word.startswith("-"):
            _parse_short_options(word[1:], value_options, attached_options, flags, options, rest)
        else:
            operands.append(word)
    return Arguments(frozenset(flags), tuple(options), tuple(operands))


def _parse_short_options(
    word: str,
    value_options: Collection[str],
    attached_options: str,
    flags: set[str],
    options: list[tuple[str, str]],
    rest: list[str],
) -> None:
    """Parse combined short options. Takes a value from `rest` if the last letter needs one."""
    for position, letter in enumerate(word, 1):
        flags.add(letter)
        suffix = word[position:]
        if letter in attached_options:
            options.append((letter, suffix))
            return
        if letter in value_options:
            options.append((letter, suffix or (rest.pop(0) if rest else "")))
            return
