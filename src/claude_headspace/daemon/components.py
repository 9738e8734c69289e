"""The components below the surfaces, in groups: what everything needs, the stream, the inputs, the hooks, the outputs.

Each group is a dataclass with a builder. A builder gets earlier groups only, so the groups form a line:
base → stream → inputs → hooks → outputs.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from claude_headspace.clients import codex
from claude_headspace.clients.catalog import CLIENTS, DEFAULT
from claude_headspace.clients.config_dirs import known_config_dirs
from claude_headspace.clients.dialog_readers import DIALOG_READERS
from claude_headspace.config import Paths, Settings
from claude_headspace.engine.active_efforts import ActiveEfforts
from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.engine.context_injection import ContextInjection, claude_os_settings
from claude_headspace.engine.context_notices import ContextNotices
from claude_headspace.engine.effort_start import EffortStarter
from claude_headspace.engine.outages import Outages
from claude_headspace.engine.pipeline import HookPipeline, StorageOrder
from claude_headspace.engine.remote_actions import Handler, RemoteActions
from claude_headspace.engine.spool_fallback import SpoolFallback
from claude_headspace.engine.submission import BatchFunctions
from claude_headspace.engine.writer import EventWriter
from claude_headspace.inputs.policy.guard import PolicyGuard
from claude_headspace.inputs.receive.advertisement import ExpectedHooks
from claude_headspace.inputs.receive.clock import SteadyClock, wall_clock
from claude_headspace.inputs.receive.connection_limits import ConnectionGuard, ConnectionLimits
from claude_headspace.inputs.receive.project_location import ProjectLocator
from claude_headspace.inputs.receive.receiver import HookReceiver, Sanitizer
from claude_headspace.inputs.receive.spool import Spool, SpoolReader
from claude_headspace.inputs.redaction.rules import build_redactor
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.client_processes import ClientProcesses
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.reconcile import Cadence, Reconciler
from claude_headspace.inputs.watch.sources import Sources
from claude_headspace.journal.host_lease import HostLease
from claude_headspace.journal.listener import CommitListener
from claude_headspace.journal.open import database_url
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.claude_os.notices import session_notice
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros
from claude_headspace.kernel.redaction.redactor import Redactor
from claude_headspace.kernel.sanitize import Bounds
from claude_headspace.kernel.text import count
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.outputs.answer_channels import AnswerChannel, AnswerChannels
from claude_headspace.outputs.board_displays import BoardDisplays, Display
from claude_headspace.outputs.codex_answers import CodexAnswers
from claude_headspace.outputs.held_hooks import HeldHooks
from claude_headspace.outputs.keystroke_answers import KeystrokeChannel
from claude_headspace.outputs.mission_reports import MissionReports
from claude_headspace.outputs.notify.notifier import MessageSources, Notifier
from claude_headspace.outputs.notify.push.channel import PushChannel
from claude_headspace.outputs.notify.push.subscriptions import Subscriptions
from claude_headspace.outputs.pane_input import PaneInput
from claude_headspace.outputs.pane_views import PaneViewWatcher
from claude_headspace.outputs.prompt_queue import PromptQueue
from claude_headspace.outputs.status_file import StatusFile
from claude_headspace.outputs.tmux_colours import TmuxColours
from claude_headspace.ports import Journal
from claude_headspace.surfaces.api.agent_worktrees import CHANGE_ACTION, PLAN_ACTION, WorktreeKeeper
from claude_headspace.surfaces.api.changes import ACTION as REPOSITORY_CHANGES
from claude_headspace.surfaces.api.changes import RepositoryReader
from claude_headspace.surfaces.api.metrics import Metrics
from claude_headspace.surfaces.api.pending_prompts import PendingPromptSender
from claude_headspace.surfaces.api.stop import ClientStopper
from claude_headspace.surfaces.api.terminal_input import TerminalInput
from claude_headspace.surfaces.api.wait_requests import ACTION as REQUEST_ACTION
from claude_headspace.surfaces.api.wait_requests import WaitDetails, WaitRequests
from claude_headspace.surfaces.auth.answer_links import AnswerLinks
from claude_headspace.surfaces.auth.tokens import read_secret
from claude_headspace.surfaces.client.running_daemon import read_daemon_file
from claude_headspace.surfaces.live.follower import StreamFollower
from claude_headspace.surfaces.live.screens import LocalScreens, Screens
from claude_headspace.surfaces.live.stream import EventStream
from claude_headspace.surfaces.read.model import ReadModel

SHOWN_AFTER_END: Micros = 600 * SECOND
"""How long the displays and notifications still get an agent that ended."""


# --- base -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Base:
    """What everything else needs."""

    settings: Settings
    paths: Paths
    journal: Journal
    spool: Spool
    outages: Outages
    clock: SteadyClock
    metrics: Metrics
    changes: ChangePublisher

    @property
    def host(self) -> str:
        """The name of this machine."""
        return self.settings.host_name

    @property
    def secret(self) -> bytes:
        """The secret of this installation."""
        return read_secret(self.paths.secret_file)

    @cached_property
    def connections(self) -> ConnectionGuard:
        """Limits the HTTP connections."""
        settings = self.settings
        limits = ConnectionLimits(
            max_connections=settings.max_connections,
            max_per_peer=settings.max_connections_per_peer,
            idle_seconds=settings.idle_seconds,
            request_seconds=settings.request_seconds,
            max_buffered_bytes=settings.max_buffered_bytes,
        )
        return ConnectionGuard(limits)

    @cached_property
    def redactor(self) -> Redactor:
        """Redacts secrets wherever texts are stored or shown."""
        return build_redactor(self.paths.redaction_file, self.settings.redact)

    def config_dirs(self, client: str = DEFAULT) -> tuple[Path, ...]:
        """The config dirs of a client."""
        return known_config_dirs(self.settings, self.paths, client=client)


def build_base(settings: Settings, paths: Paths, journal: Journal) -> Base:
    """Create the base."""
    spool = Spool(paths.spool)
    outages = Outages(wall_clock, paths.outages_file, spool.count_new)
    clock = SteadyClock(outages.add_past_outage)
    return Base(settings, paths, journal, spool, outages, clock, Metrics(), ChangePublisher())


# --- stream -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stream:
    """What is sent live: events, and screens. On a shared journal a follower publishes the messages of all daemons."""

    events: EventStream
    screens: Screens
    follower: StreamFollower | None = None
    listener: CommitListener | None = None

    def health(self) -> tuple[bool, str | None, str]:
        """It always runs; why following fails, and the number of readers."""
        failures = (each.failure for each in (self.listener, self.follower) if each is not None and each.failure)
        return True, next(failures, None), count(self.events.readers, "reader")


def build_stream(base: Base) -> Stream:
    """Create the stream."""
    journal, settings = base.journal, base.settings
    events = EventStream(journal, lambda: settings.heartbeat_seconds, is_shared=journal.is_shared)
    local = LocalScreens(journal.agent, base.host, base.redactor.text)
    screens = Screens(local.read, lambda: settings.heartbeat_seconds)
    if not journal.is_shared:
        return Stream(events, screens)
    follower = StreamFollower(journal, events, base.changes.publish_messages)
    lease = HostLease(base.host, base.secret + uuid.getnode().to_bytes(8))  # a copy of the home is another machine
    return Stream(
        events, screens, follower, CommitListener(database_url(settings, base.paths), lease, follower.read_soon)
    )


# --- inputs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inputs:
    """Where events come from, with the engine that stores them."""

    engine: EventWriter
    guard: PolicyGuard
    agents: AgentCache
    locations: ProjectLocator
    sources: Sources
    receiver: HookReceiver
    reconciler: Reconciler
    clients: ClientProcesses

    def client_pids(self) -> set[int]:
        """The processes of the clients that run."""
        return self.clients.running(self.sources.registries.processes())

    def knows_session(self, session_id: str) -> bool:
        """Whether an agent of this host has, or had, a session."""
        is_running = self.sources.registries.find_client(session_id) is not None
        return is_running or self.agents.find_by_session(session_id) is not None


def build_inputs(base: Base, stream: Stream) -> Inputs:
    """Create the inputs."""
    settings, clock = base.settings, base.clock
    guard = PolicyGuard(base.paths, settings.policy_preset, redact=base.redactor.text)
    agents, locations = AgentCache(base.host), ProjectLocator()
    clients = ClientProcesses(base.host, agents)
    engine = EventWriter(
        base.journal,
        base.changes,
        base.host,
        clock,
        functions=BatchFunctions(
            guard.judge,
            partial(session_notice, claude_os_settings(settings)),
            clients.is_client_running,
            redact=base.redactor,
        ),
        outages=base.outages,
        observe_commit=base.metrics.committed,
        check_may_write=stream.listener.require_host_name if stream.listener else None,
    )
    sanitizer = Sanitizer(Bounds(settings.max_text_bytes, settings.max_result_bytes), base.redactor)
    submit = partial(_submit, engine, base.changes)
    envelopes = EnvelopeBuilder(base.host, clock, locations, sanitizer)
    sources = Sources(base.config_dirs, base.journal, submit, envelopes, agents)
    ancestry = clients.remembering(sources.ancestry)
    receiver = HookReceiver(base.host, clock, locations, ancestry, clock.correct, sanitizer)
    cadence = Cadence(settings.polling_seconds, settings.silent_polling_seconds, settings.hooks_silent_after)
    reconciler = Reconciler(cadence, clock, sources.checks)
    return Inputs(engine, guard, agents, locations, sources, receiver, reconciler, clients)


async def _submit(engine: EventWriter, changes: ChangePublisher, envelope: Envelope, agent_id: str | None) -> Agent:
    agent = (await engine.submit(envelope, agent_id)).agent
    changes.publish_observation(agent)
    return agent


# --- hooks ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hooks:
    """The pipeline of hooks, and what it uses."""

    expected: ExpectedHooks
    efforts: ActiveEfforts
    starter: EffortStarter
    notices: ContextNotices
    injection: ContextInjection
    held: HeldHooks
    pipeline: HookPipeline
    spool: SpoolReader


def build_hooks(base: Base, inputs: Inputs, expected: ExpectedHooks) -> Hooks:
    """Create the pipeline."""
    settings, engine, sources, metrics = base.settings, inputs.engine, inputs.sources, base.metrics
    efforts = ActiveEfforts(base.journal, engine, base.host, partial(expected.declare, "efforts"))
    notices = ContextNotices(claude_os_settings(settings), base.host, partial(expected.declare, "notices"))
    starter = EffortStarter(engine, base.journal, settings, base.config_dirs)
    injection = ContextInjection(efforts, settings, engine, starter)
    held = HeldHooks(
        base.journal,
        engine,
        base.clock,
        settings.hold_seconds,
        headless=settings.hold_headless,
        shows_dialog=sources.registries.shows_dialog,
    )
    pipeline = HookPipeline(
        StorageOrder(base.spool, sources),
        inputs.guard,
        injection,
        engine,
        SpoolFallback(base.spool, settings.patience_seconds, base.outages, metrics.refused),
        held,
        inputs.agents,
        inputs.reconciler,
    )
    spool = SpoolReader(
        base.spool, inputs.receiver, pipeline.process_spooled, base.clock, settings.max_body_bytes, metrics
    )
    return Hooks(expected, efforts, starter, notices, injection, held, pipeline, spool)


# --- outputs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Prompts:
    """What types prompts by itself, when an agent is idle."""

    mission_reports: MissionReports
    queue: PromptQueue


@dataclass(frozen=True)
class Outputs:
    """What acts on committed changes."""

    links: AnswerLinks
    remote_actions: RemoteActions
    answer_channels: AnswerChannels
    wait_details: WaitDetails
    prompts: Prompts
    notifier: Notifier
    displays: BoardDisplays
    pane_views: PaneViewWatcher


def build_outputs(base: Base, inputs: Inputs, hooks: Hooks, read: ReadModel) -> Outputs:
    """Create the outputs."""
    engine, journal, clock, host = inputs.engine, base.journal, base.clock, base.host
    pane_input, links = PaneInput(), AnswerLinks(base.secret, base.settings.public_url)
    terminal = TerminalInput(read, engine, pane_input, base.redactor.text)
    requests = WaitRequests(read, hooks.held, base.redactor, host)
    worktrees = WorktreeKeeper(read, engine)
    handlers: dict[str, Handler] = {
        "send": terminal.type_text,
        "interrupt": terminal.press_escape,
        "stop": ClientStopper(read, engine, pane_input).stop,
        PLAN_ACTION: worktrees.plan,
        CHANGE_ACTION: worktrees.change,
        REQUEST_ACTION: requests.handle,
        REPOSITORY_CHANGES: RepositoryReader(base.redactor.text).read,
    }
    remote_actions = RemoteActions(journal, engine, clock, host, handlers)
    expect = partial(hooks.expected.declare, "missions")
    sources = MessageSources(partial(_url, base), links.create, partial(requests.make, everything=False))
    notifier = Notifier(host, engine, journal, clock, base.paths.notify_file, _push_channel(base), sources)
    return Outputs(
        links,
        remote_actions,
        AnswerChannels(
            journal,
            engine,
            clock,
            _channels(base, inputs, read, pane_input),
            host,
            partial(_is_complete, requests),
            lambda client: client in CLIENTS and CLIENTS[client].denial_ends_turn,
        ),
        WaitDetails(read, requests, remote_actions, host),
        Prompts(
            MissionReports(journal, engine, pane_input, clock, host, expect, base.settings.claude_os_prefix),
            PromptQueue(journal, engine, clock, host, PendingPromptSender(terminal, pane_input)),
        ),
        notifier,
        BoardDisplays(_board(base), _displays(base, notifier)),
        PaneViewWatcher(inputs.agents.with_client, engine),
    )


def _channels(base: Base, inputs: Inputs, read: ReadModel, panes: PaneInput) -> dict[str, AnswerChannel]:
    """How the clients whose hooks cannot be held are answered, by their names. None if the user wants no answers."""
    if base.settings.hold_seconds <= 0:
        return {}
    find_call = partial(_call_of, read)
    keystrokes = {name: KeystrokeChannel(reader, find_call, panes) for name, reader in DIALOG_READERS.items()}
    return {**keystrokes, codex.NAME: CodexAnswers(inputs.sources.codex.find_approvals)}


def _is_complete(requests: WaitRequests, wait: Wait) -> bool:
    """Whether people can see all of a request."""
    return requests.make(wait, everything=True).complete


def _call_of(read: ReadModel, wait: Wait) -> ToolUse | None:
    """The tool call of a wait, as people are shown it."""
    hook = read.waits.hook_of(wait)
    return hook.tool if hook is not None else None


def _push_channel(base: Base) -> PushChannel:
    subscriptions = Subscriptions(base.paths.push_subscriptions_file, base.secret, base.clock)
    return PushChannel(base.paths.push_key_file, subscriptions, base.settings.push_services)


def _url(base: Base) -> str:
    """The public address of this daemon, or else its local one."""
    if base.settings.public_url:
        return base.settings.public_url.rstrip("/")
    found = read_daemon_file(base.paths.daemon_file)
    return found.url if found is not None else ""


def _board(base: Base) -> Callable[[], list[Agent]]:
    """The agents of the board, and those that ended recently: their notifications are removed."""
    return lambda: base.journal.agents(ended_after=base.clock() - SHOWN_AFTER_END)


def _displays(base: Base, notifier: Notifier) -> list[Display]:
    colours = [TmuxColours(base.host)] if base.settings.tmux_colours else []
    return [StatusFile(base.paths.status_file), *colours, notifier]


def subscribe(base: Base, stream: Stream, inputs: Inputs, hooks: Hooks, outputs: Outputs) -> None:
    """Connect the committed changes with everything that uses them."""
    base.changes.on_agent(inputs.agents.update, inputs.clients.update, outputs.prompts.mission_reports.update_agent)
    base.changes.on_agent(outputs.answer_channels.update_agent, outputs.prompts.queue.update_agent)
    inputs.sources.codex.on_approvals = outputs.answer_channels.check_soon
    base.changes.on_observation(hooks.notices.update_agent)
    base.changes.on_messages(hooks.notices.receive, types={"state_changed"})
    base.changes.on_effort(hooks.efforts.update)
    base.changes.on_messages(stream.events.publish)
    base.changes.wake_on_messages(outputs.displays.changed, outputs.pane_views.changed)
    base.changes.on_messages(hooks.held.receive, types={"wait_answered", "wait_closed"})
    base.changes.on_messages(outputs.answer_channels.receive, types={"wait_answered"})
    base.changes.on_messages(outputs.prompts.mission_reports.receive, types={"mission_changed"})
    if base.journal.is_shared:
        base.changes.on_messages(outputs.prompts.queue.receive, types={"agent_updated"})
    base.changes.on_messages(outputs.remote_actions.receive, types={"errand_moved"})
