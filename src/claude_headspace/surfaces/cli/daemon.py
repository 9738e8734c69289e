"""Commands about the daemon: `status`, `down`. Starting it is `serve`, which needs more than surfaces know."""

import os
import signal
import time
from typing import Any

from claude_headspace.config import Places
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.cli.options import AsJson, now, places

STOP_SECONDS = 10.0
_POLL_SECONDS = 0.05


def status(as_json: AsJson = False) -> None:
    """Tell whether Headspace runs, and whether events arrive.

    Exits with 0 in any case; `running` in --json tells which.
    """
    from claude_headspace.surfaces.cli import terminal
    from claude_headspace.surfaces.cli.presentation.reports import after_status, not_running, running
    from claude_headspace.surfaces.wording import cleaned

    report = _report(places())
    if as_json:
        terminal.write_json(report)
    elif not report["running"]:
        terminal.screen().show(not_running())
    else:
        report = cleaned(report)
        screen = terminal.screen()
        screen.show(running(report, now(), screen.width), then=after_status(report))


def _report(home: Places) -> dict[str, Any]:
    """What is known: from the home itself, and from the daemon if it answers."""
    from claude_headspace.surfaces.client import Client
    from claude_headspace.surfaces.running import find_daemon

    daemon = find_daemon(home)
    report: dict[str, Any] = dict.fromkeys(("url", "pid", "version", "started_at", "mode", "health", "error"))
    if daemon is None:
        return {"running": False, **report}
    report |= {"url": daemon.url, "pid": daemon.pid, "version": daemon.version, "started_at": daemon.started_at}
    try:
        client = Client.local(home)
        report |= client.status()
        report["health"] = client.health()
    except HeadspaceError as error:
        report["error"] = error.message
    return {"running": True, **report}


def down() -> None:
    """Stop the daemon, and wait until it is gone."""
    from claude_headspace.surfaces.cli import terminal
    from claude_headspace.surfaces.running import find_daemon, is_held

    home = places()
    if not is_held(home.lock_file):
        terminal.screen().show([terminal.line("Headspace is not running.")])
        return
    daemon = find_daemon(home)
    if daemon is None:
        raise HeadspaceError("daemon_starting", "Headspace is just starting.", "Try again in a moment.")
    _end(daemon.pid)
    wait_until_gone(home, daemon.pid)
    terminal.screen().show([terminal.line(f"Headspace has stopped (pid {daemon.pid}).")])


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise HeadspaceError(
            "not_yours", f"The daemon (pid {pid}) belongs to another user.", "Stop it as that user."
        ) from error


def wait_until_gone(home: Places, pid: int, limit: float = STOP_SECONDS) -> None:
    """Wait until nobody holds the lock; after the limit that is an error."""
    from claude_headspace.surfaces.running import is_held

    deadline = time.monotonic() + limit
    while is_held(home.lock_file):
        if time.monotonic() > deadline:
            raise HeadspaceError(
                "does_not_stop",
                f"The daemon (pid {pid}) has not stopped after {limit:.0f} s.",
                f"See `headspace logs`. `kill -9 {pid}` ends it at once; what it acknowledged is stored.",
            )
        time.sleep(_POLL_SECONDS)
