"""What efforts need around a hook: before it, which instruction files belong to the path that it touched; after it, the
answer with the effort's advice in it.

Both are bounded I/O, and neither happens while no effort is active.
"""

import asyncio

import msgspec

from claude_headspace.engine import Outcome
from claude_headspace.inputs.directives import DirectiveFinder
from claude_headspace.kernel.effort.advise import injected
from claude_headspace.kernel.effort.reading import touch_of
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.outputs.advice import with_advice
from claude_headspace.surfaces.efforts import Efforts

replace = msgspec.structs.replace


class Advising:
    """Beside the way of a hook."""

    def __init__(self, efforts: Efforts) -> None:
        self._efforts = efforts
        self._directives = DirectiveFinder()

    async def gather(self, envelope: Envelope) -> Envelope:
        """The hook, with what an effort has to know of the path that its call touched."""
        if not self._efforts.any_active or envelope.name != "PostToolUse":
            return envelope
        touched = touch_of(envelope).path
        found = await self._directives(touched, envelope.context.project_root or "") if touched else ()
        return replace(envelope, context=replace(envelope.context, directives=found)) if found else envelope

    async def add(self, event: str, reply: bytes, outcome: Outcome) -> bytes:
        """A reply with what the effort says. Files are read in a thread; those that fitted are noted before."""
        advice, effort = outcome.advice, outcome.effort
        if advice is None or effort is None:
            return reply
        told = injected(effort.effort, advice)
        if not advice.preload:
            return with_advice(event, reply, advice, told).reply
        spoken = await asyncio.to_thread(with_advice, event, reply, advice, told)
        await self._efforts.note_loaded(effort, spoken.loaded)
        return spoken.reply

    def close(self) -> None:
        """Look for nothing more."""
        self._directives.close()
