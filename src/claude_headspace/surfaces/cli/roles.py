"""`headspace role …`: which roles and modes there are, what a session would begin with, whether all of it is there."""

from pathlib import Path
from typing import Annotated

import typer

from claude_headspace.surfaces.cli.options import AsJson, places


def list_roles(as_json: AsJson = False) -> None:
    """Show the roles and modes of this directory."""
    from claude_headspace.config import load_settings
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.roles import listed
    from claude_headspace.surfaces.client.role_preview import context_roots_of, list_roles, to_json
    from claude_headspace.surfaces.text.labels import clean_json

    settings, here = load_settings(places()), str(Path.cwd())
    found = list_roles(settings, here)
    if as_json:
        terminal.write_json(to_json(found))
        return
    terminal.screen().show(listed(clean_json(to_json(found)), context_roots_of(settings, here).root))


def show(
    role: Annotated[str | None, typer.Argument(metavar="[ROLE]", help="The role; without it only core files.")] = None,
    mode: Annotated[str, typer.Option("--mode", help="The mode of the session.")] = "interactive",
    as_json: AsJson = False,
) -> None:
    """Print exactly what a session here would begin with."""
    from claude_headspace.config import load_settings
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.roles import previewed
    from claude_headspace.surfaces.client.role_preview import preview, to_json
    from claude_headspace.surfaces.text.labels import clean_json

    found = to_json(preview(load_settings(places()), str(Path.cwd()), role, mode))
    if as_json:
        terminal.write_json(found)
        return
    terminal.screen().show(previewed(clean_json(found)))


def check(as_json: AsJson = False) -> None:
    """Look whether every file that roles and modes include can be read. Exits with 1 if not."""
    from claude_headspace.config import load_settings
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.roles import checked
    from claude_headspace.surfaces.client.role_preview import list_roles, preview, to_json
    from claude_headspace.surfaces.text.labels import clean_json

    settings, here = load_settings(places()), str(Path.cwd())
    found, core = to_json(list_roles(settings, here)), to_json(preview(settings, here, None, None).left_out)
    if as_json:
        terminal.write_json({"core": core, "roles": found})
    else:
        terminal.screen().show(checked(clean_json(core), clean_json(found)))
    if core or any(each["left_out"] for each in found):
        raise typer.Exit(1)
