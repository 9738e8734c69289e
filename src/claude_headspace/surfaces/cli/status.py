"""The CLI command `status`."""

import sys
from collections import Counter
from typing import Any

from claude_headspace.config import Paths, find_paths, load_settings
from claude_headspace.errors import HeadspaceError
from claude_headspace.inputs.receive.spool_notes import client_of_file
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.options import AsJson, examples, now
from claude_headspace.surfaces.cli.presentation.status import not_running, status_footer, status_lines
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.running_daemon import find_daemon, find_killed_daemon
from claude_headspace.surfaces.text.formatting import clean_json

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
