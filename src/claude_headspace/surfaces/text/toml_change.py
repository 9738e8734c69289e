"""Changes values in the text of a TOML file, and nothing else: comments, order and other values stay."""

from collections.abc import Mapping, MutableMapping
from itertools import accumulate
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from claude_headspace.errors import BadConfiguration

KeyPath = tuple[str, ...]
"""Where a value is: the names of its tables, then its own name."""


def change_toml(text: str, changes: Mapping[KeyPath, Any], file: str) -> str:
    """The text with other values. None removes a value, or a table with all of its values."""
    document = _parse(text, file)
    for path, value in changes.items():
        _change(document, path, value, file)
    return tomlkit.dumps(document)


def change_setting(text: str, name: str, value: Any, file: str) -> str:
    """The text of config.toml with another value of a setting, in the table in which it is now."""
    return change_toml(text, {_place_of(_parse(text, file), name): value}, file)


def _parse(text: str, file: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise _not_changed(file, str(error)) from error


def _not_changed(file: str, reason: str) -> BadConfiguration:
    return BadConfiguration(
        "not_changed", f"{file} cannot be changed: {reason}", "Open it in an editor, and correct it."
    )


def _place_of(document: Mapping[str, Any], name: str) -> KeyPath:
    """`policy_preset` is `preset` in the table `policy` if that exists, otherwise a value outside of all tables."""
    parts = name.split("_")
    for prefix in accumulate(parts[:-1], "{}_{}".format):
        table = document.get(prefix)
        inner = name.removeprefix(f"{prefix}_")
        if isinstance(table, Mapping) and inner in table:
            return prefix, inner
    return (name,)


def _change(table: MutableMapping[str, Any], path: KeyPath, value: Any, file: str) -> None:
    for name in path[:-1]:
        if name not in table:
            if value is None:
                return
            table[name] = {}
        table = table[name]
        if not isinstance(table, MutableMapping):
            raise _not_changed(file, f"`{name}` is not a table.")
    if value is None:
        table.pop(path[-1], None)
    else:
        table[path[-1]] = value
