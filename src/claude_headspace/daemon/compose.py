"""The composition root: it creates the components and connects them. Nothing else knows all packages.

Components are created in the direction of the data, and each gets what it needs in its constructor. Where two need each
other, a third that is created first connects them: `ChangePublisher` the writer with its subscribers, `ExpectedHooks`
the components that reply to hooks with the advertisement, `Spool` the pipeline with the reader of the spool.

`components.py` builds the groups below the surfaces, `lifecycle.py` starts and stops them, `serve.py` runs the daemon.
"""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from functools import partial

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from claude_headspace.clients.hooks import asking_hooks
from claude_headspace.config import Paths, Settings
from claude_headspace.daemon.components import (
    Base,
    Hooks,
    Inputs,
    Outputs,
    Stream,
    build_base,
    build_hooks,
    build_inputs,
    build_outputs,
    build_stream,
    subscribe,
)
from claude_headspace.daemon.health import (
    SOURCES,
    ComponentHealth,
    ReportHealth,
    StatusReport,
    guard_problem_views,
    journal_health,
)
from claude_headspace.daemon.lifecycle import Lifecycle
from claude_headspace.engine.context_injection import hooks_of_claude_os
from claude_headspace.engine.writer import EventWriter
from claude_headspace.errors import HeadspaceError
from claude_headspace.inputs.policy.guard import asked_hooks
from claude_headspace.inputs.receive.advertisement import Advertisement, ExpectedHooks
from claude_headspace.inputs.receive.http import HookEndpoint, dispatch
from claude_headspace.inputs.receive.plate_spinner import EVENTS_PATH, read_event
from claude_headspace.inputs.receive.socket import RpcServer
from claude_headspace.inputs.watch.guard_watch import GuardWatch
from claude_headspace.inputs.watch.transcript_import import TranscriptImport, TranscriptImports
from claude_headspace.inputs.watch.worktree_watch import WorktreeWatch
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros
from claude_headspace.kernel.hooks import HELD
from claude_headspace.ports import GuardProblem, Journal
from claude_headspace.surfaces.api import openapi
from claude_headspace.surfaces.api.administration import Administration
from claude_headspace.surfaces.api.agent_actions import AgentActions
from claude_headspace.surfaces.api.answers import Answers
from claude_headspace.surfaces.api.changes import Changes
from claude_headspace.surfaces.api.context import ApiContext, Installation
from claude_headspace.surfaces.api.errors import error_response, internal_error_response, routing_error_response
from claude_headspace.surfaces.api.pending_prompts import PendingPrompts
from claude_headspace.surfaces.api.routes import ENDPOINTS, api_routes
from claude_headspace.surfaces.auth.answer_links import hostname
from claude_headspace.surfaces.auth.middleware import AuthenticationMiddleware
from claude_headspace.surfaces.auth.named_tokens import NamedTokens
from claude_headspace.surfaces.auth.requester import RequesterLookup
from claude_headspace.surfaces.auth.share_links import ShareLinks
from claude_headspace.surfaces.auth.sign_in import BrowserSignIn
from claude_headspace.surfaces.auth.tokens import DerivedTokens, Scope, make_token
from claude_headspace.surfaces.launch.detached import Launcher
from claude_headspace.surfaces.launch.start_client import worker_environment
from claude_headspace.surfaces.page.answer_link import AnswerPage
from claude_headspace.surfaces.page.shared_agent import SharedAgentPage
from claude_headspace.surfaces.page.static import Page
from claude_headspace.surfaces.read.model import ReadModel
from claude_headspace.surfaces.socket.commands import SocketCommands
from claude_headspace.surfaces.socket.efforts import EffortCommands
from claude_headspace.surfaces.socket.notes import NoteCommand

WORKTREES_WATCHED_AFTER_END: Micros = 24 * 3_600 * SECOND
"""How long the worktree of an ended agent is watched: as long as the board shows it."""
HOLD_MARGIN_SECONDS = 5
"""How much longer a hook script waits than the daemon holds its hook."""


class Daemon:
    """All components, connected. `address` is where it listens, if hook scripts are to find it."""

    def __init__(
        self,
        settings: Settings,
        paths: Paths,
        journal: Journal,
        address: tuple[str, int] | None = None,
        origins: Mapping[str, str] | None = None,
    ) -> None:
        self.base = build_base(settings, paths, journal)
        self.stream = build_stream(self.base)
        self.inputs = build_inputs(self.base, self.stream)
        expected = ExpectedHooks(hooks_of_claude_os(settings))
        self.hooks = build_hooks(self.base, self.inputs, expected)
        self.read = ReadModel(journal, self.base.clock, settings.host_name)
        self.outputs = build_outputs(self.base, self.inputs, self.hooks, self.read)
        subscribe(self.base, self.stream, self.inputs, self.hooks, self.outputs)
        socket = _socket(self.base, self.inputs, self.hooks, self.read)
        self.guard_watch = _guard_watch(self.base, self.inputs, self.stream, self._guard_problems)
        worktrees = _worktree_watch(self.base, self.inputs)
        on_repair = self.guard_watch.record_repair
        self.advertisement = _advertisement(self.base, address, expected, on_repair) if address else None
        self.lifecycle = Lifecycle(
            self.base,
            self.stream,
            self.inputs,
            self.hooks,
            self.outputs,
            socket,
            (self.guard_watch, worktrees, *([self.advertisement] if self.advertisement else [])),
        )
        reports = _health_reports(self.base, self.stream, self.inputs, self.hooks, self.outputs, socket)
        reports["guards"] = self.guard_watch.health
        self.status = StatusReport(
            base=self.base,
            components=ComponentHealth(reports, lambda: self.lifecycle.is_starting, lambda: self.guard_watch.problems),
            reconciler=self.inputs.reconciler,
            spool=self.hooks.spool,
            stream=self.stream.events,
        )
        self.sign_in = BrowserSignIn(self.base.secret, self.base.clock)
        self.tokens = NamedTokens(journal, self.base.clock)
        self.shares = ShareLinks(journal, self.base.clock)
        installation = Installation(settings, origins or {}, paths, self.sign_in, self.status)
        self.api = self._api(installation)

    def _guard_problems(self) -> Iterator[tuple[str, str]]:
        """Why guards are off, as other components than the watch know it."""
        yield from self.inputs.guard.problems()
        if self.advertisement is not None and self.advertisement.failure is not None:
            yield f"hook scripts cannot find the daemon: {self.advertisement.failure}", "Free some disk space."

    def _launcher(self) -> Launcher:
        agents = self.read.agents

        def names() -> list[str]:
            return [agent.name for agent in agents.recent() if agent.ended_at is None]

        return Launcher(
            self.base.paths,
            worker_environment(),
            self.base.host,
            lambda reference: msgspec.to_builtins(agents.view(reference)),
            names,
            self.base.settings.worktree_directory,
        )

    def _api(self, installation: Installation) -> ApiContext:
        base, inputs, outputs = self.base, self.inputs, self.outputs
        engine, retention_days = inputs.engine, base.settings.retention_days
        return ApiContext(
            read=self.read,
            stream=self.stream.events,
            actions=AgentActions(
                engine,
                inputs.locations,
                inputs.sources.ancestry,
                outputs.remote_actions,
                Changes(self.read, outputs.remote_actions, base.host),
                PendingPrompts(engine, base.redactor.text),
                self._launcher(),
                self.stream.screens,
            ),
            answers=Answers(self.read.waits, engine, outputs.wait_details),
            notifier=outputs.notifier,
            requesters=RequesterLookup(inputs.client_pids, inputs.knows_session, inputs.agents.session_of_client),
            installation=installation,
            administration=Administration(
                base.journal,
                engine,
                base.clock,
                retention_days,
                _transcript_imports(base, inputs),
                self.tokens,
                self.shares,
            ),
        )

    def app(self) -> ASGIApp:
        """The HTTP application, behind authentication. Hooks bypass the router."""
        base, api = self.base, self.api
        pipeline, max_bytes = self.hooks.pipeline, base.settings.max_body_bytes
        hooks, plates = (
            HookEndpoint(
                self.inputs.receiver,
                pipeline.reply_to,
                max_bytes,
                base.metrics,
                event_reader,
                reply_to_refused=pipeline.reply_to_refused,
            )
            for event_reader in (None, read_event)
        )
        answer_page = AnswerPage(self.outputs.links, api.answers, self.read.agents, api.requesters, base.clock)
        page = Page()
        starlette = Starlette(
            routes=[
                *api_routes(api),
                Route("/openapi.json", _describe),
                *self.sign_in.routes(api.requesters.refuse_agents),
                *answer_page.routes(),
                *SharedAgentPage(self.shares, self.read.agents).routes(),
                *page.routes(),
            ],
            exception_handlers={
                HeadspaceError: error_response,
                HTTPException: page.or_page(routing_error_response),
                Exception: internal_error_response,
            },
            lifespan=self._lifespan,
        )
        starlette.router.redirect_slashes = False
        return AuthenticationMiddleware(
            dispatch(hooks, {EVENTS_PATH: plates}, starlette),
            DerivedTokens(base.secret),
            self.sign_in,
            frozenset((*base.settings.allowed_hosts, hostname(base.settings.public_url))),
            open_ingest=base.settings.ingest == "open",
            find_named_token=self.tokens.principal,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        async with self.lifecycle.run():
            yield


async def _describe(_request: Request) -> Response:
    return Response(msgspec.json.encode(openapi.describe(ENDPOINTS)), media_type="application/json")


def _socket(base: Base, inputs: Inputs, hooks: Hooks, read: ReadModel) -> RpcServer:
    efforts = EffortCommands(inputs.engine, read.efforts, inputs.locations, hooks.starter)
    note = NoteCommand(read.agents, inputs.engine, base.host)
    commands = SocketCommands(inputs.receiver, hooks.pipeline.process, hooks.efforts, efforts, note)
    return RpcServer(base.paths.socket_file, commands, base.settings.max_body_bytes, base.connections.limits)


def _guard_watch(
    base: Base, inputs: Inputs, stream: Stream, others: Callable[[], Iterable[tuple[str, str]]]
) -> GuardWatch:
    def announce(problems: list[GuardProblem]) -> None:
        stream.events.announce("guards_changed", msgspec.json.encode({"problems": guard_problem_views(problems)}))

    token = make_token(base.secret, Scope.INGEST)
    return GuardWatch(base.paths, token, base.clock, inputs.agents, others, base.outages.add_past_outage, announce)


def _worktree_watch(base: Base, inputs: Inputs) -> WorktreeWatch:
    watch = WorktreeWatch(lambda: inputs.agents.in_worktrees(base.clock() - WORKTREES_WATCHED_AFTER_END), inputs.engine)
    base.changes.wake_on_messages(watch.changed)
    return watch


def _advertisement(
    base: Base, address: tuple[str, int], expected: ExpectedHooks, on_repair: Callable[[str], None]
) -> Advertisement:
    settings = base.settings
    asked = (*settings.asked_hooks, *asked_hooks(settings.policy_preset))
    seconds = round(settings.hold_seconds) + HOLD_MARGIN_SECONDS
    held = dict.fromkeys(asking_hooks(HELD), seconds) if settings.hold_seconds > 0 else {}
    return Advertisement(base.paths, address, asked, held, expected, on_repair)


def _health_reports(
    base: Base, stream: Stream, inputs: Inputs, hooks: Hooks, outputs: Outputs, socket: RpcServer
) -> dict[str, ReportHealth]:
    """Every component that reports its health, by its name in `/health`."""
    return {
        "journal": journal_health(base.journal, base.outages),
        "writer": inputs.engine.health,
        "reconciler": inputs.reconciler.health,
        "spool": hooks.spool.health,
        "policy": inputs.guard.health,
        **{name: partial(inputs.sources.health_of, name) for name in SOURCES},
        "conversations": outputs.prompts.mission_reports.health,
        "prompts": outputs.prompts.queue.health,
        "holds": hooks.held.health,
        "answers": outputs.answer_channels.health,
        "notifications": outputs.notifier.health,
        "connections": base.connections.health,
        "socket": socket.health,
        "stream": stream.health,
    }


def _transcript_imports(base: Base, inputs: Inputs) -> TranscriptImports:
    submit, sources = partial(_import, inputs.engine), inputs.sources
    return TranscriptImports(
        TranscriptImport(
            partial(base.config_dirs, client), base.journal, submit, sources.envelopes.of_client(client), registry
        )
        for client, registry in sources.registries.by_client.items()
    )


async def _import(engine: EventWriter, envelope: Envelope, agent_id: str | None) -> tuple[Agent, bool]:
    outcome = await engine.submit(envelope, agent_id, announce=False)
    return outcome.agent, outcome.duplicate
