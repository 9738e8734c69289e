"""The hooks as a plugin of Claude Code: the files of `plugin/`, made from the same table as an installation.

The plugin's own script only hands the event on, to the script that the daemon keeps in its state directory; so it fits
whatever version of Headspace there is. Where the settings have our hooks as well it stays silent: nothing fires twice.
"""

import json

from claude_headspace import __version__
from claude_headspace.clients.claude_code.hooks.events import known_to
from claude_headspace.clients.claude_code.hooks.settings_file import SCRIPT_NAME, wanted

ROOT = "${CLAUDE_PLUGIN_ROOT}"
"""The variable that the client replaces with the plugin's directory."""
NAME = "headspace"
ABOUT = "Reports Claude Code's hook events to Headspace: see what every agent is doing, and which one needs you."
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
    return {"name": NAME, "version": __version__, "description": ABOUT, "author": OWNER, "license": "MIT"}


def hooks() -> dict[str, object]:
    """The hooks that every client version in use knows."""
    entries = wanted(known_to(None), f"{ROOT}/hooks/{SCRIPT_NAME}")
    return {"description": ABOUT, "hooks": {event: [{"hooks": [hook]}] for event, hook in entries.items()}}


def marketplace() -> dict[str, object]:
    """The marketplace entry of the repository."""
    return {
        "name": NAME,
        "owner": OWNER,
        "plugins": [{"name": NAME, "source": "./plugin", "description": ABOUT}],
    }


def _text(value: dict[str, object]) -> str:
    return json.dumps(value, indent=2) + "\n"
