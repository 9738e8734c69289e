"""Answers to waits.

Rules
- The first answer wins. Repeating it returns the same result; a different one is refused with who answered, and when.
- Agents cannot answer: requests from inside an agent are refused (`auth/requester.py`).
- Every answer is stored: who, through which surface, what, when, and what it grants beyond this call.
- An answer that the client cannot take is refused with the sentence of the client.
- An answer that goes through an answer channel counts when the client has it: the request waits for the result of the
  delivery, and fails with the reason if the client did not get it. The wait stays open.
- If the dialog is closed in the terminal meanwhile, the request fails, too, also if the client's report closes the wait
  before the delivery fails. A denial may close it in this way. Keys that a slow client took after all count.
- What is granted must be selected: a bare "always" is refused, with the list of what can be granted.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from claude_headspace.clients.capabilities import answers_are_delivered, require
from claude_headspace.clients.client import Capability
from claude_headspace.errors import BadRequest, HeadspaceError, Undelivered
from claude_headspace.kernel.acts import WaitAnswered
from claude_headspace.kernel.agent import UNANSWERED, Wait
from claude_headspace.kernel.text import iso
from claude_headspace.kernel.wait.answers import UNCONFIRMED, Answer, mismatch, with_labels
from claude_headspace.kernel.wait.grants import GrantOption, find_grant_problem, select_options
from claude_headspace.kernel.wait.views import WaitView, wait_view
from claude_headspace.ports import Recorder
from claude_headspace.surfaces.api.wait_requests import WaitDetails
from claude_headspace.surfaces.auth.requester import Requester
from claude_headspace.surfaces.read.agents import WaitQueries
from claude_headspace.surfaces.text.clients import answering, denying_with_message

RESULT_SECONDS = 25.0
"""How long a request waits for the result of a delivery; longer than the delivery itself may take."""
POLL_SECONDS = 0.05
CLOSED = "The dialog was closed in the terminal, so the client probably did not receive the answer"


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
        answer = with_labels(wait, answer)
        options = await self.details.grant_options(wait)
        if wait.closed_at is None:
            _require_capabilities(await self.details.client_of(wait), wait, answer)
            _require_fit(wait, answer, options)
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
            await self._require_same(await self.wait(wait_id), answer, refusal)
        answered = await self.wait(wait_id)
        if wait.closed_at is not None or not answers_are_delivered(await self.details.client_of(wait)):
            return wait_view(answered)
        return wait_view(await self._delivered(answered, allows=answer.allows))

    async def _delivered(self, wait: Wait, *, allows: bool) -> Wait:
        """The wait once the client has the answer. Raises `Undelivered`, with the reason, if it did not get it."""
        try:
            async with asyncio.timeout(RESULT_SECONDS):
                while (problem := await self._problem(wait)) is None and not _is_refused(wait, allows=allows):
                    await asyncio.sleep(POLL_SECONDS)
                    wait = await self.wait(wait.id)
        except TimeoutError:
            unknown = "It is not known whether the client received the answer."
            raise Undelivered("answer_unconfirmed", unknown, "Look at its terminal.", status=504) from None
        wait = await self.wait(wait.id)
        if _is_refused(wait, allows=allows):
            raise Undelivered("answer_unconfirmed", f"{CLOSED} ({wait.resolution}).", "Look at its terminal.")
        if problem and not (wait.closed_at is not None and problem.startswith(UNCONFIRMED)):
            raise _undelivered(wait, problem)
        return wait

    async def _problem(self, wait: Wait) -> str | None:
        """Why the client did not receive the newest answer; empty if it did, None if that is not known yet."""
        given = wait.answered or wait.undelivered
        return await asyncio.to_thread(self._waits.delivery_problem, wait, given) if given is not None else ""

    async def _require_same(self, wait: Wait, answer: Answer, refusal: HeadspaceError) -> None:
        """Raise the refusal, with who answered first, unless the wait already has the same answer."""
        if wait.answered is not None and await asyncio.to_thread(self._waits.answer_to, wait) == answer:
            return
        raise BadRequest(refusal.code, refusal.message + _first_answer(wait), refusal.hint, status=refusal.status)


def _require_capabilities(client: str, wait: Wait, answer: Answer) -> None:
    """Raise, with the reason, if the client cannot take this answer from outside."""
    needed = {
        answering(wait.kind): not wait.held_until,
        Capability.EDIT_INPUT: answer.input is not None,
        Capability.GRANT: answer.always or bool(answer.grant),
        denying_with_message(wait.kind): answer.decision == "deny" and bool(answer.message.strip()),
    }
    for capability in (each for each, applies in needed.items() if applies):
        require(client, capability)


def _require_fit(wait: Wait, answer: Answer, options: Sequence[GrantOption]) -> None:
    """Raise, with the reason, if the answer does not fit the wait or grants what is not offered."""
    if (problem := mismatch(wait, answer)) is not None:
        raise BadRequest("answer_does_not_fit", problem, "GET /api/waits/{wait} shows what is asked.")
    if (refused := find_grant_problem(options, answer.grant, always=answer.always)) is not None:
        raise BadRequest(*refused, "GET /api/waits/{wait} lists what can be granted.")


def _is_refused(wait: Wait, *, allows: bool) -> bool:
    """Whether the client reports that the dialog was closed without an answer that allows something."""
    return allows and wait.resolution in UNANSWERED


def _undelivered(wait: Wait, reason: str) -> Undelivered:
    if reason.startswith(UNCONFIRMED):
        return Undelivered("answer_undelivered", UNCONFIRMED, "Look at its terminal before you answer again.")
    problem = f"The client did not receive the answer. {reason}"
    if wait.closed_at is not None:
        return Undelivered("answer_undelivered", problem, "Look at its terminal.")
    hint = "Try again, or answer it in its terminal." if wait.held_until else "Answer it in its terminal."
    return Undelivered("answer_undelivered", problem, hint)


def _first_answer(wait: Wait) -> str:
    if (first := wait.answered) is not None:
        return f" ({first.words} by {first.by} through {first.via} at {iso(first.at)})"
    return f" ({wait.resolution} at {iso(wait.closed_at)})" if wait.closed_at is not None else ""
