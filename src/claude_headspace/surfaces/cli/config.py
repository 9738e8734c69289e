"""The CLI command `config`, and `config set`."""

import os
from typing import Annotated

import msgspec

from claude_headspace.config import (
    Paths,
    effective_settings,
    find_paths,
    parse_value,
    read_settings,
    write_private_file,
)
from claude_headspace.errors import Forbidden
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument
from claude_headspace.surfaces.cli.open import is_agent
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.cli.presentation.status import settings_lines
from claude_headspace.surfaces.text.formatting import clean_json
from claude_headspace.surfaces.text.settings import settings_view
from claude_headspace.surfaces.text.toml_change import change_setting

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


@examples("headspace config set port 5056", "headspace config set config_dirs ~/.claude,~/work/.claude")
def set_setting(
    name: Annotated[str, Argument("NAME", help="The setting.")],
    value: Annotated[str, Argument("VALUE", help="Its value; a list is separated by commas.")],
) -> None:
    """Change a setting in config.toml.

    The value is validated, and nothing else in the file changes. The daemon uses it after its next start.
    """
    paths = find_paths()
    store_setting(paths, name, value)
    overridden = f"HEADSPACE_{name.upper()}"
    note = f"{overridden} in the environment overrides it." if os.environ.get(overridden) else RESTART
    output.screen().show([output.line(f"Set `{name}` in {paths.config_file}."), output.line(note)])


RESTART = "`headspace down` and `headspace up` apply it to a running daemon."


def store_setting(paths: Paths, name: str, value: str) -> None:
    """Validate a value, and write it to config.toml. Agents may not."""
    if is_agent():
        raise Forbidden("not_for_agents", "Agents cannot change settings.", "Run this in your own terminal.")
    parsed = parse_value(name, value)
    paths.create_directories()
    text = change_setting(read_settings(paths.config_file), name, parsed, str(paths.config_file))
    write_private_file(paths.config_file.resolve(), text.encode())
