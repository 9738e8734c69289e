"""Headspace's hooks in a settings file of Claude Code. Pure: text in, text out.

Rules
- Everything that is not ours stays, in its order; indentation, line ends and the last newline stay as they are found.
- Merging twice gives the same text as merging once, and it brings entries of earlier versions up to date.
- A file that cannot be read as JSON is not touched; the error says where it breaks and what to do.
"""

import json
import re
import shlex
from collections.abc import Iterable
from typing import Any

from claude_headspace.clients.claude_code.hooks.events import ALWAYS_COMMAND, timeout_of
from claude_headspace.clients.claude_code.wire import kebab
from claude_headspace.errors import BadConfiguration

SCRIPT_NAME = "notify-headspace.sh"
STATUS_LINE_NAME = "statusline-headspace.sh"
STATUS_LINE = "statusLine"
BYTE_ORDER_MARK = "\ufeff"

Json = dict[str, Any]

_OUR_URL = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\]):\d+/hook/[a-z-]+")
_OUR_COMMAND = re.compile(rf"(^|[\s/'\"]){re.escape(SCRIPT_NAME)}($|[\s'\"])")


def command_hook(script: str, event: str) -> Json:
    """Our script, in exec form: no shell around it."""
    return {"type": "command", "command": script, "args": [event], "timeout": timeout_of(event)}


def http_hook(url: str, event: str) -> Json:
    """Our endpoint."""
    return {"type": "http", "url": f"{url}/hook/{kebab(event)}", "timeout": timeout_of(event)}


def wanted(events: Iterable[str], script: str, url: str | None = None) -> dict[str, Json]:
    """The hooks of these events; with an address over HTTP, where that works."""
    return {
        event: command_hook(script, event) if url is None or event in ALWAYS_COMMAND else http_hook(url, event)
        for event in events
    }


def is_ours(hook: object) -> bool:
    """Whether a hook was registered by Headspace, in this version or an earlier one."""
    if not isinstance(hook, dict):
        return False
    command, url = hook.get("command"), hook.get("url")
    if isinstance(command, str):
        return bool(_OUR_COMMAND.search(command))
    return isinstance(url, str) and bool(_OUR_URL.fullmatch(url))


def merge(text: str, hooks: dict[str, Json], name: str) -> str:
    """The settings with our hooks; `name` is how errors call the file."""
    settings = parse(text, name)
    before = settings.get("hooks", {})
    after = _without_ours(before)
    for event, hook in hooks.items():
        after.setdefault(event, []).append({"hooks": [hook]})
    ordered = [event for event in before if event in after]
    settings["hooks"] = {event: after[event] for event in dict.fromkeys([*ordered, *after])}
    return render(settings, text)


def remove(text: str, name: str, status_line: object = None) -> str:
    """The settings without our hooks, without what is empty then, and with the status line that there was before."""
    settings = parse(text, name)
    ours = shows_our_line(settings)
    if not ours and not any(True for _ in registered(settings)):
        return text
    if "hooks" in settings:
        settings["hooks"] = _without_ours(settings["hooks"])
        if not settings["hooks"]:
            del settings["hooks"]
    if ours:
        settings[STATUS_LINE] = status_line
        if status_line is None:
            del settings[STATUS_LINE]
    return render(settings, text)


# --- the status line ---


def with_our_line(text: str, script: str, name: str) -> str:
    """The settings with our status line in the place of another; how far it is indented stays."""
    settings = parse(text, name)
    before = settings.get(STATUS_LINE)
    kept = {"padding": before["padding"]} if isinstance(before, dict) and "padding" in before else {}
    settings[STATUS_LINE] = {"type": "command", "command": shlex.quote(script), **kept}
    return render(settings, text)


def shows_our_line(settings: Json) -> bool:
    """Whether the status line is ours."""
    entry = settings.get(STATUS_LINE)
    return isinstance(entry, dict) and STATUS_LINE_NAME in str(entry.get("command", ""))


def registered(settings: Json) -> list[tuple[str, Json]]:
    """Our hooks in these settings, each with its event."""
    found: list[tuple[str, Json]] = []
    for event, groups in settings.get("hooks", {}).items():
        for group in groups:
            found += [(event, hook) for hook in _hooks_of(group) if is_ours(hook)]
    return found


def _hooks_of(group: object) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _without_ours(hooks: Json) -> Json:
    """All hooks but Headspace's; groups and events that become empty are removed."""
    kept: Json = {}
    for event, groups in hooks.items():
        remaining = [left for group in groups for left in _group_without_ours(group)]
        if remaining or not groups:
            kept[event] = remaining
    return kept


def _group_without_ours(group: Any) -> list[Any]:
    """The group with its other hooks, if there are any."""
    hooks = _hooks_of(group)
    foreign = [hook for hook in hooks if not is_ours(hook)]
    if len(foreign) == len(hooks):
        return [group]
    return [{**group, "hooks": foreign}] if foreign else []


# --- the text ---


def parse(text: str, name: str) -> Json:
    """The settings in a text; an empty one has none."""
    bare = text.removeprefix(BYTE_ORDER_MARK)
    if not bare.strip():
        return {}
    try:
        settings = json.loads(bare, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise _unusable(name, f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except (_Doubled, RecursionError) as error:
        raise _unusable(name, str(error)) from error
    return _checked(settings, name)


class _Doubled(ValueError):
    """A duplicate key in an object."""


def _object(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        doubled = next(key for key in names if names.count(key) > 1)
        raise _Doubled(f"the key {json.dumps(doubled)} stands twice in one object, and one of them would be lost")
    return found


def _checked(settings: Any, name: str) -> Json:
    if not isinstance(settings, dict):
        raise _unusable(name, "it is no JSON object")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise _unusable(name, "`hooks` is no object")
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise _unusable(name, f"`hooks.{event}` is no list")
    return settings


def _unusable(name: str, problem: str) -> BadConfiguration:
    return BadConfiguration(
        "bad_settings",
        f"{name} cannot be changed safely: {problem}.",
        "Nothing was changed. Correct the file, or move it away, and run this again.",
    )


def render(settings: Json, like: str) -> str:
    """Settings as text, in the format of another text."""
    text = json.dumps(settings, indent=_indent(like), ensure_ascii=False)
    if like.endswith("\n") or not like.strip():
        text += "\n"
    if "\r\n" in like:
        text = text.replace("\n", "\r\n")
    return BYTE_ORDER_MARK + text if like.startswith(BYTE_ORDER_MARK) else text


def _indent(like: str) -> int | str | None:
    """The indentation of a text; a single line stays one."""
    bare = like.removeprefix(BYTE_ORDER_MARK).strip()
    if bare and "\n" not in bare and bare != "{}":
        return None
    found = re.search(r"\n([ \t]+)\S", like)
    if found is None:
        return 2
    return found[1] if "\t" in found[1] else len(found[1])
