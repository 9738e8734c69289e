"""Answers to the approvals of Codex: only to the approval that was shown, with the decision that was meant."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.codex.control_socket import ControlSocket, socket_path
from claude_headspace.clients.requests import grant_options
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent, Session, Wait
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.outputs.codex_answers import AMBIGUOUS, NOT_AT_DAEMON, ONLY_PERMISSIONS, CodexAnswers
from tests.codex_daemon import AMENDMENT, CodexDaemon
from tests.kernel.story import new_agent

ALLOW = Answer(decision="allow")
LIMIT_SECONDS = 30.0


def agent_with(*waits: Wait) -> Agent:
    """An agent of Codex with these waits."""
    session = Session(id="s1", agent_id="agent-1", ordinal=1, client_id="one", source="startup", started_at=1)
    return new_agent(client="codex", session=session, waits=waits)


def wait(**known: Any) -> Wait:
    """A wait for a permission."""
    fields: dict[str, Any] = {
        "id": "w1",
        "agent_id": "agent-1",
        "kind": "permission",
        "text": "",
        "opened_at": 1,
        "tool": "shell",
    }
    return Wait(**(fields | known))


def answering(home: Path, story: Callable[[CodexDaemon, ControlSocket, CodexAnswers], Awaitable[None]]) -> None:
    """Run a story with a connected daemon that has two threads."""

    async def main() -> None:
        async with CodexDaemon(home) as daemon:
            for thread_id in ("one", "child"):
                await daemon.open(thread_id)
            control = ControlSocket(socket_path(home), lambda *_report: None, lambda *_answered: None, lambda: None)
            running = asyncio.create_task(control.run())
            async with asyncio.timeout(LIMIT_SECONDS):
                await control.loaded.wait()
                await story(
                    daemon, control, CodexAnswers(lambda of: [(control, each) for each in control.approvals_of(of)])
                )
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    asyncio.run(main())


async def ask(daemon: CodexDaemon, control: ControlSocket, thread_id: str = "one", **fields: Any) -> None:
    """A thread shows a dialog, and Headspace knows its approval."""
    known = len(control.approvals_of(thread_id))
    await daemon.ask(thread_id, **fields)
    while len(control.approvals_of(thread_id)) == known:  # noqa: ASYNC110
        await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("about", "accepted"),
    [
        (wait(call_id="call-1"), True),
        (wait(), True),
        (wait(call_id="call-2"), False),
        (wait(subagent_id="child"), False),
        (wait(kind="question"), False),
        (wait(tool=None), False),
    ],
    ids=["same call", "only one", "other call", "other thread", "question", "no request to show"],
)
def test_only_the_approval_of_a_wait_is_answered(tmp_path: Path, about: Wait, *, accepted: bool) -> None:
    """The call is the same, or there is one wait and one approval."""

    async def story(daemon: CodexDaemon, control: ControlSocket, channel: CodexAnswers) -> None:
        assert channel.find_obstacle(agent_with(about), about) in (NOT_AT_DAEMON, ONLY_PERMISSIONS)
        await ask(daemon, control)
        assert (channel.find_obstacle(agent_with(about), about) is None) is accepted

    answering(tmp_path, story)


def test_several_dialogs_without_a_call_are_left_to_the_terminal(tmp_path: Path) -> None:
    """It is not certain which one the wait is about."""

    async def story(daemon: CodexDaemon, control: ControlSocket, channel: CodexAnswers) -> None:
        first, second = wait(), wait(id="w2")
        await ask(daemon, control)
        assert channel.find_obstacle(agent_with(first, second), first) == AMBIGUOUS
        await ask(daemon, control, request_id=8, call_id="call-2")
        assert channel.find_obstacle(agent_with(first), first) == AMBIGUOUS

    answering(tmp_path, story)


@pytest.mark.parametrize(
    ("answer", "decision"), [(ALLOW, "accept"), (Answer(decision="deny"), "decline")], ids=["allow", "deny"]
)
def test_an_answer_is_a_decision(tmp_path: Path, answer: Answer, decision: str) -> None:
    """A denial does not interrupt the turn. Approvals of sub-agents are answered in their own thread."""

    async def story(daemon: CodexDaemon, control: ControlSocket, channel: CodexAnswers) -> None:
        about = wait(subagent_id="child", call_id="call-1")
        await ask(daemon, control, "child")
        await channel.deliver(agent_with(about), about, answer)
        assert daemon.decisions == [decision]
        with pytest.raises(BadRequest, match="not open any more"):
            await channel.deliver(agent_with(about), about, answer)

    answering(tmp_path, story)


def test_the_reason_of_a_denial_reaches_the_turn(tmp_path: Path) -> None:
    """A decision has no text, so the text is given to the turn."""

    async def story(daemon: CodexDaemon, control: ControlSocket, channel: CodexAnswers) -> None:
        about = wait()
        await ask(daemon, control)
        await channel.deliver(agent_with(about), about, Answer(decision="deny", message="use make check"))
        steered = {"threadId": "one", "expectedTurnId": "turn-1", "input": [{"type": "text", "text": "use make check"}]}
        assert ("turn/steer", steered) in daemon.requests

    answering(tmp_path, story)


def test_a_grant_is_a_decision_that_codex_offers(tmp_path: Path) -> None:
    """Its words say exactly what it permits, and where that is stored."""

    async def story(daemon: CodexDaemon, control: ControlSocket, channel: CodexAnswers) -> None:
        await ask(daemon, control)
        about = wait()
        about = wait(suggestions=channel.suggestions(agent_with(about), about))
        (option,) = grant_options("codex", about.suggestions)
        assert (option.words, option.destination) == ("Allow commands that start with make test", "all your projects")
        await channel.deliver(agent_with(about), about, Answer(decision="allow", grant=(option.id,)))
        assert daemon.decisions == [AMENDMENT]

    answering(tmp_path, story)


def test_changes_of_files_can_be_allowed_for_the_session(tmp_path: Path) -> None:
    """As in the dialog."""

    async def story(daemon: CodexDaemon, control: ControlSocket, channel: CodexAnswers) -> None:
        await ask(daemon, control, kind="file")
        about = wait(summary="notes.txt, app.py")
        about = wait(suggestions=channel.suggestions(agent_with(about), about))
        (option,) = grant_options("codex", about.suggestions)
        assert option.words == "Allow further changes of notes.txt, app.py without asking"
        cut = wait(summary="notes.txt, …")
        (unnamed,) = grant_options("codex", channel.suggestions(agent_with(cut), cut))
        assert unnamed.words == "Allow further changes of all files of this patch without asking"
        assert option.destination == "this session"
        await channel.deliver(agent_with(about), about, Answer(decision="allow", grant=(option.id,)))
        assert daemon.decisions == ["acceptForSession"]

    answering(tmp_path, story)


@pytest.mark.parametrize(
    "answer",
    [Answer(decision="allow", input={"command": "ls"}), Answer(decision="allow", grant=("rule-1", "rule-2"))],
    ids=["changed input", "two grants"],
)
def test_what_codex_cannot_do_is_refused(tmp_path: Path, answer: Answer) -> None:
    """Nothing is sent."""

    async def story(daemon: CodexDaemon, control: ControlSocket, channel: CodexAnswers) -> None:
        about = wait()
        await ask(daemon, control)
        with pytest.raises(BadRequest) as refused:
            await channel.deliver(agent_with(about), about, answer)
        assert refused.value.hint == "Answer it in the terminal."
        assert daemon.decisions == []

    answering(tmp_path, story)
