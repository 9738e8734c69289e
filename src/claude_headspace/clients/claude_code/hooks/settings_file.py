"""The texts of Claude Code's settings: the entry of a hook, and the status line. Pure: text in, text out.

`clients/hook_settings.py` adds the entries to the settings and removes them.
"""

import shlex
from collections.abc import Iterable

from claude_headspace.clients import hook_settings
from claude_headspace.clients.claude_code.hooks.events import ALWAYS_COMMAND, timeout_of
from claude_headspace.clients.claude_code.wire import kebab
from claude_headspace.clients.hook_settings import Json, parse, render

STATUS_LINE_SCRIPT_NAME = "statusline-headspace.sh"
STATUS_LINE_KEY = "statusLine"


def command_hook(script: str, event: str) -> Json:
    """A hook that runs the script in exec form, without a shell."""
    return {"type": "command", "command": script, "args": [event], "timeout": timeout_of(event)}


def http_hook(url: str, event: str) -> Json:
    """A hook that calls the HTTP endpoint."""
    return {"type": "http", "url": f"{url}/hook/{kebab(event)}", "timeout": timeout_of(event)}


def hook_entries(events: Iterable[str], script: str, url: str | None = None) -> dict[str, Json]:
    """The hook of each event: HTTP if there is a URL and the client supports it, otherwise the script."""
    return {
        event: command_hook(script, event) if url is None or event in ALWAYS_COMMAND else http_hook(url, event)
        for event in events
    }


def remove(text: str, name: str, previous_status_line: object = None) -> str:
    """Remove Headspace's hooks and emptied groups, and restore the previous status line."""
    settings = parse(text, name)
    if has_own_status_line(settings):
        settings[STATUS_LINE_KEY] = previous_status_line
        if previous_status_line is None:
            del settings[STATUS_LINE_KEY]
        text = render(settings, text)
    return hook_settings.remove(text, name)


# --- the status line ---


def add_status_line(text: str, script: str, name: str) -> str:
    """Replace the status line with Headspace's; keep the padding setting."""
    settings = parse(text, name)
    before = settings.get(STATUS_LINE_KEY)
    padding = {"padding": before["padding"]} if isinstance(before, dict) and "padding" in before else {}
    settings[STATUS_LINE_KEY] = {"type": "command", "command": shlex.quote(script), **padding}
    return render(settings, text)


def has_own_status_line(settings: Json) -> bool:
    """Whether the status line is Headspace's."""
    entry = settings.get(STATUS_LINE_KEY)
    return isinstance(entry, dict) and STATUS_LINE_SCRIPT_NAME in str(entry.get("command", ""))
