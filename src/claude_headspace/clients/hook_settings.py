"""Adds Headspace's hooks to the text of a settings file in JSON, and removes them. Pure: text in, text out.

The shape is that of Claude Code, which Codex and Gemini CLI use, too: `hooks`, event, groups, hooks.

Rules
- All other content stays, in its order. Indentation, line ends and the last newline stay as they are.
- Merging is idempotent, and replaces entries of earlier versions in their places.
- A file that is not valid JSON is not changed. The error names the position and what to do.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from claude_headspace.clients.hook_files import SCRIPT_NAME
from claude_headspace.errors import BadConfiguration

BYTE_ORDER_MARK = "\ufeff"

Json = dict[str, Any]

_OWN_URL = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\]):\d+/hook/[a-z-]+")
_OWN_COMMAND = re.compile(rf"(^|[\s/'\"]){re.escape(SCRIPT_NAME)}($|[\s'\"])")


def is_own_hook(hook: object) -> bool:
    """Whether a hook was registered by Headspace, in this version or an earlier one."""
    if not isinstance(hook, dict):
        return False
    command, url = hook.get("command"), hook.get("url")
    if isinstance(command, str):
        return bool(_OWN_COMMAND.search(command))
    return isinstance(url, str) and bool(_OWN_URL.fullmatch(url))


def merge(text: str, hooks: Mapping[str, Json], name: str) -> str:
    """Add Headspace's hooks to the settings, each in a group of its own. `name` is the file name in errors."""
    return merge_groups(text, {event: {"hooks": [hook]} for event, hook in hooks.items()}, name)


def merge_groups(text: str, own: Mapping[str, Json], name: str) -> str:
    """Add a group with a hook of Headspace for each event."""
    settings = parse(text, name)
    before = settings.get("hooks", {})
    after = {event: _merged(groups, own.get(event)) for event, groups in before.items()}
    kept = {event: groups for event, groups in after.items() if groups or not before[event]}
    settings["hooks"] = {**kept, **{event: [group] for event, group in own.items() if event not in kept}}
    return render(settings, text)


def _merged(groups: list[Any], own: Json | None) -> list[Any]:
    """The groups of an event with one of Headspace: in the place of an earlier one, otherwise at the end.

    Codex identifies the hooks that the user reviewed by their places.
    """
    new = [] if own is None else [own]
    merged: list[Any] = []
    for group in groups:
        others = _group_without_own_hooks(group)
        if others:
            merged += others
        else:
            merged, new = [*merged, *new], []
    return [*merged, *new]


def remove(text: str, name: str) -> str:
    """Remove Headspace's hooks and emptied groups."""
    settings = parse(text, name)
    if not registered_hooks(settings):
        return text
    settings["hooks"] = _without_own_hooks(settings["hooks"])
    if not settings["hooks"]:
        del settings["hooks"]
    return render(settings, text)


def without_empty_hooks(text: str) -> Json:
    """Settings without empty lists of hooks, to compare two texts: adding and removing hooks drops such lists."""
    settings = parse(text, "")
    hooks = {event: groups for event, groups in settings.pop("hooks", {}).items() if groups}
    return {**settings, **({"hooks": hooks} if hooks else {})}


def registered_hooks(settings: Json) -> list[tuple[str, Json]]:
    """Headspace's hooks in these settings, each with its event."""
    return [(event, hook) for event, hook in all_hooks(settings) if is_own_hook(hook)]


def all_hooks(settings: Json) -> list[tuple[str, Json]]:
    """All hooks in these settings, each with its event."""
    groups = ((event, group) for event, groups in settings.get("hooks", {}).items() for group in groups)
    return [(event, hook) for event, group in groups for hook in _hooks_of(group) if isinstance(hook, dict)]


def effective_hooks(group: object) -> list[Json]:
    """Headspace's hooks in a group that applies to everything."""
    if not isinstance(group, dict) or group.get("matcher", "") not in ("", "*"):
        return []
    return [hook for hook in _hooks_of(group) if is_own_hook(hook)]


def _hooks_of(group: object) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _without_own_hooks(hooks: Json) -> Json:
    """All hooks but Headspace's; groups and events that become empty are removed."""
    others: Json = {}
    for event, groups in hooks.items():
        remaining = [kept_group for group in groups for kept_group in _group_without_own_hooks(group)]
        if remaining or not groups:
            others[event] = remaining
    return others


def _group_without_own_hooks(group: Any) -> list[Any]:
    """The group with its other hooks; nothing if there are none."""
    hooks = _hooks_of(group)
    foreign = [hook for hook in hooks if not is_own_hook(hook)]
    if len(foreign) == len(hooks):
        return [group]
    return [{**group, "hooks": foreign}] if foreign else []


# --- parsing and rendering ---


def parse(text: str, name: str) -> Json:
    """Parse the settings in a text. An empty text has none."""
    bare = text.removeprefix(BYTE_ORDER_MARK)
    if not bare.strip():
        return {}
    try:
        settings = json.loads(bare, object_pairs_hook=_unique_keys)
    except json.JSONDecodeError as error:
        raise _bad_settings(name, f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a duplicate key, a number with thousands of digits, deep nesting
        raise _bad_settings(name, str(error)) from error
    return _check(settings, name)


class _DuplicateKey(ValueError):
    """A duplicate key in an object."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        duplicate = next(key for key in names if names.count(key) > 1)
        raise _DuplicateKey(f"the key {json.dumps(duplicate)} occurs twice in one object, and one would be lost")
    return found


def _check(settings: Any, name: str) -> Json:
    if not isinstance(settings, dict):
        raise _bad_settings(name, "it is not a JSON object")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise _bad_settings(name, "`hooks` is not an object")
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise _bad_settings(name, f"`hooks.{event}` is not a list")
    return settings


def _bad_settings(name: str, problem: str) -> BadConfiguration:
    return BadConfiguration(
        "bad_settings",
        f"{name} cannot be changed safely: {problem}.",
        "Nothing was changed. Correct or move the file, and run this again.",
    )


def render(settings: Json, original: str) -> str:
    """Render settings as text, in the format of the original text."""
    text = json.dumps(settings, indent=_indent(original), ensure_ascii=False)
    if original.endswith("\n") or not original.strip():
        text += "\n"
    if "\r\n" in original:
        text = text.replace("\n", "\r\n")
    return BYTE_ORDER_MARK + text if original.startswith(BYTE_ORDER_MARK) else text


def _indent(original: str) -> int | str | None:
    """The indentation of a text. None keeps a single line."""
    bare = original.removeprefix(BYTE_ORDER_MARK).strip()
    if bare and "\n" not in bare and bare != "{}":
        return None
    found = re.search(r"\n([ \t]+)\S", original)
    if found is None:
        return 2
    return found[1] if "\t" in found[1] else len(found[1])
