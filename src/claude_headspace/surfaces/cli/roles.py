"""`headspace role …`: lists roles and modes, previews the context of a session, checks the included files."""

import sys
from pathlib import Path
from typing import Annotated

from claude_headspace.config import find_paths, load_settings
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.cli.presentation.roles import role_check_result, role_list, role_preview
from claude_headspace.surfaces.client.role_preview import claude_os_root, find_roles, preview, role_problem, to_json


@examples("headspace role list")
def list_roles(as_json: AsJson = False) -> None:
    """List the roles and modes of this directory."""
    settings, directory = load_settings(find_paths()), str(Path.cwd())
    found = to_json(find_roles(settings, directory))
    output.write_result(found, as_json, lambda found, _: role_list(found, claude_os_root(settings, directory)))


@examples("headspace role show chief", "headspace role show chief --mode background", "headspace role show --json")
def show(
    role: Annotated[str | None, Argument("ROLE", help="The role; default: only the core files.")] = None,
    mode: Annotated[str, Option("--mode", help="Mode of the session.")] = "interactive",
    as_json: AsJson = False,
) -> None:
    """Print the context that a session here would start with."""
    found = to_json(preview(load_settings(find_paths()), str(Path.cwd()), role, mode))
    output.write_result(found, as_json, lambda found, _: role_preview(found))


@examples("headspace role check", "headspace role check chief && headspace run --role chief")
def check(
    role: Annotated[str | None, Argument("ROLE", help="Also check that this role exists; default: only files.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check that all included files are readable.

    Exits with 1 if the role does not exist, or if a file of a role, a mode or the core is missing.
    """
    settings, directory = load_settings(find_paths()), str(Path.cwd())
    roles = to_json(find_roles(settings, directory))
    core = to_json(preview(settings, directory, None, None).left_out)
    unknown = role_problem(settings, directory, role) if role else ""
    found = {"core": core, "roles": roles, "unknown": unknown}
    output.write_result(found, as_json, lambda found, _: role_check_result(found["core"], found["roles"], unknown))
    if unknown or core or any(each["left_out"] for each in roles):
        sys.exit(1)
