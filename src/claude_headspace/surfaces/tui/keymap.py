"""The user's own keys of `headspace top`: the file `keys.toml` in the configuration directory.

    send = "S"
    previous = ["up", "i"]
    bell = []

Rules
- An action keeps its default keys unless the file names it. An empty list leaves it without a key.
- A key has one action: a conflict, an unknown action or an unknown key is an error, and `top` does not start.
- The digits, `ctrl+c` and the keys of panels and dialogs cannot be changed.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from claude_headspace.errors import BadConfiguration
from claude_headspace.surfaces.tui.keys import KEYS, Key

SYMBOLS = {"slash": "/", "question_mark": "?", "right_square_bracket": "]", "left_square_bracket": "["}
NAMED_KEYS = frozenset(
    [
        *("enter", "space", "escape", "up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
        *("delete", "insert", "backspace", *(f"f{number}" for number in range(1, 13))),
    ]
)
LABELS = {"escape": "esc", "pageup": "pgup", "pagedown": "pgdn", "up": "↑", "down": "↓", "left": "←", "right": "→"}
FIXED = ("jump_to",)
"""Actions whose keys cannot be changed."""
ALWAYS = {"leave": "ctrl+c"}
"""Keys that an action has in any case."""
ONLY = {"tab": "next_layout"}
"""Keys that only one action can have: Textual uses them itself."""


def load_keys(file: Path) -> Sequence[Key]:
    """The keys in use. Raises `BadConfiguration` with the name and the problem of a wrong entry."""
    try:
        entries = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return KEYS
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _bad(file, f"it cannot be read: {error}") from error
    try:
        return apply_entries(entries)
    except ValueError as error:
        raise _bad(file, str(error)) from error


def apply_entries(entries: Mapping[str, Any]) -> Sequence[Key]:
    """The table of keys with the user's entries. Raises `ValueError` with the reason."""
    known = {key.id: key for key in KEYS if key.action not in FIXED}
    for name in entries:
        if name not in known:
            raise ValueError(f"there is no action `{name}`. Actions: {', '.join(known)}.")
    keys = [_with_keys(key, entries[key.id]) if key.id in entries else key for key in KEYS]
    _check_conflicts(keys)
    return tuple(keys)


def _with_keys(key: Key, wanted: Any) -> Key:
    names: Any = [wanted] if isinstance(wanted, str) else wanted
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"`{key.id}` must be a key or a list of keys.")
    for name in names:
        _check_key(key, name)
    always = [ALWAYS[key.id]] if key.id in ALWAYS else []
    label = " ".join(map(_label, names)) or "–"
    return key._replace(names=",".join([*names, *always]), label=label)


def _label(name: str) -> str:
    return LABELS.get(name) or SYMBOLS.get(name, name)


def _check_key(key: Key, name: str) -> None:
    is_sign = len(name) == 1 and name.isprintable() and not name.isspace() and not name.isdigit() and name != ","
    is_control = bool(re.fullmatch(r"ctrl\+[abd-z]", name))
    is_own = ONLY.get(name) == key.id
    if not (is_sign or is_control or is_own or name in NAMED_KEYS or name in SYMBOLS):
        raise ValueError(f"`{name}` cannot be a key of `{key.id}`. Use a letter, a sign, ctrl+letter, or a key name.")


def _check_conflicts(keys: Sequence[Key]) -> None:
    owners: dict[str, str] = {}
    for key in keys:
        for name in filter(None, key.names.split(",")):
            sign = SYMBOLS.get(name, name)
            if owners.setdefault(sign, key.id) != key.id:
                raise ValueError(f"the key `{sign}` belongs to `{owners[sign]}` and `{key.id}`. Give one another key.")


def keymap(keys: Sequence[Key]) -> dict[str, str]:
    """The changed bindings, by the id of the action, for Textual."""
    return {key.id: key.names for key, default in zip(keys, KEYS, strict=True) if key.names != default.names}


def translate(text: str, keys: Sequence[Key]) -> str:
    """A text about default keys (“Press r to …”) with the keys in use."""
    labels = {default.label: key.label for key, default in zip(keys, KEYS, strict=True)}
    return re.sub(r"\b([Pp]ress) (\S+)", lambda found: f"{found[1]} {labels.get(found[2], found[2])}", text)


def _bad(file: Path, problem: str) -> BadConfiguration:
    hint = "`headspace keys` lists all actions. Correct the file, or remove it to use the default keys."
    return BadConfiguration("bad_keys", f"{file}: {problem}", hint)
