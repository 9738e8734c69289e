"""Answers that a channel delivers: the request gets the result of the delivery, not only the report of the client."""

import asyncio
from typing import Any, cast

import pytest

from claude_headspace.errors import BadRequest, Undelivered
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.wait.answers import UNCONFIRMED, Answer
from claude_headspace.kernel.wait.views import WaitView
from claude_headspace.outputs.answer_channels import CLOSED
from claude_headspace.surfaces.api.answers import Answers
from claude_headspace.surfaces.api.wait_requests import WaitDetails
from claude_headspace.surfaces.auth.requester import Requester
from claude_headspace.surfaces.read.agents import WaitQueries
from tests.outputs.test_answer_channels import COMMAND, Channel, Desk, run

ALLOW, DENY = Answer(decision="allow"), Answer(decision="deny")


class SlowChannel(Channel):
    """A channel whose delivery ends when the test says so."""

    def __init__(self, problem: str) -> None:
        super().__init__()
        self.failure = BadRequest("dialog_not_answered", problem, "Look.") if problem else None
        self.begun, self.end = asyncio.Event(), asyncio.Event()

    async def deliver(self, agent: Agent, wait: Wait, answer: Answer) -> None:
        """Type a long text."""
        self.begun.set()
        await self.end.wait()
        await super().deliver(agent, wait, answer)


class Details:
    """What the answers need to know about a wait of a client that is answered with keys."""

    async def client_of(self, _wait: Wait) -> str:
        """The client."""
        return "copilot"

    async def grant_options(self, _wait: Wait) -> tuple[()]:
        """Its dialog grants one call."""
        return ()


async def give_while_the_dialog_closes(desk: Desk, channel: SlowChannel, answer: Answer) -> WaitView:
    """Answer; the client reports the end of its dialog before the delivery ends."""
    answers = Answers(WaitQueries(desk.journal), desk.engine, cast("WaitDetails", Details()))
    await desk.ask()
    await desk.until_held()
    given = asyncio.create_task(answers.give(Requester(name="ann", via="page"), desk.wait.id, answer))
    await channel.begun.wait()
    await desk.send("PostToolUse", **COMMAND)
    assert desk.wait.closed_at is not None
    channel.end.set()
    return await given


@pytest.mark.parametrize("answer", [ALLOW, DENY], ids=["allow", "deny"])
def test_an_answer_whose_dialog_was_closed_in_the_terminal_is_an_error(answer: Answer) -> None:
    """Although the report of the client closed the wait as answered, the person learns that it was not."""

    async def story(desk: Desk) -> None:
        with pytest.raises(Undelivered) as error:
            await give_while_the_dialog_closes(desk, channel, answer)
        assert error.value.message == f"The client did not receive the answer. {CLOSED}"
        assert error.value.hint == "Look at its terminal."

    channel = SlowChannel(CLOSED)
    run(story, channel=channel)


@pytest.mark.parametrize("problem", ["", f"{UNCONFIRMED} Look at its terminal."], ids=["delivered", "taken late"])
def test_an_answer_that_the_client_took_counts(problem: str) -> None:
    """Also if a slow client kept its dialog for a while after the keys, and reports then that it is closed."""

    async def story(desk: Desk) -> None:
        given: Any = await give_while_the_dialog_closes(desk, channel, ALLOW)
        assert given.resolution == "allowed by ann"

    channel = SlowChannel(problem)
    run(story, channel=channel)
