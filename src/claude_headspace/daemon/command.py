"""The CLI command `serve`: runs the daemon in the foreground, until Ctrl+C or a signal."""

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Annotated

from claude_headspace.config import effective_settings, find_paths, without_password
from claude_headspace.daemon import serve as server
from claude_headspace.journal.open import database_url
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.options import examples
from claude_headspace.surfaces.cli.presentation.status import NO_ALLOWED_HOSTS, WAITING_FOR_DATABASE, serve_banner
from claude_headspace.surfaces.client.running_daemon import DaemonInfo


@examples("headspace serve", "headspace serve --port 0")
def serve(
    host: Annotated[str | None, Option("--host", help="Address to listen on.")] = None,
    port: Annotated[
        int | None, Option("--port", "-p", metavar="PORT", help="Port to listen on; 0 chooses a free port.")
    ] = None,
    until_eof: Annotated[
        bool, Option("--until-eof", help="Stop when standard input is closed, for example by the parent process.")
    ] = False,
) -> None:
    """Run the daemon in the foreground.

    Ctrl+C stops it. `headspace up` runs it in the background instead.
    """
    paths = find_paths()
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings, origins = effective_settings(paths, overrides=given)
    database = without_password(database_url(settings, paths))

    def print_banner(info: DaemonInfo, unavailable: str) -> None:
        screen = output.screen()
        warnings = {
            "waiting": unavailable and WAITING_FOR_DATABASE.format(unavailable),
            "names": NO_ALLOWED_HOSTS if server.rejects_all_remote_hosts(settings) else "",
        }
        needs_token = settings.ingest == "token"
        log_file = str(paths.log_file)
        screen.show(serve_banner(info.url, database, log_file, screen.width, warnings, needs_token=needs_token))

    _stop_on_signals()
    if until_eof:
        threading.Thread(target=_stop_at_eof, daemon=True).start()
    with suppress(KeyboardInterrupt):
        server.serve(settings, paths, print_banner, origins)
    output.screen().show([output.line("Headspace has stopped.")])


def _stop_at_eof() -> None:
    """Stop when the process that holds the other end of standard input closes it or ends."""
    while sys.stdin.buffer.read(4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _stop_on_signals() -> None:
    """SIGTERM and a closed terminal stop the daemon as Ctrl+C does: the server stops, then everything is closed."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def hang_up(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, hang_up)
