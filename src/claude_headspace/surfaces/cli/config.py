"""The CLI command `config`."""

import msgspec

from claude_headspace.config import effective_settings, find_paths
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.cli.presentation.status import settings_lines
from claude_headspace.surfaces.text.formatting import clean_json
from claude_headspace.surfaces.text.settings import settings_view

JSON_FIELDS = ("value", "default", "origin", "description")


@examples("headspace config", "headspace config --json | jq .settings.port.value", "headspace config set port 5056")
def config(as_json: AsJson = False) -> None:
    """Show all settings and file locations.

    Change a setting with `config set`, in config.toml, or in the environment: `port` is HEADSPACE_PORT, and so on.
    """
    paths = find_paths()
    view = msgspec.to_builtins(settings_view(*effective_settings(paths), paths))
    entries, files = view["settings"], view["places"]
    if as_json:
        by_name = {entry["name"]: {key: entry[key] for key in JSON_FIELDS} for entry in entries}
        output.write_json({"settings": by_name, "places": files})
        return
    screen = output.screen()
    screen.show(settings_lines(clean_json(entries), clean_json(files), screen.width))
