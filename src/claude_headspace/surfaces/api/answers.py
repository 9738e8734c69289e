"""Answers to waits.

Rules
- The first answer wins. Repeating it returns the same result; a different one is refused with who answered, and when.
- Agents cannot answer: requests from inside an agent are refused (`auth/requester.py`).
- Every answer is stored: who, through which surface, what, when, and what it grants beyond this call.
- An answer that the client cannot take is refused with the sentence of the client.
- What is granted must be selected: a bare "always" is refused, with the list of what can be granted.
"""

import asyncio

import msgspec

from claude_headspace.clients.capabilities import require
from claude_headspace.clients.client import Capability
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.kernel.acts import WaitAnswered
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.text import iso
from claude_headspace.kernel.wait.answers import Answer, mismatch
from claude_headspace.kernel.wait.grants import find_grant_problem, select_options
from claude_headspace.kernel.wait.views import WaitView, wait_view
from claude_headspace.ports import Recorder
from claude_headspace.surfaces.api.wait_requests import WaitDetails
from claude_headspace.surfaces.auth.requester import Requester
from claude_headspace.surfaces.read.agents import WaitQueries
from claude_headspace.surfaces.text.clients import answering


class Answers:
    """Stores answers."""

    def __init__(self, waits: WaitQueries, recorder: Recorder, details: WaitDetails) -> None:
        self._waits = waits
        self._recorder = recorder
        self.details = details

    async def wait(self, wait_id: str) -> Wait:
        """A wait by its id, open or closed."""
        return await asyncio.to_thread(self._waits.find, wait_id)

    async def give(self, requester: Requester, wait_id: str, answer: Answer) -> WaitView:
        """Answer a wait; the wait afterwards."""
        wait = await self.wait(wait_id)
        if wait.closed_at is None:
            _require_capabilities(await self.details.client_of(wait), wait, answer)
        if (problem := mismatch(wait, answer)) is not None and wait.closed_at is None:
            raise BadRequest("answer_does_not_fit", problem, "GET /api/waits/{wait} shows what is asked.")
        options = await self.details.grant_options(wait)
        problem_of_grant = find_grant_problem(options, answer.grant, always=answer.always)
        if problem_of_grant is not None and wait.closed_at is None:
            raise BadRequest(*problem_of_grant, "GET /api/waits/{wait} lists what can be granted.")
        act = WaitAnswered(
            wait_id=wait_id,
            by=requester.name,
            via=requester.via,
            words=answer.words_for(wait.kind),
            answer=msgspec.Raw(msgspec.json.encode(answer)),
            grants=select_options(options, answer.grant),
        )
        try:
            await self._recorder.record(act, wait.agent_id)
        except BadRequest as refusal:
            return await self._repeated(await self.wait(wait_id), answer, refusal)
        return wait_view(await self.wait(wait_id))

    async def _repeated(self, wait: Wait, answer: Answer, refusal: HeadspaceError) -> WaitView:
        """The wait, if it already has the same answer; otherwise the refusal, with who answered first."""
        if wait.answered is not None and await asyncio.to_thread(self._waits.answer_to, wait) == answer:
            return wait_view(wait)
        raise BadRequest(refusal.code, refusal.message + _first_answer(wait), refusal.hint, status=refusal.status)


def _require_capabilities(client: str, wait: Wait, answer: Answer) -> None:
    """Raise, with the reason, if the client cannot take this answer from outside."""
    needed = {
        answering(wait.kind): not wait.held_until,
        Capability.EDIT_INPUT: answer.input is not None,
        Capability.GRANT: answer.always or bool(answer.grant),
    }
    for capability in (each for each, applies in needed.items() if applies):
        require(client, capability)


def _first_answer(wait: Wait) -> str:
    if (first := wait.answered) is not None:
        return f" ({first.words} by {first.by} through {first.via} at {iso(first.at)})"
    return f" ({wait.resolution} at {iso(wait.closed_at)})" if wait.closed_at is not None else ""
