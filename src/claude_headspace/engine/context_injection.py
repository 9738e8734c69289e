"""Context injection: what is added to the reply to a hook for an effort or for Claude OS.

Before the hook is stored, `prepare` finds the instruction files of the path that a tool call used. After it is stored,
`add_context` adds to the verdict: the session context, session notices and the advice of the effort.

Rules
- All I/O is bounded in time.
- None of it happens for a session that belongs neither to an effort nor to Claude OS.
"""

import asyncio
import contextlib
from functools import partial

import structlog

from claude_headspace.clients.replies import replies_of
from claude_headspace.config import Settings
from claude_headspace.engine.active_efforts import ActiveEfforts
from claude_headspace.engine.effort_start import EffortStarter
from claude_headspace.errors import HeadspaceError
from claude_headspace.inputs.context.claude_os import context_roots, read_context_files
from claude_headspace.inputs.context.instruction_files import InstructionFileFinder
from claude_headspace.kernel.acts import ContextLoaded
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.context_files import ComposedContext, compose
from claude_headspace.kernel.claude_os.notices import ANSWERED_HOOKS, ClaudeOsSettings, uses_claude_os
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.effort.advice import NO_ADVICE
from claude_headspace.kernel.effort.advise import delivered_injections
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.facts import Event, SessionStarted
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.outputs.advice import add_advice, remaining_characters
from claude_headspace.ports import Outcome, Received, Recorder

log = structlog.get_logger(__name__)

READ_TIMEOUT_SECONDS = 1.0
"""The limit for reading the files of a session, while its hook waits."""


def claude_os_settings(settings: Settings) -> ClaudeOsSettings:
    """The settings of Claude OS."""
    return ClaudeOsSettings(
        is_configured=bool(settings.claude_os_root or settings.claude_os_core),
        prefix=settings.claude_os_prefix,
        warnings=settings.claude_os_warnings,
        note_after=round(settings.claude_os_note_after * SECOND),
    )


def hooks_of_claude_os(settings: Settings) -> frozenset[HookKind]:
    """The hooks that wait for a reply in every session. The script of a session with a role or mode always waits."""
    return ANSWERED_HOOKS if claude_os_settings(settings).apply_to_all_sessions else frozenset()


def is_first_of_role(outcome: Outcome) -> bool:
    """Whether the event is the first of a session with a role, whichever event it is."""
    return outcome.strategy is Strategy.NEW and outcome.agent.role is not None and not outcome.duplicate


def _with_unknown_role(agent: Agent, reply: bytes, loaded: ComposedContext) -> bytes:
    """The reply, with a message for the user if the role does not exist."""
    if not loaded.unknown_role:
        return reply
    return replies_of(agent.client).with_message(reply, f"Headspace: {loaded.unknown_role}")


class ContextInjection:
    """Prepares hooks, and composes their replies."""

    def __init__(self, efforts: ActiveEfforts, settings: Settings, recorder: Recorder, starter: EffortStarter) -> None:
        self.start_typed_effort = starter.prompted
        """Start an effort if a stored prompt runs a skill that wants one."""
        self._efforts = efforts
        self._settings = settings
        self._claude_os = claude_os_settings(settings)
        self._recorder = recorder
        self._instruction_files = InstructionFileFinder()

    async def prepare(self, received: Received) -> Received:
        """Add the instruction files that belong to the path of a finished tool call."""
        envelope, event = received.envelope, received.event
        if event.tool is None or not event.tool.path or not self._efforts:
            return received
        found = await self._instruction_files(event.tool.path, envelope.observations.project_root or "")
        return received.decided(directives=found) if found else received

    async def add_context(self, event: Event, outcome: Outcome, reply: bytes) -> bytes:
        """Add the injected context to the reply of the policy. Files are recorded before they are sent."""
        advice, effort = outcome.advice or NO_ADVICE, outcome.effort
        injections = delivered_injections(effort.effort, advice) if effort is not None else ()
        session_context = ""
        if event.hook is HookKind.SESSION_START and self._opens_window(event, outcome):
            loaded = await self._load(outcome.agent, remaining_characters(advice, injections))
            session_context = loaded.text
            reply = _with_unknown_role(outcome.agent, reply, loaded)
        elif is_first_of_role(outcome) and uses_claude_os(self._claude_os, outcome.agent):
            reply = _with_unknown_role(outcome.agent, reply, await self._load(outcome.agent, 0, is_recorded=False))
        if not session_context and not outcome.session_notice.texts and outcome.advice is None:
            return reply
        add = partial(
            add_advice,
            outcome.agent.client,
            event.meta.name,
            reply,
            advice,
            injections,
            session_context=session_context,
            notice=outcome.session_notice,
        )
        composed = await asyncio.to_thread(add) if advice.preload or advice.documents else add()
        if effort is not None:
            await self._efforts.record_loaded(effort, composed.loaded)
        return composed.reply

    def _opens_window(self, event: Event, outcome: Outcome) -> bool:
        """Whether a new context window of Claude OS opened. A resumed one has its context already."""
        fact = event.fact
        is_new = isinstance(fact, SessionStarted) and fact.source != "resume" and not outcome.duplicate
        return is_new and uses_claude_os(self._claude_os, outcome.agent)

    async def _load(self, agent: Agent, room: int, *, is_recorded: bool = True) -> ComposedContext:
        """Load the session context, and record which files were loaded, or why none were."""
        try:
            composed = await asyncio.wait_for(asyncio.to_thread(self._read, agent, room), READ_TIMEOUT_SECONDS)
            problem = ""
        except Exception as error:
            log.warning("session_context_failed", agent=agent.id, exc_info=True)
            composed, problem = ComposedContext(), f"the files could not be read: {type(error).__name__}"
        if is_recorded and (composed.loaded or composed.left_out or problem):
            act = ContextLoaded(files=composed.loaded, left_out=composed.left_out, reason=problem)
            with contextlib.suppress(HeadspaceError):
                await self._recorder.record(act, agent.id)
        return composed

    def _read(self, agent: Agent, room: int) -> ComposedContext:
        directory = context_roots(self._settings.claude_os_root, self._settings.claude_os_core, agent.root)
        return compose(read_context_files(directory, agent.role, agent.mode), self._claude_os.prefix, room)

    def close(self) -> None:
        """Stop searching for files."""
        self._instruction_files.close()
