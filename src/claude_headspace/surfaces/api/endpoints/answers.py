"""Answering what an agent waits for: `POST /api/waits/{wait}/answer`.

Rules
- The first answer counts. The same one again is the same; another one is told who was first, and when.
- An agent does not answer itself: who descends from a client, or carries its session, is refused (`caller`).
- Every answer is in the journal: who, from where, what, when.
"""

import asyncio
from collections.abc import Callable

import msgspec
from starlette.requests import Request

from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.kernel.acts import WaitAnswered
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.answers import Answer, misfit
from claude_headspace.kernel.views import WaitView, iso, wait_view
from claude_headspace.ports import Reader, Recorder
from claude_headspace.surfaces.auth.requester import Caller, Who

Given = Callable[[Reader, Wait], Answer | None]
"""Finds the whole of the answer that a wait got."""


class Answering:
    """Takes answers."""

    def __init__(self, reader: Reader, recorder: Recorder, given: Given, caller: Caller) -> None:
        self._reader = reader
        self._recorder = recorder
        self._given = given
        self._caller = caller

    async def answer(self, request: Request, wait_id: str, answer: Answer) -> WaitView:
        """Take an answer from whoever asks, unless that is an agent."""
        return await self.give(await self._caller.identify(request), wait_id, answer)

    async def give(self, who: Who, wait_id: str, answer: Answer) -> WaitView:
        """Hand an answer in, and say how the wait is then."""
        wait = await self.wait(wait_id)
        if (problem := misfit(wait, answer)) is not None and wait.closed_at is None:
            raise BadRequest("answer_does_not_fit", problem, "See what it asks at GET /api/waits.")
        act = WaitAnswered(
            wait_id=wait_id,
            by=who.name,
            via=who.via,
            words=answer.words,
            answer=msgspec.Raw(msgspec.json.encode(answer)),
        )
        try:
            await self._recorder.record(act, wait.agent_id)
        except BadRequest as refusal:
            return await self._same_again(await self.wait(wait_id), answer, refusal)
        return wait_view(await self.wait(wait_id))

    async def wait(self, wait_id: str) -> Wait:
        """A wait by its id, open or not."""
        found = await asyncio.to_thread(self._reader.wait, wait_id)
        if found is None:
            raise BadRequest(
                "unknown_wait",
                f"There is no wait {wait_id[:200]}.",
                "See GET /api/waits, or `headspace list`.",
                status=404,
            )
        return found

    async def _same_again(self, wait: Wait, answer: Answer, refusal: HeadspaceError) -> WaitView:
        """Whoever repeats what was answered is told that it was; others, who was first."""
        if wait.answered is not None and await asyncio.to_thread(self._given, self._reader, wait) == answer:
            return wait_view(wait)
        raise BadRequest(refusal.code, refusal.message + _told(wait), refusal.hint, status=refusal.status)


def _told(wait: Wait) -> str:
    if wait.answered is not None:
        done = wait.answered
        return f" ({done.words} by {done.by} through {done.via} at {iso(done.at)})"
    return f" ({wait.resolution} at {iso(wait.closed_at)})" if wait.closed_at is not None else ""
