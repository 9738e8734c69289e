"""Runs the daemon: locks the home directory, listens, writes its address to `daemon.json`, and stops gracefully.

At the stop, batches in progress are committed, streams end, held hooks are released, and the database is closed.
"""

import asyncio
import contextlib
import gc
import os
import resource
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import FrameType

import msgspec
import structlog
import uvicorn

from claude_headspace import __version__
from claude_headspace.clients.catalog import DEFAULT
from claude_headspace.clients.hook_files import write_script
from claude_headspace.clients.installation import INSTALLERS
from claude_headspace.config import (
    Paths,
    Settings,
    withdraw_file,
    without_password,
    write_kept_file,
    write_private_file,
)
from claude_headspace.daemon.compose import Daemon
from claude_headspace.daemon.lifecycle import GRACE_SECONDS
from claude_headspace.daemon.logs import configure_logging
from claude_headspace.errors import BadConfiguration, JournalUnavailable
from claude_headspace.inputs.receive.clock import wall_clock
from claude_headspace.journal.open import database_url, open_configured_journal
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.text import iso
from claude_headspace.surfaces.api.http_protocol import HttpProtocol
from claude_headspace.surfaces.auth.middleware import LOOPBACK_NAMES
from claude_headspace.surfaces.auth.tokens import Scope, replace_weak_secret
from claude_headspace.surfaces.client.api_client import local_tokens
from claude_headspace.surfaces.client.running_daemon import DaemonInfo, code_fingerprint, daemon_lock

log = structlog.get_logger(__name__)

KEEP_ALIVE_SECONDS = 86_400
"""Never reached: the limits of connections close idle ones (`ConnectionGuard`)."""
MIN_OPEN_FILES = 8_192
"""How many files and connections the daemon may open, if the system permits it."""
RESERVED_FILES = 128
"""How many of them are not for connections."""


RESERVE_BYTES = 64 * 1024
"""Enough for the files that a daemon needs to be found on a full disk."""
REPLACED_NOTE = "the secret {}, so it was replaced: browsers must sign in again, and tokens in scripts are invalid"


class Server(uvicorn.Server):
    """Uvicorn. Streams and held hooks never end by themselves, so they are ended before it waits for connections."""

    def __init__(self, config: uvicorn.Config, before: Callable[[], None]) -> None:
        super().__init__(config)
        self._before = before

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop on a signal; a second Ctrl-C does not wait. Uvicorn would raise it again and skip the clean-up."""
        self._before()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def serve(
    settings: Settings,
    paths: Paths,
    listening: Callable[[DaemonInfo, str], None] = lambda _info, _away: None,
    origins: Mapping[str, str] | None = None,
) -> None:
    """Run the daemon until it is stopped. `listening` gets its address, and why its database is unavailable."""
    _refuse_open_bind(settings)
    paths.create_directories()
    with daemon_lock(paths) as killed, _listen(settings) as listener:
        _make_room(paths)
        configure_logging(paths.log_file, settings.log_level)
        host, port = listener.getsockname()[:2]
        weakness = replace_weak_secret(paths.secret_file)
        _write_plugin_script(paths)
        away: list[str] = []
        journal = open_configured_journal(settings, paths, on_unavailable=away.append)
        most = max(1, raise_open_files() - RESERVED_FILES)
        settings = msgspec.structs.replace(settings, max_connections=min(settings.max_connections, most))
        daemon = Daemon(settings, paths, journal, (host, port), origins)
        if not away:
            _refuse_taken_name(daemon)
        if weakness:
            daemon.base.outages.add_past_outage(REPLACED_NOTE.format(weakness))
            log.warning("secret_replaced", problem=weakness)
        if killed is not None:
            daemon.base.outages.record_killed_daemon(killed.pid, round(killed.last_seen * SECOND))
        info = _announce(settings, paths, listener)
        if daemon.advertisement is not None:
            daemon.advertisement.daemon_info = msgspec.json.encode(info)
        log.info("listening", url=info.url, database=info.database)
        if rejects_all_remote_hosts(settings):
            log.warning("allowed_hosts_empty", host=settings.host, hint="Set `allowed_hosts`.")
        listening(info, "".join(away))
        try:
            _run(daemon, listener)
        finally:
            withdraw_file(paths.daemon_file)
            log.info("stopped", url=info.url)


def _run(daemon: Daemon, listener: socket.socket) -> None:
    config = uvicorn.Config(
        daemon.app(),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        backlog=2_048,
        http=partial(HttpProtocol, daemon.base.connections),  # type: ignore[arg-type]
        ws="none",
    )
    server = Server(config, daemon.lifecycle.release_clients)
    gc.freeze()  # what exists now stays: the collector can ignore it
    gc.set_threshold(50_000, 20, 100)  # events leave no cycles; collecting less often saved a tenth of their time
    server.run(sockets=[listener])


def raise_open_files() -> int:
    """Raise the limit of open files, and return it. Its default, often 1024, is less than a flood of connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MIN_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MIN_OPEN_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft if soft != resource.RLIM_INFINITY else MIN_OPEN_FILES
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft


def rejects_all_remote_hosts(settings: Settings) -> bool:
    """Whether it listens on the network, but accepts no host name that others could use."""
    return _is_open_bind(settings) and not settings.allowed_hosts and not settings.public_url


def _is_open_bind(settings: Settings) -> bool:
    return settings.host not in LOOPBACK_NAMES | {"::1"}


def _refuse_open_bind(settings: Settings) -> None:
    if _is_open_bind(settings) and settings.ingest != "token":
        raise BadConfiguration(
            "open_bind",
            f"Headspace does not listen on {settings.host} without tokens: anyone on the network could send events.",
            'Set `ingest = "token"` and add the host name to `allowed_hosts`, or use 127.0.0.1.',
        )


def _refuse_taken_name(daemon: Daemon) -> None:
    if daemon.stream.listener is not None:
        try:
            asyncio.run(daemon.stream.listener.check_host_name())
        except JournalUnavailable as error:
            raise BadConfiguration(error.code, error.message, error.hint) from error


@contextlib.contextmanager
def _listen(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host.strip("[]"), settings.port), family=family, backlog=2_048)
    except (OSError, OverflowError) as error:
        other = 5057 if settings.port == 5056 else 5056
        raise BadConfiguration(
            "cannot_listen",
            f"Headspace cannot listen on {settings.host}:{settings.port}: {error}.",
            f"Choose another port: `headspace up --port {other}`, or correct the address.",
        ) from error
    with listener:
        yield listener


def _announce(settings: Settings, paths: Paths, listener: socket.socket) -> DaemonInfo:
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    info = DaemonInfo(
        f"http://{name}:{port}",
        os.getpid(),
        __version__,
        iso(wall_clock()),
        code_fingerprint(),
        settings.host_name,
        without_password(database_url(settings, paths)),
    )
    with contextlib.suppress(OSError):  # the disk is full: the advertisement writes it later
        write_kept_file(paths.daemon_file, msgspec.json.encode(info))
    return info


def _make_room(paths: Paths) -> None:
    """On a full disk, delete the reserve: hook scripts need the files with the address. Otherwise create it."""
    try:
        write_private_file(paths.reserve_file, b"\0" * RESERVE_BYTES)
    except OSError:
        for path in (paths.reserve_file, paths.reserve_file.with_name(f"{paths.reserve_file.name}.new")):
            path.unlink(missing_ok=True)


def _write_plugin_script(paths: Paths) -> None:
    """Write the hook script for the plugin. Without it, only the plugin cannot report."""
    try:
        write_script(INSTALLERS[DEFAULT].files(paths.state), paths.state, local_tokens(paths)[Scope.INGEST])
    except BadConfiguration as error:
        log.warning("plugin_script_not_written", problem=error.message)
