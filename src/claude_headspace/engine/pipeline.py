"""The pipeline of a hook: receive, judge, store with everything that follows from it, publish, and reply.

    receive   wrapped in an envelope and decoded, once              inputs/receive/receiver.py
    order     hooks that wait in the spool are stored first         inputs/receive/spool.py
    prepare   the guard analyses the tool call                      inputs/policy/guard.py
              the instruction files of its path are found           engine/context_injection.py
    store     correlated, judged, evolved, advised, committed       engine/writer.py, engine/batch.py
              or put into the spool if the journal does not commit  engine/spool_fallback.py
    publish   subscribers get the committed changes                 engine/changes.py
    start     a typed skill starts an effort                        engine/effort_start.py
    reply     with the verdict and the context to inject            engine/context_injection.py
              or held open until a person answers                   outputs/held_hooks.py

Hooks enter in three ways: over HTTP (`reply_to`), over the socket (`process`) and from the spool (`process_spooled`).

Rules
- An event is decoded when it is received. Every later step uses that `Event`.
- No reply before the commit, unless the event is safe in the spool.
- Only the hook script and the socket are trusted. What anyone else sends is stored, but counts for no effort.
"""

import asyncio
from functools import partial
from typing import Protocol

import msgspec

from claude_headspace.clients.catalog import may_hold
from claude_headspace.clients.replies import replies_of
from claude_headspace.engine.context_injection import ContextInjection, is_first_of_role
from claude_headspace.engine.spool_fallback import Spooled, SpoolFallback
from claude_headspace.engine.writer import EventWriter
from claude_headspace.errors import HeadspaceError, JournalUnavailable
from claude_headspace.inputs.policy.guard import PolicyGuard
from claude_headspace.inputs.receive.http import Held, Reply
from claude_headspace.inputs.receive.spool import Spool
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.reconcile import Reconciler
from claude_headspace.kernel.correlate import Strategy, create_agent
from claude_headspace.kernel.envelope import Envelope, Micros, Origin, decided
from claude_headspace.kernel.hooks import HELD, PROBE, HookKind
from claude_headspace.kernel.mission.assignment import as_declared
from claude_headspace.kernel.novelty import is_new_usage
from claude_headspace.kernel.policy.verdict import ABSTAIN, Verdict
from claude_headspace.kernel.wait.answers import wait_of
from claude_headspace.outputs.held_hooks import HeldHooks
from claude_headspace.outputs.reply import SPOOLED, compose_reply
from claude_headspace.ports import Outcome, Received


class Backlog(Protocol):
    """Transcript lines that were written before the daemon started."""

    async def submit_backlog_until(self, at: Micros) -> None:
        """Store those that are older than this."""


class StorageOrder:
    """What must be stored before a hook."""

    def __init__(self, spool: Spool, backlog: Backlog) -> None:
        self.spool = spool
        self.backlog = backlog
        self.lock = asyncio.Lock()
        """Held while an event from the spool is prepared, so that nothing that happened later overtakes it."""


class HookPipeline:
    """Processes hooks."""

    def __init__(
        self,
        order: StorageOrder,
        guard: PolicyGuard,
        injection: ContextInjection,
        engine: EventWriter,
        fallback: SpoolFallback,
        held_hooks: HeldHooks,
        agents: AgentCache,
        reconciler: Reconciler,
    ) -> None:
        self._order = order
        self._guard = guard
        self._injection = injection
        self._engine = engine
        self._fallback = fallback
        self._held_hooks = held_hooks
        self._agents = agents
        self._reconciler = reconciler

    # --- the three entries ---

    async def reply_to(self, received: Received, *, reply_reaches_client: bool) -> Reply:
        """Process a hook that arrived over HTTP: from the hook script, or from anyone else."""
        if not reply_reaches_client:
            outcome = await self._store(received, trusted=False)
            return Reply(_report(outcome), is_stored=not isinstance(outcome, Spooled))
        outcome = await self.process(received, reply_reaches_client=True)
        if isinstance(outcome, Spooled):
            return Reply(_verdict_reply(received, outcome.verdict), is_stored=False)
        return Reply(await self._reply(received, outcome), is_stored=True)

    def reply_to_refused(self, client: str, name: str, reason: str) -> bytes:
        """The reply to a hook that cannot be processed. A tool call is asked about, because no rule could see it."""
        return replies_of(client).verdict_reply(name, self._guard.refuse(client, name, reason))

    async def process(self, received: Received, *, reply_reaches_client: bool = False) -> Outcome | Spooled:
        """Process a hook whose sender waits for the verdict."""
        await self._order.spool.wait_until_drained()
        received = await self._prepare(received, expects_reply=True)
        outcome = await self._store(received, expects_reply=True, reply_reaches_client=reply_reaches_client)
        if received.event.hook is HookKind.PROMPT and not isinstance(outcome, Spooled) and outcome.agent.id:
            await self._injection.start_typed_effort(received.event, outcome)
        return outcome

    async def process_spooled(self, received: Received) -> bool:
        """Process an event from the spool, which may have fired long ago. Returns whether it was a hook."""
        envelope = received.envelope
        is_hook = envelope.origin is not Origin.STATUS_LINE
        async with self._order.lock:
            await self._order.backlog.submit_backlog_until(envelope.fired_at)
            if is_hook:
                received = await self._prepare(received, expects_reply=False)
            submit = partial(self._engine.submit, received.envelope, event=received.event)
            store = submit() if is_hook else self._store_usage(received)
            commit: asyncio.Future[Outcome | None] = asyncio.ensure_future(store)
        try:
            outcome = await commit
        except JournalUnavailable:
            raise
        except HeadspaceError:
            self._fallback.left_spool(envelope)  # it is rejected
            raise
        self._fallback.left_spool(envelope)
        if is_hook and envelope.name != PROBE:
            self._reconciler.hook_arrived(envelope.fired_at)
        if outcome is not None and received.event.hook is HookKind.PROMPT and outcome.agent.id:
            await self._injection.start_typed_effort(received.event, outcome)
        return is_hook

    # --- the steps ---

    async def _prepare(self, received: Received, *, expects_reply: bool) -> Received:
        """Gather what the decisions need. A tool call that was judged before it was spooled is not judged again."""
        if received.envelope.decisions.verdict is None:
            await self._guard.prepare(received, expects_reply=expects_reply)
        is_after_tool = received.event.hook is HookKind.AFTER_TOOL
        return await self._injection.prepare(received) if is_after_tool else received

    async def _store(
        self,
        received: Received,
        *,
        expects_reply: bool = False,
        trusted: bool = True,
        reply_reaches_client: bool = False,
    ) -> Outcome | Spooled:
        commit = partial(
            self._engine.submit,
            received.envelope,
            event=received.event,
            expects_reply=expects_reply,
            trusted=trusted,
            reply_reaches_client=reply_reaches_client,
        )
        judge = partial(self._judge_without_journal, received) if expects_reply else None
        outcome = await self._fallback.store(received.envelope, commit, judge)
        if received.envelope.name != PROBE:  # an event of the doctor does not show that a client runs its hooks
            self._reconciler.hook_arrived(received.envelope.received_at)
        return outcome

    async def _store_usage(self, received: Received) -> None:
        """Store the numbers of a status line, if they changed."""
        agent = self._agents.find_by_session(received.event.meta.session_id)
        if agent is None or is_new_usage(agent, received.event):
            await self._engine.submit(received.envelope, event=received.event)

    async def _judge_without_journal(self, received: Received) -> Envelope:
        """Judge a tool call with the cached agent. If it is committed after all, the result is the same."""
        envelope, event = received.envelope, received.event
        await self._guard.prepare(received, expects_reply=True)
        agent = self._agents.find_by_session(event.meta.session_id) or create_agent("", envelope, event)
        if agent.session is None or agent.session.client_id != event.meta.session_id:
            agent = as_declared(agent, envelope, event)
        verdict = self._guard.judge(envelope, agent, last=False)
        return envelope if verdict is ABSTAIN else decided(envelope, verdict=verdict)

    async def _reply(self, received: Received, outcome: Outcome) -> bytes | Held:
        """The client's reply. A question is held open, unless its effort refuses it at once."""
        event = received.event
        if outcome.strategy is Strategy.NOBODY:
            return b"" if outcome.verdict is ABSTAIN else _verdict_reply(received, outcome.verdict)
        may_be_held = event.hook in HELD and may_hold(received.envelope.client, event.hook)
        wait = wait_of(outcome.agent, event) if may_be_held else None
        is_refused = outcome.advice is not None and outcome.advice.denies
        if wait is not None and not is_refused and self._held_hooks.accepts(outcome.agent, wait):
            return partial(self._held_hooks.hold, received, wait)
        reply = b"" if outcome.verdict is ABSTAIN else _verdict_reply(received, outcome.verdict)
        may_get_context = (
            event.hook is HookKind.SESSION_START or outcome.advice is not None or is_first_of_role(outcome)
        )
        if may_get_context or outcome.session_notice.texts:
            return await self._injection.add_context(event, outcome, reply)
        return reply


def _verdict_reply(received: Received, verdict: Verdict) -> bytes:
    return replies_of(received.envelope.client).verdict_reply(received.envelope.name, verdict)


def _report(outcome: Outcome | Spooled) -> bytes:
    """The reply for API users."""
    if isinstance(outcome, Spooled):
        return msgspec.json.encode(SPOOLED)
    return msgspec.json.encode(compose_reply(outcome.agent, outcome.strategy, duplicate=outcome.duplicate))
