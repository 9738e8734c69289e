"""The CLI commands `status` and `config`."""

import os
import sys
from collections import Counter
from typing import Annotated, Any

import msgspec

from claude_headspace.config import (
    Paths,
    effective_settings,
    find_paths,
    load_settings,
    parse_value,
    read_settings,
    write_private_file,
)
from claude_headspace.errors import Forbidden, HeadspaceError
from claude_headspace.inputs.receive.spool_notes import client_of_file
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument
from claude_headspace.surfaces.cli.open import is_agent
from claude_headspace.surfaces.cli.options import AsJson, examples, now
from claude_headspace.surfaces.cli.presentation.status import not_running, settings_lines, status_footer, status_lines
from claude_headspace.surfaces.cli.settings_file import set_value
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.running_daemon import find_daemon, find_killed_daemon
from claude_headspace.surfaces.text.formatting import clean_json
from claude_headspace.surfaces.text.settings import settings_view

EXIT_NO_DAEMON = 3


@examples("headspace status", "headspace status --json | jq .running")
def status(as_json: AsJson = False) -> None:
    """Show whether Headspace is running and receives events.

    Exits with 3 if no daemon answers; `running` of --json says whether one runs.
    """
    paths = find_paths()
    report = _report(paths)
    if as_json:
        output.write_json(report)
    elif not report["running"]:
        output.screen().show(not_running(report["spool"], find_killed_daemon(paths)))
    else:
        report = clean_json(report)
        screen = output.screen()
        needs_token = load_settings(paths).ingest == "token"
        screen.show(status_lines(report, now(), screen.width), then=status_footer(report, needs_token=needs_token))
    if not report["running"] or report["error"]:
        sys.exit(EXIT_NO_DAEMON)


def _report(paths: Paths) -> dict[str, Any]:
    """What is known from the files, and from the daemon if it answers."""
    daemon = find_daemon(paths)
    report: dict[str, Any] = dict.fromkeys(("url", "pid", "version", "started_at", "mode", "health", "error"))
    if daemon is None:
        return {"running": False, **report, "spool": _spool_counts(paths)}
    report |= {"url": daemon.url, "pid": daemon.pid, "version": daemon.version, "started_at": daemon.started_at}
    report |= {"machine": daemon.machine, "database": daemon.database}
    try:
        client = ApiClient.local(paths)
        report |= client.status()
        report["health"] = client.health()
    except HeadspaceError as error:
        report["error"] = error.message
    return {"running": True, **report}


def _spool_counts(paths: Paths) -> dict[str, Any] | None:
    """How many events wait in the spool; None if Headspace has never run here."""
    if not paths.spool.is_dir():
        return None
    rejected = Counter(map(client_of_file, (paths.spool / "rejected").glob("*.json")))
    return {
        "depth": sum(1 for _ in paths.spool.glob("*.json")),
        "rejected": rejected.total(),
        "rejected_by_client": dict(rejected),
    }


@examples("headspace config", "headspace config --json | jq .settings.port.value", "headspace config set port 5056")
def config(as_json: AsJson = False) -> None:
    """Show all settings and file locations.

    Change a setting with `config set`, in config.toml, or in the environment: `port` is HEADSPACE_PORT, and so on.
    """
    paths = find_paths()
    view = msgspec.to_builtins(settings_view(*effective_settings(paths), paths))
    entries, files = view["settings"], view["places"]
    if as_json:
        by_name = {
            entry["name"]: {key: entry[key] for key in entry if key not in ("name", "environment")} for entry in entries
        }
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
    text = set_value(read_settings(paths.config_file), name, parsed, str(paths.config_file))
    write_private_file(paths.config_file, text.encode())
