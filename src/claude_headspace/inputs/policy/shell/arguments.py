"""A program's arguments, told apart: flags, options with a value, and the rest. GNU's habits, which BSD's mostly share.

Flags may stand together (`-rf`), anywhere, and long ones may be cut short (`--recurs`); after `--` nothing is a flag.
"""

from collections.abc import Collection, Sequence

import msgspec

from claude_headspace.inputs.policy.shell.markers import unmark


class Arguments(msgspec.Struct, frozen=True):
    """What a program was given."""

    flags: frozenset[str]
    options: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]

    def has_flag(self, *names: str) -> bool:
        """Whether one of these flags is there; a long one may be cut short to three letters."""
        return any(
            flag in names or (len(flag) > 2 and any(name.startswith(flag) for name in names)) for flag in self.flags
        )

    def get_values(self, *names: str) -> list[str]:
        """The values of these options."""
        return [value for name, value in self.options if name in names]


def parse_arguments(
    arguments: Sequence[str], value_options: Collection[str] = (), attached_options: str = ""
) -> Arguments:
    """Tell arguments apart. `valued` take the next word as their value, `attached` what stands behind the letter."""
    flags: set[str] = set()
    values: list[tuple[str, str]] = []
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
                values.append((name, value if equals else rest.pop(0)))
        elif len(word) > 1 and word.startswith("-"):
            _parse_short_options(word[1:], value_options, attached_options, flags, values, rest)
        else:
            operands.append(word)
    return Arguments(frozenset(flags), tuple(values), tuple(operands))


def _parse_short_options(
    word: str,
    valued: Collection[str],
    attached: str,
    flags: set[str],
    values: list[tuple[str, str]],
    rest: list[str],
) -> None:
    for number, letter in enumerate(word):
        flags.add(letter)
        behind = word[number + 1 :]
        if letter in attached:
            values.append((letter, behind))
            return
        if letter in valued:
            values.append((letter, behind or (rest.pop(0) if rest else "")))
            return
