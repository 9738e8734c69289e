"""Answers to the approvals of Codex, through the control socket of its shared daemon. Its dialog stays usable.

Rules
- An approval is answered only if it is the one of the wait: it has the same call, or the wait and the approval are the
  only ones of their thread.
- "Deny" declines the call, and the turn goes on; a message for the agent is given to that turn. Nothing interrupts it.
- What is granted beyond the call is one of the decisions that Codex offers (`clients/codex/grants.py`).
- Sessions without the daemon have no socket: their dialogs are answered in the terminal, and surfaces say why.
"""

from collections.abc import Callable
from contextlib import suppress

from claude_headspace.clients.codex.control_protocol import Approval
from claude_headspace.clients.codex.control_socket import ControlSocket
from claude_headspace.clients.codex.grants import find_decision, write_suggestions
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.wait.answers import Answer

CUT = "…"
"""The end of a summary that does not name all files."""
HINT = "Answer it in the terminal."
ONLY_PERMISSIONS = "Headspace can answer only permissions of Codex."
NOT_AT_DAEMON = "Headspace answers Codex only through its shared daemon, and this dialog is not open there."
AMBIGUOUS = "Codex shows several dialogs, and Headspace cannot tell which of them this is."

FindApprovals = Callable[[str], list[tuple[ControlSocket, Approval]]]
"""The open approvals of a thread, and where to answer them."""


class CodexAnswers:
    """The answer channel of Codex."""

    def __init__(self, find_approvals: FindApprovals) -> None:
        self._find_approvals = find_approvals

    def find_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Why a wait cannot be answered; None if its approval is open at the socket."""
        if self._find(agent, wait) is not None:
            return None
        if wait.kind != "permission":
            return ONLY_PERMISSIONS
        return AMBIGUOUS if self._find_approvals(_thread_id(agent, wait)) else NOT_AT_DAEMON

    def suggestions(self, agent: Agent, wait: Wait) -> str:
        """What can be granted with the answer, as it is stored with the wait."""
        found = self._find(agent, wait)
        files = "" if wait.summary.endswith(CUT) else wait.summary
        return write_suggestions(found[1].suggestions, files) if found is not None else ""

    async def deliver(self, agent: Agent, wait: Wait, answer: Answer) -> None:
        """Answer the approval."""
        found = self._find(agent, wait)
        if found is None:
            raise _refusal("The dialog of Codex is not open any more.")
        control, approval = found
        try:
            await control.answer(approval, decide(wait, answer))
        except OSError as error:
            raise _refusal(f"Codex did not take the answer: {error}.") from error
        if answer.decision == "deny" and answer.message:
            with suppress(OSError):  # the call is denied in any case
                await control.steer(approval, answer.message)

    def _find(self, agent: Agent, wait: Wait) -> tuple[ControlSocket, Approval] | None:
        thread_id = _thread_id(agent, wait)
        if wait.kind != "permission" or wait.tool is None or not thread_id:
            return None
        found = self._find_approvals(thread_id)
        same_call = [each for each in found if each[1].call_id == wait.call_id]
        if same_call:
            return same_call[0]
        waits = [each for each in agent.waits if (each.kind, each.subagent_id) == (wait.kind, wait.subagent_id)]
        return found[0] if len(found) == 1 and waits == [wait] and wait.call_id is None else None


def _thread_id(agent: Agent, wait: Wait) -> str:
    return wait.subagent_id or (agent.session.client_id if agent.session is not None else "")


def decide(wait: Wait, answer: Answer) -> object:
    """The decision for Codex. Raises `BadRequest` if Codex has none for the answer."""
    if answer.decision != "allow":
        return "decline"
    if answer.input is not None:
        raise _refusal("Codex takes no changed input.")
    if not answer.grant:
        return "accept"
    decision = find_decision(wait.suggestions, answer.grant[0]) if len(answer.grant) == 1 else None
    if decision is None:
        raise _refusal("Codex takes one grant with an answer, and only one that it offers.")
    return decision


def _refusal(reason: str) -> BadRequest:
    return BadRequest("answer_refused", reason, HINT, status=409)
