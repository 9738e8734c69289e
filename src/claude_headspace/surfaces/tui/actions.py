"""What keys do outside the screen. In a terminal tmux shows panes, and the daemon does the rest."""

import os
import sys
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import msgspec

from claude_headspace.clients.client import Capability
from claude_headspace.config import Paths, find_paths, load_settings
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.outputs import tmux
from claude_headspace.surfaces.cli.presentation.requests import suggestion_text
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.board_view import load_view, save_view
from claude_headspace.surfaces.client.preview import Preview, process_in_pane, read_preview
from claude_headspace.surfaces.client.saved_prompts import SavedPrompts
from claude_headspace.surfaces.client.several_agents import send_to_all
from claude_headspace.surfaces.launch.demo import refuse_in_demo
from claude_headspace.surfaces.launch.detached import NewAgent, local_launcher
from claude_headspace.surfaces.launch.start_client import (
    Job,
    closed_terminal_hint,
    open_window,
    resume_target,
    tmux_name,
)
from claude_headspace.surfaces.text.board_order import BoardView
from claude_headspace.surfaces.text.clients import limit
from claude_headspace.surfaces.text.formatting import Json, clean_json
from claude_headspace.surfaces.text.labels import (
    answer_result,
    interrupt_result,
    may_ask_at_start,
    send_result,
    stop_result,
)

MAX_HITS = 30
"""How many search results are loaded."""


class ActionResult(NamedTuple):
    """A message for the user. `foreground` is a program that must run in the terminal."""

    message: str
    foreground: Sequence[str] = ()


class Actions(Protocol):
    """Actions on an agent. They may block, and raise a `HeadspaceError` with a hint."""

    def jump(self, agent: Json) -> ActionResult:
        """Show the agent's tmux pane."""

    def send(self, agent: Json, text: str, *, when_idle: bool = False) -> ActionResult:
        """Type a prompt into the agent's terminal, now or when it is idle."""

    def send_all(self, agents: Sequence[Json], text: str, *, when_idle: bool = False) -> list[str]:
        """Send a prompt to several agents. Returns the result of each."""

    def cancel_prompt(self, agent: Json, prompt: Json) -> ActionResult:
        """Cancel a pending prompt."""

    def saved_prompts(self) -> list[str]:
        """The texts of the saved prompts."""

    def answer(self, agent: Json, wait: Json, answer: dict[str, Any]) -> ActionResult:
        """Answer a wait."""

    def request(self, wait: Json, *, everything: bool = False) -> Json:
        """A wait with its complete request, as it arrived."""

    def interrupt(self, agent: Json) -> ActionResult:
        """Press Esc in the agent's terminal."""

    def resume(self, agent: Json) -> ActionResult:
        """Resume an ended agent."""

    def new(self, wanted: NewAgent) -> ActionResult:
        """Start an agent in a tmux session of its own."""

    def fork(self, agent: Json, prompt: str) -> ActionResult:
        """Continue the agent's conversation as another agent."""

    def stop(self, agent: Json) -> ActionResult:
        """End the agent's client."""

    def rename(self, agent: Json, name: str) -> ActionResult:
        """Give the agent another name."""

    def note(self, agent: Json, text: str) -> ActionResult:
        """Set the agent's note; an empty text removes it."""

    def archive(self, agent: Json) -> ActionResult:
        """Take the ended agent off the board."""

    def worktree(self, agent: Json, what: str) -> ActionResult:
        """Merge, rebase or remove the agent's worktree."""

    def changes(self, agent: Json) -> Json:
        """What the agent changed."""

    def preview(self, agent: Json) -> Preview:
        """What the agent shows now."""

    def search(self, text: str) -> Json:
        """Search results, best first."""

    def find(self, agent_id: str) -> Json:
        """An agent by its id, also if it is not on the board."""

    def load_view(self) -> BoardView:
        """How the user wants to see the board."""

    def save_view(self, view: BoardView) -> None:
        """Store how the user wants to see the board."""

    def mark_seen(self, agent: Json) -> None:
        """Record that the user has looked at the agent."""

    def should_ring(self, agent: Json) -> bool:
        """Whether the bell should ring. False if the user is looking at the agent's pane."""


def send_refusal(agent: Json) -> BadRequest | None:
    """Why the agent would not accept a prompt now; None if it would."""
    if agent["state"] == "ended":
        return BadRequest("agent_ended", f"{agent['name']} has ended.", "Press r to resume it.")
    if refusal := limit(agent, Capability.SEND):
        return BadRequest("not_supported", refusal, "Press enter to jump there.")
    if _shows_dialog(agent):
        return BadRequest(
            "at_dialog",
            f"{agent['name']} waits at a dialog: a prompt would be entered as an answer.",
            "Press a to answer it.",
        )
    return None


ON_AGENT = ("jump", "send", "answer", "resume", "toggle_why", "changes", "toggle_preview")
"""Actions of the footer that need an agent."""


def useless_actions(agent: Json | None, *, marked: bool, now: datetime) -> set[str]:
    """The actions of the footer that would do nothing with the selected agent. `marked`: prompts go to other agents."""
    if agent is None:
        return {each for each in ON_AGENT if each != "send" or not marked}
    has_ended = agent["state"] == "ended"
    is_useless = {
        "jump": has_ended,
        "send": not marked and send_refusal(agent) is not None,
        "answer": not agent["waits"] and not may_ask_at_start(agent, now),
        "resume": not has_ended,
        "changes": bool(limit(agent, Capability.CHANGES)),
    }
    return {action for action, useless in is_useless.items() if useless}


def interrupt_refusal(agent: Json) -> BadRequest | None:
    """Why the agent cannot be interrupted now; None if it can."""
    if refusal := limit(agent, Capability.INTERRUPT):
        return BadRequest("not_supported", refusal, "Press enter to jump there.")
    if agent["state"] != "working" and not _shows_dialog(agent):
        return BadRequest("at_rest", f"{agent['name']} is doing nothing that could be interrupted.", "")
    return None


def _shows_dialog(agent: Json) -> bool:
    """Whether the agent waits at a dialog. A question in plain text is none."""
    return any(wait["kind"] != "question" or wait["questions"] or wait["tool"] for wait in agent["waits"])


def answer_message(name: str, wait: Json, answer: Json) -> str:
    """What was answered, and what was granted with it."""
    granted = [suggestion_text(each) for each in wait["suggestions"] if each["id"] in answer.get("grant", ())]
    result = answer_result(name, wait, answer)
    return f"{result}. Grants: {'; '.join(granted)}" if granted else result


class TerminalActions:
    """Actions for one terminal, inside or outside tmux."""

    def __init__(self, paths: Paths | None = None, env: Mapping[str, str] = os.environ) -> None:
        self._paths = paths or find_paths()
        self._env = env

    def _client(self) -> ApiClient:
        return ApiClient.local(self._paths, via="tui")

    def jump(self, agent: Json) -> ActionResult:
        refuse_in_demo(self._paths)
        self._require_local(agent)
        if agent["state"] == "ended":
            name = agent["name"]
            raise BadRequest("agent_ended", f"{name} has ended.", f"Use `headspace resume {name}`.")
        return ActionResult("", tmux.show_pane(self._find_pane(agent), self._env))

    def _find_pane(self, agent: Json) -> tmux.Pane:
        """The pane of an agent that runs. If none of its processes is known, the pane that it was started in."""
        pane_id, pid = agent["tmux"]["pane"], process_in_pane(agent)
        if pane_id and pid is None:
            return tmux.find_pane(tmux.server_socket(None, self._env), pane_id)
        try:
            return tmux.find_agent_pane(agent["name"], pane_id, pid, self._env)
        except tmux.Refused as refusal:
            hint = closed_terminal_hint(agent) if refusal.code == "no_pane" else ""
            raise BadRequest(refusal.code, refusal.message, f"{refusal.hint} {hint}".strip()) from refusal

    def send(self, agent: Json, text: str, *, when_idle: bool = False) -> ActionResult:
        refuse_in_demo(self._paths)
        sent = self._client().send(agent["id"], text, uuid.uuid4().hex, when_idle=when_idle)
        return ActionResult(send_result(sent))

    def send_all(self, agents: Sequence[Json], text: str, *, when_idle: bool = False) -> list[str]:
        refuse_in_demo(self._paths)
        return [result.text for result in send_to_all(self._client().send, agents, text, when_idle=when_idle)]

    def cancel_prompt(self, agent: Json, prompt: Json) -> ActionResult:
        done = self._client().cancel_prompt(agent["id"], prompt["id"])
        return ActionResult(f"The prompt to {done['agent']} was {done['status']}.")

    def saved_prompts(self) -> list[str]:
        saved = SavedPrompts(self._paths)
        return [saved.read(name) for name in saved.names()]

    def answer(self, agent: Json, wait: Json, answer: dict[str, Any]) -> ActionResult:
        self._client().answer(wait["id"], answer)
        return ActionResult(answer_message(agent["name"], clean_json(wait), clean_json(answer)))

    def request(self, wait: Json, *, everything: bool = False) -> Json:
        return self._client().wait(wait["id"], all=everything)

    def interrupt(self, agent: Json) -> ActionResult:
        refuse_in_demo(self._paths)
        return ActionResult(interrupt_result(self._client().interrupt(agent["id"])))

    def resume(self, agent: Json) -> ActionResult:
        """Resume an ended agent in a new tmux window; outside tmux in this terminal."""
        refuse_in_demo(self._paths)
        _, directory, _ = resume_target(agent, load_settings(self._paths).host_name)
        arguments = ["resume", agent["id"]]
        if not self._env.get("TMUX"):
            return ActionResult("", [sys.executable, "-m", "claude_headspace", *arguments])
        open_window(self._paths, tmux_name(agent["name"]), Job(arguments, dict(self._env)), directory)
        return ActionResult(f"{agent['name']} resumes in a new window.")

    def new(self, wanted: NewAgent) -> ActionResult:
        refuse_in_demo(self._paths)
        made = local_launcher(self._paths, self._client()).new(wanted)
        return ActionResult(f"{made['name']} was started in a tmux session of its own.")

    def fork(self, agent: Json, prompt: str) -> ActionResult:
        refuse_in_demo(self._paths)
        wanted = NewAgent(directory="", prompt=prompt)
        made = local_launcher(self._paths, self._client()).fork(agent, wanted)
        return ActionResult(f"{made['name']} continues the conversation of {agent['name']}.")

    def stop(self, agent: Json) -> ActionResult:
        refuse_in_demo(self._paths)
        return ActionResult(stop_result(self._client().stop(agent["id"])))

    def rename(self, agent: Json, name: str) -> ActionResult:
        after = self._client().rename(agent["id"], name)
        return ActionResult(f"Renamed {agent['name']} to {after['name']}.")

    def note(self, agent: Json, text: str) -> ActionResult:
        self._client().note(agent["id"], text)
        return ActionResult(f"{agent['name']}: {text}" if text else f"Removed the note of {agent['name']}.")

    def archive(self, agent: Json) -> ActionResult:
        self._client().archive(agent["id"])
        return ActionResult(f"Archived {agent['name']}. `headspace archive --undo {agent['name']}` puts it back.")

    def worktree(self, agent: Json, what: str) -> ActionResult:
        from claude_headspace.surfaces.worktrees.of_agent import (  # noqa: PLC0415  # rarely needed
            WorktreeChange,
            change_worktree,
        )

        return ActionResult(change_worktree(agent, msgspec.convert({"what": what}, WorktreeChange), [agent]))

    def changes(self, agent: Json) -> Json:
        return self._client().changes(agent["id"])

    def preview(self, agent: Json) -> Preview:
        def read_turns(agent_id: str, limit: int) -> list[dict[str, Any]]:
            return self._client().turns(agent_id, limit)  # needed only without a screen

        return read_preview(agent, self._host_name, read_turns, env=self._env)

    def search(self, text: str) -> Json:
        return self._client().search(text, limit=MAX_HITS)

    def find(self, agent_id: str) -> Json:
        return self._client().agent(agent_id)

    def load_view(self) -> BoardView:
        return load_view(self._paths)

    def save_view(self, view: BoardView) -> None:
        """Store a view. Without a writable disk it is valid until the end."""
        with suppress(OSError):
            save_view(self._paths, view)

    def mark_seen(self, agent: Json) -> None:
        """Record that the user has looked at the agent. Errors are ignored."""
        with suppress(HeadspaceError):
            self._client().mark_seen(agent["id"])

    def should_ring(self, agent: Json) -> bool:
        with suppress(HeadspaceError):
            pane = tmux.find_agent_pane(agent["name"], agent["tmux"]["pane"], process_in_pane(agent), self._env)
            if tmux.is_visible(pane):
                return False
        return True

    @cached_property
    def _host_name(self) -> str:
        return load_settings(self._paths).host_name

    def _require_local(self, agent: Json) -> None:
        here = self._host_name
        if agent["host"] != here:
            raise BadRequest(
                "elsewhere",
                f"{agent['name']} runs on {agent['host']}; this machine is {here}.",
                "Open a terminal there.",
            )
