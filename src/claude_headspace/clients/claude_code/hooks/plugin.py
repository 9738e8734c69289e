"""The hooks as a plugin of Claude Code: the files of `plugin/`, generated from the same table as an installation.

The script of the plugin forwards the event to the hook script in the daemon's state directory, so it works with any
version of Headspace. It does nothing if the settings have the hooks too, so that no event is reported twice.
"""

import json

from claude_headspace import __version__
from claude_headspace.clients.claude_code.hooks.events import events_for
from claude_headspace.clients.claude_code.hooks.settings_file import SCRIPT_NAME, hook_entries

ROOT = "${CLAUDE_PLUGIN_ROOT}"
"""The variable that the client replaces with the plugin's directory."""
NAME = "headspace"
DESCRIPTION = "Reports Claude Code's hook events to Headspace: see what every agent is doing, and which one needs you."
OWNER = {"name": "Headspace contributors"}


def files() -> dict[str, str]:
    """Every generated file, by its path in the repository."""
    return {
        ".claude-plugin/marketplace.json": _text(marketplace()),
        "plugin/.claude-plugin/plugin.json": _text(manifest()),
        "plugin/hooks/hooks.json": _text(hooks()),
    }


def manifest() -> dict[str, object]:
    """The plugin's manifest."""
    return {"name": NAME, "version": __version__, "description": DESCRIPTION, "author": OWNER, "license": "MIT"}


def hooks() -> dict[str, object]:
    """The hooks that every client version in use knows."""
    entries = hook_entries(events_for(None), f"{ROOT}/hooks/{SCRIPT_NAME}")
    return {"description": DESCRIPTION, "hooks": {event: [{"hooks": [hook]}] for event, hook in entries.items()}}


def marketplace() -> dict[str, object]:
    """The marketplace entry of the repository."""
    return {
        "name": NAME,
        "owner": OWNER,
        "plugins": [{"name": NAME, "source": "./plugin", "description": DESCRIPTION}],
    }


def _text(value: dict[str, object]) -> str:
    return json.dumps(value, indent=2) + "\n"
