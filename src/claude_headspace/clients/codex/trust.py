"""The user's review of hooks in `config.toml` of Codex: reading it, adding it, removing it. Pure: text in, text out.

Codex runs a hook only after the user accepted it. It stores the hash of each accepted hook:

    [hooks.state."<path of hooks.json>:<event>:<group>:<index>"]
    trusted_hash = "sha256:…"

Rules
- Everything else in the file stays byte for byte: entries are added as one block at the end, and removed as lines.
- A change is used only if the result, parsed, differs from the original in exactly these entries.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from claude_headspace.clients.hook_settings import BYTE_ORDER_MARK, Json, is_own_hook
from claude_headspace.errors import BadConfiguration

BEGIN = "# Begin: hooks of Headspace, accepted by the user at their installation"
NEW_FILE = " (in a new file)"
END = "# End: hooks of Headspace"
DEFAULT_TIMEOUTS = {"session_end": 1, "interrupt": 1}
DEFAULT_TIMEOUT = 600

_BLOCK = re.compile(rf"\r?\n{re.escape(BEGIN)}({re.escape(NEW_FILE)})?\r?\n.*?{re.escape(END)}\r?\n", re.DOTALL)
_HEADER = re.compile(r"\s*\[")


# --- the hashes of our hooks ---


def own_hashes(settings: Json, hooks_file: Path) -> dict[str, str]:
    """The hash of each of Headspace's hooks, by its key in the state."""
    return {
        f"{file}:{_snake_case(event)}:{number}:{index}": hook_hash(_snake_case(event), hook, group.get("matcher"))
        for file in _spellings(hooks_file)
        for event, groups in settings.get("hooks", {}).items()
        for number, group in enumerate(groups)
        if isinstance(group, dict) and isinstance(group.get("hooks"), list)
        for index, hook in enumerate(group["hooks"])
        if is_own_hook(hook)
    }


def _spellings(path: Path) -> Iterable[Path]:
    """The path as it is configured, and without links: Codex resolves those of $CODEX_HOME."""
    return dict.fromkeys((path, path.parent.resolve() / path.name))


def hook_hash(event: str, hook: Json, matcher: str | None = None) -> str:
    """The hash by which Codex recognises a hook that the user accepted."""
    handler = {
        "async": bool(hook.get("async", False)),
        "command": hook.get("command"),
        "timeout": hook.get("timeout", DEFAULT_TIMEOUTS.get(event, DEFAULT_TIMEOUT)),
        "type": "command",
    }
    identity = {"event_name": event, "hooks": [handler], **({} if matcher is None else {"matcher": matcher})}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _snake_case(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


# --- reading ---


def parse(text: str, name: str) -> Json:
    """The content of `config.toml`."""
    try:
        return tomllib.loads(text.removeprefix(BYTE_ORDER_MARK).replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise BadConfiguration(
            "bad_settings", f"{name} cannot be changed safely: {error}.", "Nothing was changed. Correct the file."
        ) from error


def states(config: Json) -> dict[str, Any]:
    """The state of each hook, by its key."""
    hooks = config.get("hooks")
    found = hooks.get("state") if isinstance(hooks, dict) else None
    return found if isinstance(found, dict) else {}


# --- changing ---


def add(text: str, entries: Mapping[str, str], name: str, *, is_new: bool) -> str:
    """The text with these hooks as accepted."""
    before = remove(text, entries, name)
    line_end = "\r\n" if "\r\n" in text else "\n"
    tables = [f"[hooks.state.{json.dumps(key, ensure_ascii=False)}]" for key in entries]
    pairs = (line for key, table in zip(entries, tables, strict=True) for line in (table, _hash_line(entries[key]), ""))
    lines = ["", BEGIN + (NEW_FILE if is_new else ""), *list(pairs)[:-1], END, ""]
    after = before + line_end.join(lines)
    expected = {**states(parse(before, name)), **{key: {"trusted_hash": value} for key, value in entries.items()}}
    _check(parse(before, name), after, expected, name)
    return after


def _hash_line(value: str) -> str:
    return f'trusted_hash = "{value}"'


def remove(text: str, entries: Iterable[str], name: str) -> str:
    """The text without the state of these hooks and of those in our block, whoever wrote it."""
    before = parse(text, name)
    in_blocks = (key for block in _BLOCK.finditer(text) for key in states(parse_or_none(block[0]) or {}))
    keys = states(before).keys() & {*entries, *in_blocks}
    if not keys:
        return text
    expected = {key: value for key, value in states(before).items() if key not in keys}
    after = _without_tables(_BLOCK.sub("", text), keys)
    if not _differs_only_in_state(before, after, expected):  # Codex can add a table inside of our block
        marks = (BEGIN, END)
        lines = text.splitlines(keepends=True)
        after = _without_tables("".join(line for line in lines if not line.startswith(marks)), keys)
    _check(before, after, expected, name)
    return after


def is_created(text: str) -> bool:
    """Whether the installation of Headspace created the file."""
    found = _BLOCK.search(text)
    return found is not None and found[1] is not None


def parse_or_none(text: str) -> Json | None:
    """The content of a text; None if it is not valid."""
    try:
        return parse(text, "")
    except BadConfiguration:
        return None


def _check(before: Json, after: str, expected: Mapping[str, Any], name: str) -> None:
    """Refuse a change that affects anything but the state of our hooks."""
    if not _differs_only_in_state(before, after, expected):
        raise BadConfiguration(
            "bad_settings",
            f"The review of hooks in {name} has a form that cannot be changed safely.",
            "Nothing was changed. Accept or remove the hooks in Codex with `/hooks`.",
        )


def _differs_only_in_state(before: Json, after: str, expected: Mapping[str, Any]) -> bool:
    found = parse_or_none(after)
    return found is not None and states(found) == dict(expected) and _without_state(before) == _without_state(found)


def _without_state(config: Json) -> Json:
    hooks = config.get("hooks")
    if not isinstance(hooks, dict):
        return config
    others = {key: value for key, value in hooks.items() if key != "state"}
    rest = {key: value for key, value in config.items() if key != "hooks"}
    return {**rest, "hooks": others} if others else rest


def _without_tables(text: str, keys: Iterable[str]) -> str:
    """The text without the tables of these hooks, which Codex wrote, and without an empty table around them."""
    wanted, kept = {("hooks", "state", key) for key in keys}, list[str]()
    in_table = False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            in_table = _table(line) in wanted
            if in_table and kept and not kept[-1].strip():
                kept.pop()
        elif in_table and (not line.strip() or line.lstrip().startswith("#")):
            in_table = False  # what follows belongs to the next table
        if not in_table:
            kept.append(line)
    after = "".join(kept)
    return after if states(parse_or_none(after) or {}) else _without_empty_table(kept)


def _without_empty_table(lines: list[str]) -> str:
    kept = list[str]()
    for line in lines:
        if _HEADER.match(line) and _table(line) == ("hooks", "state"):
            if kept and not kept[-1].strip():
                kept.pop()
        else:
            kept.append(line)
    return "".join(kept)


def _table(line: str) -> tuple[str, ...]:
    """The name of the table that a line begins; empty if it begins none."""
    found: Any = parse_or_none(line.strip()) or {}
    name: list[str] = []
    while isinstance(found, dict) and len(found) == 1:
        [(key, found)] = found.items()
        name.append(key)
    return tuple(name)
