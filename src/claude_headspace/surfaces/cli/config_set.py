"""The CLI command `config set`. Only this command loads the library that changes TOML files."""

import os
from typing import Annotated

from claude_headspace.config import Paths, find_paths, parse_value, read_settings, write_private_file
from claude_headspace.errors import Forbidden
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument
from claude_headspace.surfaces.cli.open import is_agent
from claude_headspace.surfaces.cli.options import examples
from claude_headspace.surfaces.text.toml_change import change_setting

RESTART = "`headspace down` and `headspace up` apply it to a running daemon."


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


def store_setting(paths: Paths, name: str, value: str) -> None:
    """Validate a value, and write it to config.toml. Agents may not."""
    if is_agent():
        raise Forbidden("not_for_agents", "Agents cannot change settings.", "Run this in your own terminal.")
    parsed = parse_value(name, value)
    paths.create_directories()
    text = change_setting(read_settings(paths.config_file), name, parsed, str(paths.config_file))
    write_private_file(paths.config_file.resolve(), text.encode())
