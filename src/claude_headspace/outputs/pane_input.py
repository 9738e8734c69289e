"""Input to an agent's pane: types text and presses keys, one input at a time per pane.

Text is typed only if the client is ready for a prompt, and only on this machine. The `require_…` functions check the
recorded state of the agent. `outputs/tmux.py` then checks that the pane still belongs to the client.

Text is typed only into an empty input box. A draft in it is never changed, unless the requester wants to keep it: then
the client stashes the draft, and restores it after the prompt. Not every client can.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability
from claude_headspace.clients.command_lines import program_of
from claude_headspace.clients.input_box import STASH_KEY, InputBox, is_client_command, read_input_box
from claude_headspace.clients.screen import SHELL_MODE
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.outputs import tmux
from claude_headspace.outputs.tmux import Refused

MAX_TEXT_LENGTH = 50_000
MAX_QUOTE_LENGTH = 200
"""How many characters of a draft a refusal quotes."""
SCREEN_SECONDS = 2.0
"""How long the client may take to show the effect of a key."""


def require_local(agent: Agent, host: str) -> None:
    """Raise `Refused` if the agent runs on another machine. Daemons with a shared journal use remote actions."""
    if agent.host != host:
        raise Refused(
            "elsewhere",
            f"{agent.name} runs on {agent.host}, not on {host}.",
            f"Use Headspace on {agent.host}.",
        )


def _may_await_prompt(agent: Agent) -> bool:
    """Whether the client may be ready although it has not reported: it does so only with its first prompt."""
    return agent.wrapper_pid is not None and not program_of(agent.client).reports_at_start


def _has_not_reported(agent: Agent) -> bool:
    """Whether the client was started or resumed and has not reported yet."""
    return agent.wrapper_pid is not None and agent.pid is None


def is_starting(agent: Agent) -> bool:
    """Whether the first report of the client is still missing, and a prompt has to wait for it."""
    return agent.state is AgentState.STARTING and not _may_await_prompt(agent)


def shows_dialog(agent: Agent) -> bool:
    """Whether the client shows a dialog. A question in plain text is none: its turn ended."""
    return any(not wait.asked_in_text for wait in agent.waits)


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
        is_starting,
        "not_ready",
        "{name} has not reported yet.",
        "Try again when it is idle.",
    ),
    (
        lambda agent: shows_dialog(agent) and not agent.tmux_pane,
        "at_dialog",
        "{name} waits at a dialog: the text would be entered as an answer.",
        "`headspace show {name}` says how to answer it.",
    ),
    (
        shows_dialog,
        "at_dialog",
        "{name} waits at a dialog: the text would be entered as an answer.",
        "`headspace jump {name}` shows its terminal.",
    ),
)


def require_interruptible(agent: Agent) -> None:
    """Raise `Refused` if Esc would stop nothing."""
    if agent.ended_at is None and (shows_dialog(agent) or agent.state is AgentState.WORKING):
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

    async def check_input(self, agent: Agent, *, keep_draft: bool = False) -> None:
        """Raise `Refused` if the agent has no pane, or a draft in its input box. Used before an act is recorded."""
        await asyncio.to_thread(lambda: _check_box(agent, _find_pane(agent), keep_draft=keep_draft))

    async def check_pane(self, agent: Agent) -> None:
        """Raise `Refused` if the agent has no pane. Used before an act is recorded."""
        await asyncio.to_thread(_find_pane, agent)

    async def refuse_while_typing(self, agent: Agent) -> None:
        """Raise `Refused` if a person is typing in the agent's pane, or if it has none."""
        if await asyncio.to_thread(lambda: tmux.has_recent_input(_find_pane(agent))):
            raise Refused("in_use", f"Someone is typing in the terminal of {agent.name}.", "Try again later.")

    async def is_in_use(self, agent: Agent) -> bool:
        """Whether a person is typing in the agent's pane, or has left a draft there, or its input box is hidden.

        Raises `Refused` if the pane is not the agent's.
        """
        return await asyncio.to_thread(_is_in_use, agent)

    async def type_text(self, agent: Agent, text: str, *, keep_draft: bool = False) -> bool:
        """Check pane and input box again, then type the text and Enter. Returns whether a draft was stashed."""
        return await asyncio.to_thread(_type_text, agent, text, keep_draft)

    def is_submitted(self, agent: Agent, text: str) -> bool:
        """Whether the input box no longer contains a text that was typed into it. A client that ended has none."""
        try:
            box = _read_box(agent, _find_pane(agent))
        except Refused:
            return True
        return box is None or box.draft.split() != text.split()

    async def restore_draft(self, agent: Agent) -> bool:
        """Wait until the client has restored the stashed draft; else press the key. Returns whether it is back."""
        try:
            return await asyncio.to_thread(_restore_draft, agent)
        except Refused:
            return False  # the client ended

    async def interrupt(self, agent: Agent) -> None:
        """Check that the pane is still the client's, then press the keys that end its turn or its dialog."""
        program = program_of(agent.client)
        keys = program.dialog_keys if shows_dialog(agent) else program.interrupt_keys
        await asyncio.to_thread(lambda: tmux.press_keys(_find_pane(agent), keys))


def _is_in_use(agent: Agent) -> bool:
    pane = _find_pane(agent)
    if tmux.has_recent_input(pane):
        return True
    box = _read_box(agent, pane)
    return box is None or bool(box.draft)


def _find_pane(agent: Agent) -> tmux.Pane:
    """The pane of the client; of the process that started it while the client has not reported."""
    return tmux.find_agent_pane(agent.name, agent.tmux_pane, agent.pid or agent.wrapper_pid)


# --- the input box ----------------------------------------------------------------------------------------------------


def _read_box(agent: Agent, pane: tmux.Pane) -> InputBox | None:
    return read_input_box(agent.client, tmux.read_screen(pane))


def _check_box(agent: Agent, pane: tmux.Pane, *, keep_draft: bool) -> InputBox:
    """Return the input box if a text can be typed into it, perhaps after its draft is stashed."""
    box = _wait_for(agent, pane, lambda box: box is not None)
    if box is None and _has_not_reported(agent):
        raise Refused(
            "no_input_box",
            f"{agent.name} does not show its input box yet: its client is starting, or asks something at its start.",
            f"Try again in a few seconds. `headspace jump {agent.name}` shows its terminal.",
        )
    if box is None:
        raise Refused(
            "no_input_box",
            f"{agent.name} does not show its input box: a dialog or another view is open.",
            f"`headspace jump {agent.name}` shows its terminal.",
        )
    require_no_draft(agent, box, keep_draft=keep_draft)
    return box


def require_no_draft(agent: Agent, box: InputBox, *, keep_draft: bool) -> None:
    """Raise `Refused` if something is in the input box that cannot be put aside."""
    if box.draft == SHELL_MODE:
        problem = f"{agent.name} is in shell mode: the text would be run as a command. Nothing was typed."
        raise Refused("shell_mode", problem, "Press Esc in its terminal to leave shell mode, then send again.")
    limit = CLIENTS[agent.client].limits.get(Capability.KEEP_DRAFT) if agent.client in CLIENTS else None
    if box.draft and limit is not None:
        raise _draft_refusal(agent, box, f"Send or delete it there. {limit}")
    if box.draft and not keep_draft:
        raise _draft_refusal(agent, box, "Send or delete it there, or use --keep-draft to restore it afterwards.")
    if box.draft and box.has_stash:
        raise _draft_refusal(agent, box, "It cannot be put aside, because the client keeps another draft already.")


def _draft_refusal(agent: Agent, box: InputBox, hint: str) -> Refused:
    quote = box.draft if len(box.draft) <= MAX_QUOTE_LENGTH else f"{box.draft[:MAX_QUOTE_LENGTH]}…"
    return Refused("draft", f"{agent.name} has a draft in its input box: “{quote}”. Nothing was typed.", hint)


def _type_text(agent: Agent, text: str, keep_draft: bool) -> bool:
    pane = _find_pane(agent)
    box = _check_box(agent, pane, keep_draft=keep_draft)
    if box.draft:
        _stash_draft(agent, pane, box)
    paste = program_of(agent.client).pastes_prompts and not is_client_command(text)
    tmux.insert_text(pane, text, paste=paste)
    _wait_for(agent, pane, lambda now: now is not None and bool(now.draft))
    time.sleep(tmux.ENTER_DELAY_SECONDS)
    tmux.press_key(_find_pane(agent), "Enter")
    return bool(box.draft)


def _stash_draft(agent: Agent, pane: tmux.Pane, box: InputBox) -> None:
    tmux.press_key(pane, STASH_KEY)
    after = _wait_for(agent, pane, lambda now: now is not None and not now.draft)
    if after is None or after.draft:
        raise _draft_refusal(agent, box, "The client did not put it aside. Send or delete it there.")


def _restore_draft(agent: Agent) -> bool:
    pane = _find_pane(agent)
    box = _wait_for(agent, pane, lambda now: now is not None and bool(now.draft))
    if box is not None and box.has_stash and not box.draft:
        tmux.press_key(pane, STASH_KEY)
        box = _wait_for(agent, pane, lambda now: now is not None and bool(now.draft))
    return box is not None and bool(box.draft)


def _wait_for(agent: Agent, pane: tmux.Pane, is_done: Callable[[InputBox | None], bool]) -> InputBox | None:
    """Read the input box until it is as wanted or time is up: the client draws its screen in steps."""
    deadline = time.monotonic() + SCREEN_SECONDS
    while not is_done(box := _read_box(agent, pane)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return box
