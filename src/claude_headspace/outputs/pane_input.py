"""Input to an agent's pane: types text and presses keys, one input at a time per pane.

Text is typed only if the client is ready for a prompt, and only on this machine. The `require_…` functions check the
recorded state of the agent. `outputs/tmux.py` then checks that the pane still belongs to the client.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable

from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.outputs import tmux
from claude_headspace.outputs.tmux import Refused

MAX_TEXT_LENGTH = 50_000


def require_local(agent: Agent, host: str) -> None:
    """Raise `Refused` if the agent runs on another machine. Daemons with a shared journal use remote actions."""
    if agent.host != host:
        raise Refused(
            "elsewhere",
            f"{agent.name} runs on {agent.host}, not on {host}.",
            f"Use Headspace on {agent.host}.",
        )


def require_ready(agent: Agent) -> None:
    """Raise `Refused` if the client is not ready for a prompt."""
    for applies, code, message, hint in _NOT_READY:
        if applies(agent):
            raise Refused(code, message.format(name=agent.name), hint.format(name=agent.name))


_NOT_READY: tuple[tuple[Callable[[Agent], bool], str, str, str], ...] = (
    (
        lambda agent: agent.ended_at is not None,
        "agent_ended",
        "{name} has ended.",
        "`headspace resume {name}` continues it.",
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
        "{name} waits at a dialog: the text would be entered as an answer.",
        "`headspace jump {name}` shows its terminal.",
    ),
)


def require_interruptible(agent: Agent) -> None:
    """Raise `Refused` if Esc would stop nothing. A question in plain text is not a dialog: its turn ended."""
    shows_dialog = any(not wait.asked_in_text for wait in agent.waits)
    if agent.ended_at is None and (shows_dialog or agent.state is AgentState.WORKING):
        return
    raise Refused("at_rest", f"{agent.name} is doing nothing that could be interrupted.", "See `headspace list`.")


def validate_text(text: str) -> str:
    """Return a text with normal line ends. Raises `Refused` if it is empty, too long or has control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    bad = next((sign for sign in text if (ord(sign) < 32 and sign not in "\n\t") or 127 <= ord(sign) < 160), None)
    if not text.strip() or bad is not None or len(text) > MAX_TEXT_LENGTH:
        problem = "is empty" if not text.strip() else "has control characters" if bad is not None else "is too long"
        raise Refused("bad_text", f"The text {problem}.", f"Send up to {MAX_TEXT_LENGTH} characters of plain text.")
    return text


class PaneInput:
    """Types text and presses keys in the panes of agents."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def lock(self, agent: Agent) -> asyncio.Lock:
        """Return the lock for input to an agent's pane."""
        return self._locks[agent.tmux_pane or agent.id]

    async def check_pane(self, agent: Agent) -> None:
        """Raise `Refused` if the agent has no pane. Used before an act is recorded."""
        await asyncio.to_thread(_find_pane, agent)

    async def is_in_use(self, agent: Agent) -> bool:
        """Whether a person is typing in the agent's pane. Raises `Refused` if the pane is not the agent's."""
        return await asyncio.to_thread(_is_in_use, agent)

    async def type_text(self, agent: Agent, text: str) -> None:
        """Check that the pane is still the client's, then type the text and Enter."""
        await asyncio.to_thread(lambda: tmux.type_text(_find_pane(agent), text))

    async def press_key(self, agent: Agent, key: str) -> None:
        """Check that the pane is still the client's, then press one key."""
        await asyncio.to_thread(lambda: tmux.press_key(_find_pane(agent), key))


def _is_in_use(agent: Agent) -> bool:
    return tmux.has_recent_input(_find_pane(agent))


def _find_pane(agent: Agent) -> tmux.Pane:
    return tmux.find_agent_pane(agent.name, agent.tmux_pane, agent.pid)
