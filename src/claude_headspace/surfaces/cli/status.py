"""How the daemon is doing: `status`. `up` and `down` have a file of their own."""

from typing import Any

from claude_headspace.config import Paths, load_settings
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.cli.options import AsJson, now, places


def status(as_json: AsJson = False) -> None:
    """Tell whether Headspace runs, and whether events arrive.

    Exits with 0 in any case; `running` in --json tells which.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.status import after_status, not_running, running
    from claude_headspace.surfaces.client.running_daemon import find_killed_daemon
    from claude_headspace.surfaces.text.labels import clean_json

    report = _report(places())
    if as_json:
        terminal.write_json(report)
    elif not report["running"]:
        terminal.screen().show(not_running(report["spool"], find_killed_daemon(places())))
    else:
        report = clean_json(report)
        screen = terminal.screen()
        needs_token = load_settings(places()).ingest == "token"
        screen.show(running(report, now(), screen.width), then=after_status(report, needs_token=needs_token))


def _report(home: Paths) -> dict[str, Any]:
    """What is known: from the home itself, and from the daemon if it answers."""
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.client.running_daemon import find_daemon

    daemon = find_daemon(home)
    report: dict[str, Any] = dict.fromkeys(("url", "pid", "version", "started_at", "mode", "health", "error"))
    if daemon is None:
        return {"running": False, **report, "spool": _waiting(home)}
    report |= {"url": daemon.url, "pid": daemon.pid, "version": daemon.version, "started_at": daemon.started_at}
    report |= {"machine": daemon.machine, "database": daemon.database}
    try:
        client = ApiClient.local(home)
        report |= client.status()
        report["health"] = client.health()
    except HeadspaceError as error:
        report["error"] = error.message
    return {"running": True, **report}


def _waiting(home: Paths) -> dict[str, int] | None:
    """What waits for the next start, if there was ever one."""
    if not home.spool.is_dir():
        return None
    return {
        "depth": sum(1 for _ in home.spool.glob("*.json")),
        "rejected": sum(1 for _ in (home.spool / "rejected").glob("*.json")),
    }
