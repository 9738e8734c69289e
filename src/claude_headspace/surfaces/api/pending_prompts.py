"""Pending prompts: schedules and cancels them, and sends one through the agent's terminal.

Rules
- A prompt is scheduled on any machine. The daemon of the agent's machine sends it (`outputs/prompt_queue.py`).
- The complete text is stored with the event, because it is typed from the log. The agent has a redacted summary.
- A prompt that was typed or given up can be removed from the list, too: the list has to be empty some time.
"""

from collections.abc import Callable

import msgspec

from claude_headspace.clients.capabilities import require
from claude_headspace.clients.client import Capability
from claude_headspace.engine.remote_actions import Action
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.acts import PromptCancelled, PromptScheduled
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.pending_prompts import (
    MAX_PENDING,
    MAX_SUMMARY_CHARS,
    PendingPrompt,
    schedule_delivery,
    send_delivery,
)
from claude_headspace.outputs.pane_input import PaneInput, validate_text
from claude_headspace.ports import Recorder
from claude_headspace.surfaces.api.terminal_input import Sent, TerminalInput
from claude_headspace.surfaces.auth.requester import Requester


class Cancelled(msgspec.Struct, frozen=True):
    """The result of cancelling a pending prompt: `cancelled`, or `removed` if it had been typed or given up."""

    status: str
    agent_id: str
    agent: str
    prompt_id: str
    summary: str


class PendingPrompts:
    """The prompts that are sent when their agents are idle."""

    def __init__(self, recorder: Recorder, redact: Callable[[str], str]) -> None:
        self._recorder = recorder
        self._redact = redact

    async def schedule(
        self,
        agent: Agent,
        text: str,
        prompt_id: str,
        requester: Requester,
        *,
        keep_draft: bool = False,
        retry_at: Micros | None = None,
    ) -> Sent:
        """Add a prompt to the agent's queue. Idempotent per id. `retry_at`: when it continues a stopped turn."""
        text = validate_text(text)
        _require_schedulable(agent, keep_draft=keep_draft)
        act = PromptScheduled(
            prompt_id=prompt_id,
            text=text,
            summary=" ".join(self._redact(text).split())[:MAX_SUMMARY_CHARS],
            by=requester.name,
            via=requester.via,
            keep_draft=keep_draft,
            not_before=retry_at or 0,
            after_error=retry_at is not None,
        )
        outcome = await self._recorder.record(act, agent.id, delivery_id=schedule_delivery(prompt_id))
        return Sent("duplicate" if outcome.duplicate else "pending", agent.id, agent.name, prompt_id=prompt_id)

    async def cancel(self, agent: Agent, reference: str, requester: Requester) -> Cancelled:
        """Remove a pending prompt, by its id or the beginning of its id."""
        prompt = _find(agent, reference)
        act = PromptCancelled(prompt_id=prompt.id, by=requester.name, via=requester.via)
        delivery_id = send_delivery(prompt.id) if prompt.is_waiting else None
        if (await self._recorder.record(act, agent.id, delivery_id=delivery_id)).duplicate:
            raise BadRequest(
                "already_sent",
                f"It is too late to cancel: the prompt is being typed to {agent.name}.",
                f"`headspace interrupt {agent.name}` interrupts it.",
                status=409,
            )
        status = "cancelled" if prompt.is_waiting else "removed"
        return Cancelled(status, agent.id, agent.name, prompt.id, prompt.summary)


def _require_schedulable(agent: Agent, *, keep_draft: bool) -> None:
    require(agent.client, Capability.SEND)
    if keep_draft:
        require(agent.client, Capability.KEEP_DRAFT)
    name = agent.name
    if agent.ended_at is not None:
        raise BadRequest("agent_ended", f"{name} has ended.", f"`headspace resume {name}` continues it.", status=409)
    if agent.session is not None and not agent.tmux_pane:
        hint = "Start agents in tmux, or with `headspace run`."
        raise BadRequest("no_pane", f"{name} does not run in tmux, so nothing can be typed.", hint, status=409)
    if len(agent.pending_prompts) >= MAX_PENDING:
        hint = f"`headspace queue` lists them, `headspace queue cancel {name}` removes them."
        raise BadRequest("queue_full", f"{name} has {MAX_PENDING} pending prompts.", hint, status=409)


def _find(agent: Agent, reference: str) -> PendingPrompt:
    found = [each for each in agent.pending_prompts if each.id == reference]
    found = found or [each for each in agent.pending_prompts if reference and each.id.startswith(reference)]
    if len(found) != 1:
        problem = "Several pending prompts" if found else "No pending prompt"
        raise BadRequest(
            "unknown_prompt",
            f"{problem} of {agent.name} {'begin' if found else 'begins'} with {reference[:60]!r}.",
            "`headspace queue` lists all pending prompts.",
            status=404,
        )
    return found[0]


class PendingPromptSender:
    """Sends pending prompts of this machine's agents."""

    def __init__(self, terminal: TerminalInput, pane_input: PaneInput) -> None:
        self._terminal = terminal
        self._pane_input = pane_input

    async def send(self, agent: Agent, prompt: PendingPrompt, text: str) -> bool | None:
        """Type a prompt. Returns whether the client confirmed it; None if it was cancelled. Raises `Refused`."""
        await self._pane_input.refuse_while_typing(agent)
        options = {"when_idle": True, "after_error": prompt.after_error}
        action = Action("send", prompt.by, prompt.via, text, prompt.id, prompt.keep_draft, **options)
        sent = await self._terminal.type_text(agent, action)
        return None if sent.status == "duplicate" else sent.status == "confirmed"

    async def was_received(self, agent: Agent, text: str, after: int) -> bool:
        """Whether the client reported a prompt after an event number. Waits for late reports."""
        return await self._terminal.was_received(agent, text, after)
