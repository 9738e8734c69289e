"""When a session is told what: of itself here, of its workers by `mission.tell`. Pure; the answer is stored with the
event and never made again.

Rules
- Only a session that takes part is told of itself: one with a role or a mode, or every one where the user set Claude OS
  up. A client that an agent started works for it.
- Each level of the context is told once in a context window: with the next prompt, or when the turn would end in which
  it was reached.
- A turn is held at most once in a row (`stop_hook_active`), and never one that ends with a question or while sub-agents
  run: the human comes first.
- A note is asked for once in a context window, two minutes after its beginning, while there is none.
"""

from typing import Literal

import msgspec

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import INTERACTIVE, Agent, Session
from claude_headspace.kernel.claude_os import messages as texts
from claude_headspace.kernel.claude_os.session_notice import NO_CARE, Care, together
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.intent import detect_intent
from claude_headspace.kernel.mission.notices import tell
from claude_headspace.kernel.state_machine import Intent

ASKED = frozenset({HookKind.SESSION_START, HookKind.PROMPT, HookKind.TURN_END})
"""The hooks that are answered."""


class Customs(msgspec.Struct, frozen=True, kw_only=True):
    """How the user wants it."""

    set_up: bool = False
    """Whether Claude OS is configured here: then every session takes part."""
    prefix: str = "CLAUDE OS SYS"
    warnings: Literal["auto", "all", "off"] = "auto"
    note_after: Micros = 120 * SECOND

    @property
    def concern_everybody(self) -> bool:
        """Whether sessions without a role or a mode are told something, too."""
        return self.set_up or self.warnings == "all"


def takes_part(customs: Customs, agent: Agent) -> bool:
    """Whether an agent is one of Claude OS's."""
    return agent.role is not None or agent.mode != INTERACTIVE or (customs.set_up and agent.parent_id is None)


def is_told(customs: Customs, agent: Agent) -> bool:
    """Whether an agent is told how it stands."""
    if customs.warnings == "all":
        return agent.parent_id is None or takes_part(customs, agent)
    return customs.warnings == "auto" and takes_part(customs, agent)


def level_of(percent: float | None) -> int:
    """The level of a context that is so full; 0 below all of them."""
    return max((level for level in texts.LEVELS if percent is not None and percent >= level), default=0)


def attend(customs: Customs, agent: Agent, event: Event) -> Care:
    """What an agent, as it was before the event, is told with the answer to it."""
    return together(_of_itself(customs, agent, event), tell(agent, event))


def _of_itself(customs: Customs, agent: Agent, event: Event) -> Care:
    session = agent.session
    if session is None or event.meta.subagent_id is not None or not is_told(customs, agent):
        return NO_CARE
    match event.fact:
        case facts.PromptSubmitted():
            return _with_prompt(customs, agent, session, event.meta.at)
        case facts.TurnStopped() as stop if event.hook is HookKind.TURN_END and _may_be_held(stop):
            return _before_end(customs, agent)
        case _:
            return NO_CARE


def _with_prompt(customs: Customs, agent: Agent, session: Session, at: Micros) -> Care:
    level = _new_level(agent)
    said = [texts.context_at(customs.prefix, level, agent.context_percent or 0, stops=False)] if level else []
    wants_note = _wants_note(customs, agent, session, at)
    if wants_note:
        said.append(texts.line(customs.prefix, texts.INFO, texts.NOTE))
    return Care(said=tuple(said), level=level, asked_for_note=wants_note) if said else NO_CARE


def _before_end(customs: Customs, agent: Agent) -> Care:
    level = _new_level(agent)
    if not level:
        return NO_CARE
    words = texts.context_at(customs.prefix, level, agent.context_percent or 0, stops=True)
    return Care(said=(words,), level=level, holds=True)


def _new_level(agent: Agent) -> int:
    """The level that was reached since the last one was told."""
    level = level_of(agent.context_percent)
    return level if level > agent.context_level_told else 0


def _wants_note(customs: Customs, agent: Agent, session: Session, at: Micros) -> bool:
    if not customs.note_after or at - session.started_at < customs.note_after:
        return False
    return session.started_at > max(agent.note_requested_at, agent.note.at if agent.note is not None else 0)


def _may_be_held(stop: facts.TurnStopped) -> bool:
    if stop.continued_before or any(task.kind == "subagent" for task in stop.background or ()):
        return False
    return not stop.message or detect_intent(stop.message).intent is not Intent.QUESTION
