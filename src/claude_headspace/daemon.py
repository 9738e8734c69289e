"""The composition root: the only module that knows all packages. It builds the parts, wires them and runs them.

`serve` holds the home's lock while it runs, tells where it can be reached in `daemon.json`, and stops gracefully:
batches in flight are committed, streams are ended, the database is left clean.
"""

import asyncio
import contextlib
import gc
import os
import signal
import socket
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType

import msgspec
import structlog
import uvicorn
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from claude_headspace import __version__
from claude_headspace.config import Places, Settings, claude_config_dirs
from claude_headspace.engine import Engine, Outcome
from claude_headspace.errors import BadConfiguration, HeadspaceError
from claude_headspace.inputs.directives import DirectiveFinder
from claude_headspace.inputs.history import History
from claude_headspace.inputs.http import HOOKS, Held, HookEndpoint
from claude_headspace.inputs.presence import Presence
from claude_headspace.inputs.receiver import HookReceiver
from claude_headspace.inputs.reconcile import Cadence, Reconciler, awake_clock
from claude_headspace.inputs.rpc import RpcServer
from claude_headspace.inputs.sources import Sources
from claude_headspace.inputs.spool import Spool
from claude_headspace.inputs.surroundings import SurroundingsFinder
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.answers import HELD_HOOKS, asked_by
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.decode import WireAct, decode
from claude_headspace.kernel.effort.advise import injected
from claude_headspace.kernel.effort.reading import touch_of
from claude_headspace.kernel.envelope import Envelope, Micros
from claude_headspace.kernel.views import iso
from claude_headspace.logs import configure_logging
from claude_headspace.outputs.advice import with_advice
from claude_headspace.outputs.holds import Holds, given_answer
from claude_headspace.outputs.reply import compose, for_claude
from claude_headspace.ports import Journal, StreamMessage
from claude_headspace.surfaces import openapi
from claude_headspace.surfaces.answering import Answering
from claude_headspace.surfaces.api import (
    ENDPOINTS,
    Api,
    Health,
    HookStatus,
    PartHealth,
    SpoolStatus,
    operator_envelope,
)
from claude_headspace.surfaces.caller import Caller
from claude_headspace.surfaces.efforts import Efforts
from claude_headspace.surfaces.guard import LOOPBACK_NAMES, Guard
from claude_headspace.surfaces.metrics import Metrics
from claude_headspace.surfaces.protocol import Protocol
from claude_headspace.surfaces.read_model import ReadModel
from claude_headspace.surfaces.rpc import Commands
from claude_headspace.surfaces.running import DaemonInfo, hold
from claude_headspace.surfaces.stream import Broadcaster
from claude_headspace.surfaces.tokens import Tokens, read_secret
from claude_headspace.surfaces.wording import without_password

log = structlog.get_logger(__name__)

replace = msgspec.structs.replace

GRACE_SECONDS = 3
FIRST_DRAIN_SECONDS = 0.5
"""How long the start waits for the spool. A longer one is emptied while the daemon answers already."""


def wall_clock() -> Micros:
    """The time, in microseconds."""
    return time.time_ns() // 1_000


def database_url(settings: Settings, places: Places) -> str:
    """The database in use."""
    return settings.database or f"sqlite:///{places.database}"


def open_journal(settings: Settings, places: Places) -> SqlJournal:
    """The journal of this home; a database that cannot be opened is named, without its password."""
    places.make()
    url = database_url(settings, places)
    try:
        return SqlJournal(url)
    except (SQLAlchemyError, OSError, ImportError) as error:
        reason = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise BadConfiguration(
            "database_unusable",
            f"The database {without_password(url)} cannot be opened: {reason}.",
            "Check the setting `database` (see `headspace config`), and that its place exists and can be written.",
        ) from error


class Daemon:
    """All parts, wired."""

    def __init__(self, settings: Settings, places: Places, journal: Journal, presence: Presence | None = None) -> None:
        self._settings = settings
        self._places = places
        self._journal = journal
        self._started_at = wall_clock()
        counts = journal.counts()
        self._events_at_start = counts.events
        self._events_stored = 0
        self._refusals: Counter[str] = Counter()
        self._presence = presence
        self.metrics = Metrics()
        self.broadcaster = Broadcaster(journal, lambda: settings.heartbeat_seconds, counts.last_seq)
        self.holds = Holds(journal, self._act, wall_clock, settings.hold_seconds, headless=settings.hold_headless)
        self.engine = Engine(journal, self._publish, lambda: str(uuid.uuid4()), self.metrics.committed)
        self._surroundings = SurroundingsFinder()
        self.sources = Sources(
            settings.host_name,
            wall_clock,
            self._config_dirs,
            journal,
            self._submit,
            self._surroundings,
        )
        cadence = Cadence(settings.polling_seconds, settings.silent_polling_seconds, settings.hooks_silent_after)
        self.reconciler = Reconciler(cadence, wall_clock, self.sources.looks, awake_clock(wall_clock))
        self._receiver = HookReceiver(settings.host_name, wall_clock, self._surroundings, self.sources.kinship)
        self.spool = Spool(
            places.spool, self._receiver, self._take, wall_clock, settings.max_body_bytes, self._count_refusal
        )
        self.efforts = Efforts(
            self.engine,
            journal,
            wall_clock,
            settings.host_name,
            self._surroundings,
            self._config_dirs,
            self._ask_anew,
        )
        if presence is not None:
            presence.also = self.efforts.asked
        self._directives = DirectiveFinder()
        commands = Commands(self._receiver, self._hear_asked, self.efforts)
        self.rpc = RpcServer(places.socket_file, commands, settings.max_body_bytes)
        self.api = Api(
            ReadModel(journal, wall_clock),
            self.engine,
            self.broadcaster,
            self.metrics,
            journal,
            wall_clock,
            settings.host_name,
            self.health,
            self.status,
            lambda: self.spool.counts().depth,
            self._history(),
            Answering(journal, self._act, given_answer, Caller(self._client_pids)),
        )

    def _client_pids(self) -> Iterator[int]:
        return (agent.pid for agent in self.sources.known.with_client() if agent.pid is not None)

    def _own_agents(self) -> list[Agent]:
        return [agent for agent in self._journal.agents() if agent.host == self._settings.host_name]

    def _config_dirs(self) -> tuple[Path, ...]:
        return claude_config_dirs(self._settings, self._places)

    def _history(self) -> History:
        sources = self.sources
        return History(
            self._settings.host_name,
            wall_clock,
            self._config_dirs,
            self._journal,
            partial(_bring_in, self.engine),
            sources.sealer,
            sources.registry.client_of,
        )

    def let_go(self) -> None:
        """End the streams and free the clients that wait for an answer: the daemon stops."""
        self.broadcaster.close()
        self.holds.close()

    def app(self) -> ASGIApp:
        """The whole as one ASGI application, behind the guard."""
        largest = self._settings.max_body_bytes
        hooks = HookEndpoint(self._receiver, self._answer, largest, self._count, self._count_refusal)
        description = msgspec.json.encode(openapi.describe(ENDPOINTS))

        async def describe(_request: Request) -> Response:
            return Response(description, media_type="application/json")

        starlette = Starlette(
            routes=[*self.api.routes(), Route("/openapi.json", describe)],
            exception_handlers={HeadspaceError: _tell, HTTPException: _tell_http, Exception: _tell_bug},
            lifespan=self._lifespan,
        )
        starlette.router.redirect_slashes = False
        known = Tokens(read_secret(self._places.secret_file))
        hosts = frozenset(self._settings.allowed_hosts)
        return Guard(_front(hooks, starlette), known, hosts, open_ingest=self._settings.ingest == "open")

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self.engine.start()
        await self.holds.forget(self._own_agents())
        if self.spool.counts().depth:
            await self.sources.gather()
        self.spool.start()
        await self.spool.first_drain(FIRST_DRAIN_SECONDS)  # what hooks told comes before what is found out without them
        self.sources.start()
        self.reconciler.start()
        await self.rpc.start()
        if self._presence is not None:
            self._presence.start()
        try:
            yield
        finally:
            if self._presence is not None:
                await self._presence.stop()
            await self.rpc.stop()
            await self.reconciler.stop()
            await self.sources.stop()
            await self.spool.stop()
            await self.engine.stop()
            self._surroundings.close()
            self._directives.close()
            self._journal.close()

    async def _answer(self, envelope: Envelope, for_claude_alone: bool) -> bytes | Held:
        if for_claude_alone:
            return await self._reply(envelope, await self._hear_asked(envelope))
        outcome = await self._hear(envelope, envelope.received_at, trusted=False)
        return msgspec.json.encode(compose(outcome.agent, outcome.strategy, duplicate=outcome.duplicate))

    async def _reply(self, envelope: Envelope, outcome: Outcome) -> bytes | Held:
        """Claude Code's part. A question may be held open, unless its effort refuses it at once."""
        wait = asked_by(outcome.agent, decode(envelope)) if envelope.name in HELD_HOOKS else None
        refused = outcome.advice is not None and outcome.advice.denies
        if wait is not None and not refused and self.holds.wants(outcome.agent, wait):
            return partial(self.holds.hold, envelope, wait)
        return await self._with_advice(envelope.name, for_claude(envelope.name, outcome.verdict), outcome)

    async def _with_advice(self, event: str, reply: bytes, outcome: Outcome) -> bytes:
        """What the effort adds. Files are read in a thread, and those that fitted are noted before they are sent."""
        advice, effort = outcome.advice, outcome.effort
        if advice is None or effort is None:
            return reply
        told = injected(effort.effort, advice)
        if not advice.preload:
            return with_advice(event, reply, advice, told).reply
        spoken = await asyncio.to_thread(with_advice, event, reply, advice, told)
        await self.efforts.note_loaded(effort, spoken.loaded)
        return spoken.reply

    async def _take(self, envelope: Envelope) -> None:
        """What lay in the spool: news when it fired, which may have been long ago."""
        started = time.perf_counter()
        await self.sources.transcripts.tell_until(envelope.fired_at)
        await self._hear(envelope, envelope.fired_at)
        self._count(envelope.name, time.perf_counter() - started)

    async def _hear_asked(self, envelope: Envelope) -> Outcome:
        """A hook that waits for its answer."""
        return await self._hear(envelope, envelope.received_at, asked=True)

    async def _gather(self, envelope: Envelope) -> Envelope:
        """What an effort has to know of the paths that a call touched."""
        touched = touch_of(envelope).path if envelope.name == "PostToolUse" else None
        found = await self._directives(touched, envelope.context.project_root or "") if touched else ()
        return replace(envelope, context=replace(envelope.context, directives=found)) if found else envelope

    def _ask_anew(self) -> None:
        """The first effort began, or the last one ended: the shims learn at once what waits for an answer."""
        if self._presence is not None:
            with contextlib.suppress(OSError):
                self._presence.keep()

    async def _hear(self, envelope: Envelope, at: Micros, *, asked: bool = False, trusted: bool = True) -> Outcome:
        if trusted and self.efforts.any_active:
            envelope = await self._gather(envelope)
        outcome = await self.engine.submit(envelope, asked=asked, trusted=trusted)
        if outcome.strategy is not Strategy.NOBODY:
            self.sources.known.met(outcome.agent)
        if at > (self.reconciler.last_event_at or self._started_at):
            self.reconciler.heard(at)
        return outcome

    async def _act(self, name: str, act: WireAct, agent_id: str) -> None:
        await self.engine.submit(operator_envelope(name, act, self._settings.host_name, wall_clock()), agent_id)

    def _publish(self, messages: Sequence[StreamMessage]) -> None:
        self.broadcaster.publish(messages)
        self.holds.hear(messages)

    async def _submit(self, envelope: Envelope, agent_id: str | None) -> Agent:
        return (await self.engine.submit(envelope, agent_id)).agent

    def _count(self, name: str, seconds: float) -> None:
        self._events_stored += 1
        self.metrics.stored(name, seconds)

    def _count_refusal(self, code: str) -> None:
        self._refusals[code] += 1
        self.metrics.refused(code)

    def health(self) -> Health:
        """Every background part's state."""
        parts = {
            "writer": _part(self.engine.running, self.engine.last_failure, f"{self.engine.backlog} waiting"),
            "reconciler": _part(self.reconciler.running, self.reconciler.failure, self.reconciler.polling.mode.value),
            "spool": _part(*self.spool.health()),
            **self._source_health(),
            "holds": PartHealth("ok", f"{self.holds.count} questions held open"),
            "socket": _part(self.rpc.running, self.rpc.failure, f"{self.rpc.connections} clients"),
            "stream": PartHealth("ok", f"{self.broadcaster.readers} readers"),
        }
        ok = all(part.status == "ok" for part in parts.values())
        return Health("ok" if ok else "degraded", __version__, parts)

    def _source_health(self) -> dict[str, PartHealth]:
        return {name: _part(*part) for name, part in self.sources.health().items()}

    def status(self) -> HookStatus:
        """How the receiver is doing."""
        counts, polling, now = self._journal.counts(), self.reconciler.polling, wall_clock()
        last, spool = self.reconciler.last_event_at, self.spool.counts()
        return HookStatus(
            enabled=True,
            mode=polling.mode.value,
            polling_interval_seconds=polling.interval_seconds,
            last_event_at=iso(last) if last else None,
            seconds_since_last_event=round((now - last) / 1e6, 1) if last else None,
            last_look_at=iso(self.reconciler.looked_at) if self.reconciler.looked_at else None,
            events_total=counts.events,
            events_since_start=self._events_stored,
            agents=counts.by_state,
            anomalies=counts.anomalies,
            last_seq=counts.last_seq,
            refused=dict(self._refusals),
            spool=SpoolStatus(
                depth=spool.depth,
                rejected=spool.rejected,
                lost=spool.lost,
                taken=spool.taken,
                last_drain_at=iso(spool.last_drain_at) if spool.last_drain_at else None,
            ),
            sources=self._source_health(),
            version=__version__,
            pid=os.getpid(),
            started_at=iso(self._started_at),
        )


async def _bring_in(engine: Engine, envelope: Envelope, agent_id: str | None) -> tuple[Agent, bool]:
    outcome = await engine.submit(envelope, agent_id, announce=False)
    return outcome.agent, outcome.duplicate


def _front(hooks: ASGIApp, others: ASGIApp) -> ASGIApp:
    """Hooks have a way in of their own, past the router: they are nearly all the traffic."""

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        is_hook = scope["type"] == "http" and scope["path"].startswith(HOOKS) and scope["path"] != "/hook/status"
        await (hooks if is_hook else others)(scope, receive, send)

    return front


def _part(running: bool, failure: str | None, detail: str) -> PartHealth:
    if not running:
        return PartHealth("stopped", "not running: restart the daemon and see `headspace logs`")
    return PartHealth("failing", failure) if failure else PartHealth("ok", detail)


async def _tell(_request: Request, error: Exception) -> Response:
    status, body = (error.status, error.body()) if isinstance(error, HeadspaceError) else (500, {})
    return Response(msgspec.json.encode(body), status, media_type="application/json")


async def _tell_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code, message = {
        404: ("not_found", f"There is nothing at {request.scope['path'][:200]}."),
        405: ("method_not_allowed", f"{request.method} does not work here."),
    }.get(status, ("bad_request", "The request cannot be understood."))
    return await _tell(request, HeadspaceError(code, message, "See /openapi.json for what there is.", status=status))


async def _tell_bug(request: Request, error: Exception) -> Response:
    log.error("request_failed", path=request.scope["path"][:200], exc_info=error)
    return await _tell(
        request, HeadspaceError("bug", "Headspace made a mistake.", "See `headspace logs`, and report it.")
    )


# --- running
# -----------------------------------------------------------------------------------------------------------


class Server(uvicorn.Server):
    """Uvicorn, which ends what never ends by itself before it waits for connections to end."""

    def __init__(self, config: uvicorn.Config, before: Callable[[], None]) -> None:
        super().__init__(config)
        self._before = before

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal asks us to stop; a second Ctrl-C does not wait. Uvicorn would hand it on and end us before we
        tidied up.
        """
        self._before()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def serve(settings: Settings, places: Places, listening: Callable[[DaemonInfo], None] = lambda _info: None) -> None:
    """Run the daemon until it is told to stop; `listening` is told where it can be reached."""
    _refuse_open_bind(settings)
    places.make()
    with hold(places), _listen(settings) as listener:
        configure_logging(places.log_file, settings.log_level)
        host, port = listener.getsockname()[:2]
        held = dict.fromkeys(HELD_HOOKS, round(settings.hold_seconds) + 5) if settings.hold_seconds > 0 else {}
        presence = Presence(places, host, port, settings.asked_hooks, held)
        daemon = Daemon(settings, places, open_journal(settings, places), presence)
        info = _announce(places, listener)
        listening(info)
        try:
            _run(daemon, listener)
        finally:
            places.daemon_file.unlink(missing_ok=True)
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
        backlog=2_048,
        http=Protocol,
        ws="none",
    )
    server = Server(config, daemon.let_go)
    gc.freeze()  # what is there now stays: the collector need not look at it again
    gc.set_threshold(50_000, 20, 100)  # events leave no cycles behind; looking less often saved a tenth of their time
    server.run(sockets=[listener])


def _refuse_open_bind(settings: Settings) -> None:
    if settings.host not in LOOPBACK_NAMES | {"::1"} and settings.ingest != "token":
        raise BadConfiguration(
            "open_bind",
            f"Headspace does not listen on {settings.host} without tokens: everybody on the network could speak to it.",
            'Set `ingest = "token"` and name the address in `allowed_hosts`, or use 127.0.0.1.',
        )


@contextlib.contextmanager
def _listen(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host.strip("[]"), settings.port), family=family, backlog=2_048)
    except (OSError, OverflowError) as error:
        raise BadConfiguration(
            "cannot_listen",
            f"Headspace cannot listen on {settings.host}:{settings.port}: {error}.",
            "Another program uses that port or the address is wrong: try `headspace serve --port 0`.",
        ) from error
    with listener:
        yield listener


def _announce(places: Places, listener: socket.socket) -> DaemonInfo:
    host, port = listener.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    info = DaemonInfo(f"http://{name}:{port}", os.getpid(), __version__, iso(wall_clock()))
    draft = places.daemon_file.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_bytes(msgspec.json.encode(info))
    draft.replace(places.daemon_file)
    log.info("listening", url=info.url, database=places.database.name)
    return info
