"""Chooses session notices: context usage and note requests here, missions in `mission.notices`. Pure.

The chosen notice is stored with the event; a replay does not choose again.

Rules
- Only sessions that use Claude OS receive notices: those with a role or a mode, or all sessions if Claude OS is
  configured. A child agent does not receive them.
- Each context level is reported once per context window: with the next tool call that finishes, with the next prompt,
  or at the end of the turn in which it was reached.
- The end of a turn is blocked at most once in a row (`stop_hook_active`). It is not blocked if the turn ends with a
  question or while sub-agents run.
- A note is requested once per context window, two minutes after its start, if there is none.
"""

from typing import Literal

import msgspec

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import INTERACTIVE, Agent, Session
from claude_headspace.kernel.claude_os import messages
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice, combine
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.intent import detect_intent
from claude_headspace.kernel.mission.notices import mission_notice
from claude_headspace.kernel.state_machine import Intent

ANSWERED_HOOKS = frozenset({HookKind.SESSION_START, HookKind.PROMPT, HookKind.TURN_END})
"""The hooks that can carry a notice."""
FACTS_WITH_NOTICE = (facts.PromptSubmitted, facts.TurnStopped, facts.ToolFinished)
"""The facts for which a notice is chosen."""


class ClaudeOsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The user's settings for Claude OS."""

    is_configured: bool = False
    """Whether Claude OS is configured; then all sessions use it."""
    prefix: str = "CLAUDE OS SYS"
    warnings: Literal["auto", "all", "off"] = "auto"
    note_after: Micros = 120 * SECOND

    @property
    def apply_to_all_sessions(self) -> bool:
        """Whether sessions without a role or a mode receive notices, too."""
        return self.is_configured or self.warnings == "all"


def uses_claude_os(settings: ClaudeOsSettings, agent: Agent) -> bool:
    """Whether the agent uses Claude OS."""
    return agent.role is not None or agent.mode != INTERACTIVE or (settings.is_configured and agent.parent_id is None)


def receives_notices(settings: ClaudeOsSettings, agent: Agent) -> bool:
    """Whether the agent receives notices about itself."""
    if settings.warnings == "all":
        return agent.parent_id is None or uses_claude_os(settings, agent)
    return settings.warnings == "auto" and uses_claude_os(settings, agent)


def context_level(percent: float | None) -> int:
    """The highest level that the context usage has reached, or 0."""
    return max((level for level in messages.LEVELS if percent is not None and percent >= level), default=0)


def session_notice(settings: ClaudeOsSettings, agent: Agent, event: Event) -> SessionNotice:
    """The notice that is sent with the reply to an event. `agent` is the agent before the event."""
    return combine(_context_notice(settings, agent, event), mission_notice(settings.prefix, agent, event))


def has_notice_in_turn(settings: ClaudeOsSettings, agent: Agent) -> bool:
    """Whether the agent has reached a context level in its turn that was not reported yet."""
    is_reached = agent.context_percent is not None and _new_level(agent) > 0
    return is_reached and agent.is_in_turn and agent.ended_at is None and receives_notices(settings, agent)


def _context_notice(settings: ClaudeOsSettings, agent: Agent, event: Event) -> SessionNotice:
    session = agent.session
    if session is None or event.meta.subagent_id is not None or not receives_notices(settings, agent):
        return NO_NOTICE
    match event.fact:
        case facts.PromptSubmitted():
            return _notice_with_prompt(settings, agent, session, event.meta.at)
        case facts.ToolFinished() if event.hook is HookKind.AFTER_TOOL:
            return _notice_with_tool(settings, agent)
        case facts.TurnStopped() as stop if event.hook is HookKind.TURN_END and _may_block_turn_end(stop):
            return _notice_at_turn_end(settings, agent)
        case _:
            return NO_NOTICE


def _notice_with_prompt(settings: ClaudeOsSettings, agent: Agent, session: Session, at: Micros) -> SessionNotice:
    level = _new_level(agent)
    texts = [messages.context_message(settings.prefix, level, agent.context_percent or 0, stops=False)] if level else []
    wants_note = _wants_note(settings, agent, session, at)
    if wants_note:
        texts.append(messages.format_message(settings.prefix, messages.INFO, messages.NOTE_REQUEST))
    return SessionNotice(texts=tuple(texts), context_level=level, requests_note=wants_note) if texts else NO_NOTICE


def _notice_with_tool(settings: ClaudeOsSettings, agent: Agent) -> SessionNotice:
    level = _new_level(agent)
    if not level:
        return NO_NOTICE
    text = messages.context_message(settings.prefix, level, agent.context_percent or 0, stops=False)
    return SessionNotice(texts=(text,), context_level=level)


def _notice_at_turn_end(settings: ClaudeOsSettings, agent: Agent) -> SessionNotice:
    level = _new_level(agent)
    if not level:
        return NO_NOTICE
    text = messages.context_message(settings.prefix, level, agent.context_percent or 0, stops=True)
    return SessionNotice(texts=(text,), context_level=level, blocks_turn_end=True)


def _new_level(agent: Agent) -> int:
    """The context level, if it was not reported yet, else 0."""
    level = context_level(agent.context_percent)
    return level if level > agent.context_level_reported else 0


def _wants_note(settings: ClaudeOsSettings, agent: Agent, session: Session, at: Micros) -> bool:
    if not settings.note_after or at - session.started_at < settings.note_after:
        return False
    return session.started_at > max(agent.note_requested_at, agent.note.at if agent.note is not None else 0)


def _may_block_turn_end(stop: facts.TurnStopped) -> bool:
    if stop.continued_before or any(task.kind == "subagent" for task in stop.background or ()):
        return False
    return not stop.message or detect_intent(stop.message).intent is not Intent.QUESTION
