"""Typing to agents: one text at a time per pane, only to a client that is ready for a prompt, and only on this machine.

The tables of reasons not to type, or to press Esc, go by what is known of the agent; tmux has the last word
(outputs/tmux.py).
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable

from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.outputs import tmux
from claude_headspace.outputs.tmux import Refused

MAX_TEXT_LENGTH = 50_000


def require_local(agent: Agent, host: str) -> None:
    """Only the daemon of the agent's machine does an act; others ask it, where they share its journal (`errands`)."""
    if agent.host != host:
        raise Refused(
            "elsewhere",
            f"{agent.name} runs on {agent.host}, and this is {host}.",
            f"Ask the Headspace on {agent.host}.",
        )


def require_ready(agent: Agent) -> None:
    """Whether a prompt would be taken for what it is."""
    for applies, code, message, hint in _NOT_READY:
        if applies(agent):
            raise Refused(code, message.format(name=agent.name), hint.format(name=agent.name))


_NOT_READY: tuple[tuple[Callable[[Agent], bool], str, str, str], ...] = (
    (
        lambda agent: agent.ended_at is not None,
        "agent_ended",
        "{name} has ended.",
        "`headspace resume {name}` brings it back.",
    ),
    (
        lambda agent: agent.state is AgentState.STARTING,
        "not_ready",
        "{name} has not reported yet.",
        "Try again when it is idle.",
    ),
    (
        lambda agent: any(not wait.asked_in_text for wait in agent.waits),
        "at_dialog",
        "{name} waits at a dialog: a text would be taken for an answer to it.",
        "`headspace jump {name}` takes you there.",
    ),
)


def require_interruptible(agent: Agent) -> None:
    """Whether an Esc would stop something. A question in plain text is no dialog: its turn is over."""
    shows_dialog = any(not wait.asked_in_text for wait in agent.waits)
    if agent.ended_at is None and (shows_dialog or agent.state is AgentState.WORKING):
        return
    raise Refused("at_rest", f"{agent.name} does nothing that could be interrupted.", "See `headspace list`.")


def validate_text(text: str) -> str:
    """A text that can be typed; what a terminal would act on is refused, and so is nothing."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    bad = next((sign for sign in text if (ord(sign) < 32 and sign not in "\n\t") or 127 <= ord(sign) < 160), None)
    if not text.strip() or bad is not None or len(text) > MAX_TEXT_LENGTH:
        problem = "is empty" if not text.strip() else "has control characters" if bad is not None else "is too long"
        raise Refused("bad_text", f"The text {problem}.", f"Send up to {MAX_TEXT_LENGTH} characters of plain text.")
    return text


class PaneInput:
    """Types, one text at a time per pane."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def lock(self, agent: Agent) -> asyncio.Lock:
        """Whose turn it is to type to an agent."""
        return self._locks[agent.tmux_pane or agent.id]

    async def check_pane(self, agent: Agent) -> None:
        """Refuse, before anything is written down, where there is no pane to type into."""
        await asyncio.to_thread(_find_pane, agent)

    async def is_in_use(self, agent: Agent) -> bool:
        """Whether somebody types in an agent's pane at the moment; refused where that is not its own."""
        return await asyncio.to_thread(_is_in_use, agent)

    async def type_text(self, agent: Agent, text: str) -> None:
        """Check that the pane is still the client's, then type."""
        await asyncio.to_thread(lambda: tmux.type_text(_find_pane(agent), text))

    async def press_key(self, agent: Agent, key: str) -> None:
        """Check that the pane is still the client's, then press one key."""
        await asyncio.to_thread(lambda: tmux.press_key(_find_pane(agent), key))


def _is_in_use(agent: Agent) -> bool:
    return tmux.has_recent_input(_find_pane(agent))


def _find_pane(agent: Agent) -> tmux.Pane:
    return tmux.find_agent_pane(agent.name, agent.tmux_pane, agent.pid)
