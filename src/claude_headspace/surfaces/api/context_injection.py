"""What efforts and Claude OS need around a hook: before it, which instruction files belong to the path that it touched;
after it, the answer with what the session is given, what it is told of itself, and the effort's advice.

All of it is bounded I/O, and none of it happens for a session that neither belongs to an effort nor to Claude OS.
"""

import asyncio
import contextlib
from functools import partial

import msgspec
import structlog

from claude_headspace.clients.claude_code.hook_kinds import KINDS
from claude_headspace.clients.decode import decode
from claude_headspace.config import Settings
from claude_headspace.errors import HeadspaceError
from claude_headspace.inputs.context.claude_os import find_house, gather
from claude_headspace.inputs.context.instruction_files import DirectiveFinder
from claude_headspace.kernel.acts import ContextLoaded
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.context_files import Composed, compose
from claude_headspace.kernel.claude_os.notices import ASKED, Customs, takes_part
from claude_headspace.kernel.effort.advice import NOTHING
from claude_headspace.kernel.effort.advise import injected
from claude_headspace.kernel.envelope import SECOND, Envelope, decided
from claude_headspace.kernel.facts import SessionStarted
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.outputs.advice import room_beside, with_advice
from claude_headspace.ports import Outcome, Recorder
from claude_headspace.surfaces.socket.efforts import Efforts

log = structlog.get_logger(__name__)

replace = msgspec.structs.replace

PATIENCE_SECONDS = 1.0
"""How long reading a session's files may take: its hook waits."""


def customs_of(settings: Settings) -> Customs:
    """How the user wants sessions of Claude OS served."""
    return Customs(
        set_up=bool(settings.claude_os_root or settings.claude_os_core),
        prefix=settings.claude_os_prefix,
        warnings=settings.claude_os_warnings,
        note_after=round(settings.claude_os_note_after * SECOND),
    )


class Advising:
    """Beside the way of a hook."""

    def __init__(self, efforts: Efforts, settings: Settings, recorder: Recorder) -> None:
        self._efforts = efforts
        self._customs = customs_of(settings)
        self._root = settings.claude_os_root
        self._core = settings.claude_os_core
        self._recorder = recorder
        self._directives = DirectiveFinder()

    def asked(self) -> frozenset[HookKind]:
        """What waits for an answer at the moment; the script of a session with a role or a mode asks by itself."""
        return self._efforts.asked() | (ASKED if self._customs.concern_everybody else frozenset())

    async def gather(self, envelope: Envelope) -> Envelope:
        """The hook, with what an effort has to know of the path that its call touched."""
        if not self._efforts.any_active or KINDS.get(envelope.name) is not HookKind.AFTER_TOOL:
            return envelope
        tool = decode(envelope).tool
        touched = tool.path if tool is not None else None
        found = await self._directives(touched, envelope.observations.project_root or "") if touched else ()
        return decided(envelope, directives=found) if found else envelope

    async def add(self, envelope: Envelope, reply: bytes, outcome: Outcome) -> bytes:
        """A reply with all that is to say. Files are read in a thread; those that fitted are noted before."""
        advice, effort = outcome.advice or NOTHING, outcome.effort
        told = injected(effort.effort, advice) if effort is not None else ()
        briefing = await self._brief(envelope, outcome, room_beside(advice, told))
        if not briefing and not outcome.care.said and outcome.advice is None:
            return reply
        speak = partial(with_advice, envelope.name, reply, advice, told, briefing=briefing, care=outcome.care)
        spoken = await asyncio.to_thread(speak) if advice.preload else speak()
        if effort is not None:
            await self._efforts.note_loaded(effort, spoken.loaded)
        return spoken.reply

    async def _brief(self, envelope: Envelope, outcome: Outcome, room: int) -> str:
        """What a new context window begins with. What was given, or why nothing was, is written down before."""
        if not self._is_to_brief(envelope, outcome):
            return ""
        try:
            composed = await asyncio.wait_for(asyncio.to_thread(self._composed, outcome.agent, room), PATIENCE_SECONDS)
            problem = ""
        except Exception as error:
            log.warning("session_not_briefed", agent=outcome.agent.id, exc_info=True)
            composed, problem = Composed(), f"the files could not be read: {type(error).__name__}"
        if composed.loaded or composed.left_out or problem:
            act = ContextLoaded(files=composed.loaded, left_out=composed.left_out, reason=problem)
            with contextlib.suppress(HeadspaceError):
                await self._recorder.record(act, outcome.agent.id)
        return composed.text

    def _is_to_brief(self, envelope: Envelope, outcome: Outcome) -> bool:
        """Whether a new context window opened. A resumed one has everything in it already."""
        if (
            KINDS.get(envelope.name) is not HookKind.SESSION_START
            or outcome.duplicate
            or not takes_part(self._customs, outcome.agent)
        ):
            return False
        fact = decode(envelope).fact
        return isinstance(fact, SessionStarted) and fact.source != "resume"

    def _composed(self, agent: Agent, room: int) -> Composed:
        house = find_house(self._root, self._core, agent.project.root)
        return compose(gather(house, agent.role, agent.mode), self._customs.prefix, room)

    def close(self) -> None:
        """Look for nothing more."""
        self._directives.close()
