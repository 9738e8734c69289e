"""The composition root: the only module that knows all packages. It builds the parts, wires them, and brings them up
and down in order. `serving` runs it.
"""

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec
import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from claude_headspace.clients.claude_code.hook_kinds import HELD_HOOKS, hook_names
from claude_headspace.clients.claude_code.replies import verdict_reply
from claude_headspace.clients.decode import decode
from claude_headspace.config import Paths, Settings, claude_config_dirs
from claude_headspace.daemon.health import Standing, Tally
from claude_headspace.engine.batch import BatchRules
from claude_headspace.engine.changes import CommittedChanges
from claude_headspace.engine.outages import Outages
from claude_headspace.engine.remote_actions import Handler, RemoteActions
from claude_headspace.engine.spool_fallback import Shelter
from claude_headspace.engine.writer import Engine
from claude_headspace.errors import HeadspaceError, JournalUnavailable
from claude_headspace.inputs.policy.guard import PolicyGuard
from claude_headspace.inputs.receive.advertisement import Presence
from claude_headspace.inputs.receive.clock import SteadyClock
from claude_headspace.inputs.receive.dispatch import front
from claude_headspace.inputs.receive.http import Held, HookEndpoint
from claude_headspace.inputs.receive.plate_spinner import PlateEndpoint
from claude_headspace.inputs.receive.project_location import SurroundingsFinder
from claude_headspace.inputs.receive.receiver import HookReceiver
from claude_headspace.inputs.receive.sanitize import Keeper
from claude_headspace.inputs.receive.socket import RpcServer
from claude_headspace.inputs.receive.spool import Spool
from claude_headspace.inputs.watch.agent_cache import KnownAgents
from claude_headspace.inputs.watch.reconcile import Cadence, Reconciler, awake_clock
from claude_headspace.inputs.watch.sources import Sources
from claude_headspace.inputs.watch.transcript_import import History
from claude_headspace.journal.host_lease import HostLease
from claude_headspace.journal.listener import CommitListener
from claude_headspace.journal.open import database_url
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.answers import wait_of
from claude_headspace.kernel.claude_os.notices import attend
from claude_headspace.kernel.creation import create_agent
from claude_headspace.kernel.decide import with_verdict
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Origin
from claude_headspace.kernel.novelty import is_new_usage
from claude_headspace.kernel.policy.verdict import ABSTAIN
from claude_headspace.kernel.redaction import Redactor
from claude_headspace.kernel.size_limits import Bounds
from claude_headspace.outputs.board_displays import Display, Gathering
from claude_headspace.outputs.held_hooks import Holds
from claude_headspace.outputs.keyboard import Keyboard
from claude_headspace.outputs.mission_reports import Conversations
from claude_headspace.outputs.notify.notifier import calling
from claude_headspace.outputs.pane_views import Lookout
from claude_headspace.outputs.reply import SPOOLED, compose
from claude_headspace.outputs.status_file import Glance
from claude_headspace.outputs.tmux_colours import Colours
from claude_headspace.ports import Journal, Outcome
from claude_headspace.surfaces.api import openapi
from claude_headspace.surfaces.api.administration import Administration
from claude_headspace.surfaces.api.agent_actions import AgentActions
from claude_headspace.surfaces.api.answers import Answers
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.context_injection import Advising, customs_of
from claude_headspace.surfaces.api.errors import error_response, internal_error_response, routing_error_response
from claude_headspace.surfaces.api.installation import Installation
from claude_headspace.surfaces.api.metrics import Metrics
from claude_headspace.surfaces.api.routes import ENDPOINTS, api_routes
from claude_headspace.surfaces.api.terminal_input import TerminalInput
from claude_headspace.surfaces.auth.answer_links import AnswerLinks, hostname
from claude_headspace.surfaces.auth.middleware import AuthenticationMiddleware
from claude_headspace.surfaces.auth.named_tokens import NamedTokens
from claude_headspace.surfaces.auth.requester import RequesterLookup
from claude_headspace.surfaces.auth.sign_in import BrowserSignIn
from claude_headspace.surfaces.auth.tokens import DerivedTokens, read_secret
from claude_headspace.surfaces.client.running_daemon import read_daemon_file
from claude_headspace.surfaces.live.follower import StreamFollower
from claude_headspace.surfaces.live.stream import EventStream
from claude_headspace.surfaces.page.answer_link import AnswerPage
from claude_headspace.surfaces.page.static import Page
from claude_headspace.surfaces.read.model import ReadModel
from claude_headspace.surfaces.socket.commands import Commands
from claude_headspace.surfaces.socket.efforts import Efforts
from claude_headspace.surfaces.socket.notes import NoteCommand

log = structlog.get_logger(__name__)

GRACE_SECONDS = 3
"""How long the end may take; then connections are cut, and a database that hangs is left alone."""

LOOKED_BACK = 100
"""Among how many events the last one of this machine is looked for at the start."""
JUST_ENDED: Micros = 600 * SECOND
RETRY_SECONDS = 1.0
"""How soon a database that was away is tried again."""
FIRST_DRAIN_SECONDS = 0.5
"""How long the start waits for the spool. A longer one is emptied while the daemon answers already."""


def wall_clock() -> Micros:
    """The time, in microseconds."""
    return time.time_ns() // 1_000


class Daemon:
    """All parts, wired."""

    def __init__(
        self,
        settings: Settings,
        places: Paths,
        journal: Journal,
        presence: Presence | None = None,
        origins: Mapping[str, str] | None = None,
    ) -> None:
        self._settings = settings
        self._places = places
        self._journal = journal
        self.outages = Outages(wall_clock, places.outages_file, self._count_waiting)
        self._clock = SteadyClock(wall_clock, self.outages.note)
        self._started_at = self._clock()
        self._presence = presence
        self._waking: asyncio.Task[None] | None = None
        self.metrics = Metrics()
        self.tally = Tally(self.metrics)
        self.changes = CommittedChanges()
        self.broadcaster = EventStream(journal, lambda: settings.heartbeat_seconds, is_shared=journal.is_shared)
        self.follower = (
            StreamFollower(journal, self.broadcaster, self.changes.publish_messages) if journal.is_shared else None
        )
        self._secret = read_secret(places.secret_file)
        self.listener = self._listener(self.follower) if self.follower else None
        self.guard = PolicyGuard(places, settings.policy_preset)
        self._in_order = asyncio.Lock()
        self.engine = Engine(
            journal,
            self.changes,
            settings.host_name,
            self._clock,
            rules=BatchRules(self.guard.judge, partial(attend, customs_of(settings))),
            outages=self.outages,
            observe_commit=self.metrics.committed,
            check_may_write=self.listener.require_host_name if self.listener else lambda: None,
        )
        self.holds = Holds(
            journal,
            self.engine,
            self._clock,
            settings.hold_seconds,
            headless=settings.hold_headless,
            shows_dialog=self._shows_dialog,
        )
        self._surroundings = SurroundingsFinder()
        keep = Keeper(Bounds(settings.max_text_bytes, settings.max_result_bytes), Redactor(settings.redact))
        self.sources = Sources(
            settings.host_name,
            self._clock,
            self._config_dirs,
            journal,
            self._submit,
            self._surroundings,
            KnownAgents(settings.host_name),
            keep,
        )
        cadence = Cadence(settings.polling_seconds, settings.silent_polling_seconds, settings.hooks_silent_after)
        self.reconciler = Reconciler(cadence, self._clock, self.sources.looks, awake_clock(wall_clock))
        self._receiver = HookReceiver(
            settings.host_name, self._clock, self._surroundings, self.sources.kinship, self._clock.told, keep
        )
        self.spool = Spool(
            places.spool, self._receiver, self._take, self._clock, settings.max_body_bytes, self.tally.refused
        )
        self._shelter: Shelter[Outcome] = Shelter(
            self.spool, settings.patience_seconds, self.outages, self._judge_alone, self.tally.refused
        )
        self._read = ReadModel(journal, self._clock, settings.host_name)
        self.efforts = Efforts(
            self.engine,
            self._read.efforts,
            settings.host_name,
            self._surroundings,
            self._config_dirs,
            self._ask_anew,
        )
        keyboard = Keyboard()
        self.conversations = Conversations(
            journal, self.engine, keyboard, self._clock, settings.host_name, self._ask_anew
        )
        terminal = TerminalInput(self._read, self.engine, keyboard)
        handlers: dict[str, Handler] = {"send": terminal.type_text, "interrupt": terminal.press_escape}
        self.remote_actions = RemoteActions(journal, self.engine, self._clock, settings.host_name, handlers)
        self._advising = Advising(self.efforts, settings, self.engine)
        note = NoteCommand(self._read.agents, self.engine, settings.host_name)
        commands = Commands(self._receiver, self._hear_asked, self.efforts, note)
        self.rpc = RpcServer(places.socket_file, commands, settings.max_body_bytes)
        self.sign_in = BrowserSignIn(self._secret, self._clock)
        self.tokens = NamedTokens(journal, self._clock)
        self.links = AnswerLinks(self._secret, settings.public_url)
        self.notifier = calling(
            settings.host_name, self.engine, journal, self._clock, places.notify_file, self._address, self.links.create
        )
        colours = [Colours(settings.host_name)] if settings.tmux_colours else []
        displays: list[Display] = [Glance(places.status_file), *colours, self.notifier]
        self.gathering = Gathering(self._board, displays)
        self.lookout = Lookout(self.sources.known.with_client, self.engine)
        self._subscribe()
        self.standing = self._standing()
        installation = Installation(settings, origins or {}, places, self.sign_in, self.standing)
        self.api, self._answer_page = self._surfaces(installation)

    def _listener(self, follower: StreamFollower) -> CommitListener:
        """Under this machine's name, which is this home's on this hardware: a copy of the home is somebody else."""
        name = HostLease(self._settings.host_name, self._secret + uuid.getnode().to_bytes(8))
        return CommitListener(database_url(self._settings, self._places), name, follower.read_soon)

    def _standing(self) -> Standing:
        """What the daemon says of itself."""
        return Standing(
            journal=self._journal,
            outages=self.outages,
            tally=self.tally,
            clock=self._clock,
            engine=self.engine,
            reconciler=self.reconciler,
            spool=self.spool,
            guard=self.guard,
            sources=self.sources,
            conversations=self.conversations,
            holds=self.holds,
            notifier=self.notifier,
            rpc=self.rpc,
            broadcaster=self.broadcaster,
            following=(self.listener, self.follower) if self.listener and self.follower else (),
            is_waking=lambda: self._waking is not None and not self._waking.done(),
            started_at=self._started_at,
        )

    def _surfaces(self, installation: Installation) -> tuple[ApiContext, AnswerPage]:
        """The HTTP API and the page behind answer links."""
        requesters = RequesterLookup(self._client_pids)
        answers = Answers(self._read.waits, self.engine)
        retention_days = self._settings.retention_days
        context = ApiContext(
            read=self._read,
            stream=self.broadcaster,
            actions=AgentActions(self.engine, self._surroundings, self.sources.kinship, self.remote_actions),
            answers=answers,
            notifier=self.notifier,
            requesters=requesters,
            installation=installation,
            administration=Administration(
                self._journal, self.engine, self._clock, retention_days, self._history(), self.tokens
            ),
        )
        return context, AnswerPage(self.links, answers, self._read.agents, requesters, self._clock)

    def _address(self) -> str:
        """Where this daemon can be reached: from everywhere, or else from this machine."""
        if self._settings.public_url:
            return self._settings.public_url.rstrip("/")
        found = read_daemon_file(self._places.daemon_file)
        return found.url if found is not None else ""

    def _board(self) -> list[Agent]:
        """Living agents, and those that ended a moment ago: whoever was called about them is told."""
        return self._journal.agents(ended_after=self._clock() - JUST_ENDED)

    def _count_waiting(self) -> int:
        return self.spool.newly_waiting()

    def _subscribe(self) -> None:
        """Who uses the changes that are committed."""
        self.changes.on_agent(self.sources.known.met, self.conversations.met)
        self.changes.on_effort(self.efforts.update)
        self.changes.on_messages(
            self.broadcaster.publish,
            self.holds.hear,
            self.conversations.hear,
            self.remote_actions.receive,
            self.gathering.ring,
            self.lookout.ring,
        )

    def _shows_dialog(self, session_id: str) -> bool:
        return self.sources.registry.shows_dialog(session_id)

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
            self._clock,
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
        hooks, plates = (
            kind(self._receiver, self._answer, largest, self.tally.stored, self.tally.refused)
            for kind in (HookEndpoint, PlateEndpoint)
        )
        description = msgspec.json.encode(openapi.describe(ENDPOINTS))

        async def describe(_request: Request) -> Response:
            return Response(description, media_type="application/json")

        pages = (*self.sign_in.routes(), *self._answer_page.routes(), *Page().routes())
        starlette = Starlette(
            routes=[*api_routes(self.api), Route("/openapi.json", describe), *pages],
            exception_handlers={
                HeadspaceError: error_response,
                HTTPException: routing_error_response,
                Exception: internal_error_response,
            },
            lifespan=self._lifespan,
        )
        starlette.router.redirect_slashes = False
        return AuthenticationMiddleware(
            front(hooks, plates, starlette),
            DerivedTokens(self._secret),
            self.sign_in,
            frozenset((*self._settings.allowed_hosts, hostname(self._settings.public_url))),
            open_ingest=self._settings.ingest == "open",
            find_named_token=self.tokens.principal,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        self.engine.start()
        if await self._is_ready():
            self.outages.end()
            await self._wake_up()
        else:
            self._waking = asyncio.create_task(self._wake_up_later(), name="waking")
        await self.rpc.start()
        if self._presence is not None:
            self._presence.also = lambda: set(hook_names(self._advising.asked() | self.conversations.asked()))
            self._presence.start()
        try:
            yield
        finally:
            await self._fall_asleep()

    async def _is_ready(self) -> bool:
        try:
            await asyncio.to_thread(self._journal.open)
            if self.listener is not None:
                await self.listener.acquire_host_name()
            await asyncio.to_thread(self._recall)
        except JournalUnavailable as error:
            self.outages.begin(error.message)
            return False
        return True

    def _recall(self) -> None:
        self.tally.recall(self._journal, self._settings.host_name)
        self._clock.go_on_after(self._last_heard())

    def _last_heard(self) -> Micros:
        """When this machine told something last."""
        ours = (stored.envelope for stored in self._journal.events(limit=LOOKED_BACK))
        return max((each.received_at for each in ours if each.host == self._settings.host_name), default=0)

    async def _wake_up_later(self) -> None:
        """The database is away: hooks are answered meanwhile, and everything else begins when it is there."""
        while True:
            await asyncio.sleep(RETRY_SECONDS)
            if not await self._is_ready():
                continue
            try:
                await self._wake_up()
            except JournalUnavailable as error:  # gone again
                self.outages.begin(error.message)
            else:
                self.outages.end()
                return

    async def _wake_up(self) -> None:
        """Begin with the journal: what waited in the spool comes before what is found out without hooks."""
        await self.sources.recall()
        await asyncio.to_thread(self.efforts.recall)
        await asyncio.to_thread(self.conversations.recall)
        await self.holds.forget(await asyncio.to_thread(self._own_agents))
        if self.spool.counts().depth:
            await self.sources.gather()
        self.broadcaster.start(self.tally.counts.last_seq)
        if self.follower is not None:
            self.follower.start()
            self.follower.read_soon()
        self.spool.start()
        await self.spool.first_drain(FIRST_DRAIN_SECONDS)
        self.sources.start()
        self.reconciler.start()
        self.notifier.start()
        self.gathering.start()
        self.conversations.start()
        self.lookout.start()

    async def _fall_asleep(self) -> None:
        """End everything; a database that does not answer is not waited for."""
        patience = asyncio.get_running_loop().call_later(GRACE_SECONDS, self._journal.abort_connections)
        if self._presence is not None:
            await self._presence.stop()
        await self.rpc.stop()
        if self._waking is not None:
            self._waking.cancel()
            await asyncio.gather(self._waking, return_exceptions=True)
        await self.notifier.stop()
        await self.conversations.stop()
        await self.remote_actions.stop()
        await self.gathering.stop()
        await self.lookout.stop()
        await self.reconciler.stop()
        await self.sources.stop()
        await self.spool.stop()
        await self.engine.stop()
        if self.listener is not None and self.follower is not None:
            await self.listener.stop()
            await self.follower.stop()
        self._surroundings.close()
        self._advising.close()
        self.guard.close()
        await asyncio.to_thread(self._journal.close)
        patience.cancel()
        self._journal.abort_connections()

    async def _answer(self, envelope: Envelope, for_claude_alone: bool) -> tuple[bytes | Held, bool]:
        if for_claude_alone:
            asked = await self._hear_asked(envelope, speaks=True)
            if isinstance(asked, Envelope):
                return verdict_reply(envelope.name, asked.decisions.verdict or ABSTAIN), False
            return await self._reply(envelope, asked), True
        outcome = await self._shelter.take(envelope, partial(self._hear, trusted=False))
        if isinstance(outcome, Envelope):
            return msgspec.json.encode(SPOOLED), False
        return msgspec.json.encode(compose(outcome.agent, outcome.strategy, duplicate=outcome.duplicate)), True

    async def _reply(self, envelope: Envelope, outcome: Outcome) -> bytes | Held:
        """Claude Code's part. A question may be held open, unless its effort refuses it at once."""
        wait = wait_of(outcome.agent, decode(envelope)) if envelope.name in HELD_HOOKS else None
        refused = outcome.advice is not None and outcome.advice.denies
        if wait is not None and not refused and self.holds.wants(outcome.agent, wait):
            return partial(self.holds.hold, msgspec.structs.replace(envelope, original_payload=None), wait)
        return await self._advising.add(envelope, verdict_reply(envelope.name, outcome.verdict), outcome)

    async def _judge_alone(self, envelope: Envelope) -> Envelope:
        """Judge a call without the journal: by the rules, and by what is remembered of its agent.

        It may be stored after all, and is judged there in the same way.
        """
        await self.guard.gather(envelope, asked=True)
        event = decode(envelope)
        agent = self.sources.known.of_session(event.meta.session_id) or create_agent("", envelope, event)
        return with_verdict(envelope, self.guard.judge(envelope, agent, last=False))

    async def _take(self, envelope: Envelope) -> None:
        """What lay in the spool: news when it fired, which may have been long ago."""
        started = time.perf_counter()
        if envelope.origin is Origin.STATUS_LINE:
            await self._measure(envelope)
            return
        await self.sources.transcripts.tell_until(envelope.fired_at)
        async with self._in_order:  # a call takes a moment to be understood, in which no later event may overtake it
            if envelope.decisions.verdict is None:
                await self.guard.gather(envelope, asked=False)
            envelope = await self._advising.gather(envelope)
            hearing = asyncio.ensure_future(self._hear(envelope, envelope.fired_at))
        try:
            await hearing
        except JournalUnavailable:
            raise
        except HeadspaceError:
            self._shelter.taken(envelope)  # it will be set aside
            raise
        self._shelter.taken(envelope)
        self.tally.stored(envelope.name, time.perf_counter() - started)

    async def _measure(self, envelope: Envelope) -> None:
        """What a status line told: only what is another number than before is kept."""
        event = decode(envelope)
        agent = self.sources.known.of_session(event.meta.session_id)
        if agent is None or is_new_usage(agent, event):
            await self.engine.submit(envelope)

    async def _hear_asked(self, envelope: Envelope, *, speaks: bool = False) -> Outcome | Envelope:
        """A hook that waits for its answer; when the journal is away the hook itself, and only the rules decide."""
        await self.spool.caught_up()
        await self.guard.gather(envelope, asked=True)
        envelope = await self._advising.gather(envelope)
        return await self._shelter.take(envelope, partial(self._hear, asked=True, speaks=speaks), asked=True)

    def _ask_anew(self) -> None:
        """The first effort began, or the last one ended: the shims learn at once what waits for an answer."""
        if self._presence is not None:
            with contextlib.suppress(OSError):
                self._presence.keep()

    async def _hear(
        self,
        envelope: Envelope,
        at: Micros | None = None,
        *,
        asked: bool = False,
        trusted: bool = True,
        speaks: bool = False,
    ) -> Outcome:
        at = at or envelope.received_at
        outcome = await self.engine.submit(envelope, expects_reply=asked, trusted=trusted, reply_reaches_client=speaks)
        if at > (self.reconciler.last_event_at or self._started_at):
            self.reconciler.heard(at)
        return outcome

    async def _submit(self, envelope: Envelope, agent_id: str | None) -> Agent:
        return (await self.engine.submit(envelope, agent_id)).agent


async def _bring_in(engine: Engine, envelope: Envelope, agent_id: str | None) -> tuple[Agent, bool]:
    outcome = await engine.submit(envelope, agent_id, announce=False)
    return outcome.agent, outcome.duplicate
