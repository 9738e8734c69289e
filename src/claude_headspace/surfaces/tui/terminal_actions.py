"""The hands of a terminal: tmux for looking, the daemon for acting. The desktop is the daemon's own to call on."""

import os
import sys
import uuid
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from claude_headspace.config import Paths, find_paths, load_settings
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.outputs import tmux
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.launch.start_client import Job, open_window, resume_target, tmux_name
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.text.labels import interrupt_result, send_result, wait_text
from claude_headspace.surfaces.tui.actions import Done


class TerminalHands:
    """For one terminal, in or outside of tmux."""

    def __init__(self, places: Paths | None = None, env: Mapping[str, str] = os.environ) -> None:
        self._places = places or find_paths()
        self._env = env

    def _client(self) -> ApiClient:
        return ApiClient.local(self._places, via="tui")

    def jump(self, agent: Json) -> Done:
        """Bring the agent's pane before the user."""
        self._refuse_elsewhere(agent)
        if agent["state"] == "ended":
            name = agent["name"]
            raise BadRequest("agent_ended", f"{name} has ended.", f"`headspace resume {name}` brings it back.")
        pane = tmux.find_agent_pane(agent["name"], agent["tmux"]["pane"], agent["pid"], self._env)
        return Done("", tmux.show_pane(pane, self._env))

    def send(self, agent: Json, text: str) -> Done:
        """Type a text to the agent, by the daemon."""
        return Done(send_result(self._client().send(agent["id"], text, uuid.uuid4().hex)))

    def answer(self, agent: Json, wait: Json, answer: dict[str, Any]) -> Done:
        """Answer what the agent waits for, by the daemon."""
        done = self._client().answer(wait["id"], answer)["answered"]
        return Done(f"{done['words'].capitalize() if done else 'Answered'}: {agent['name']} {wait_text(wait)}")

    def interrupt(self, agent: Json) -> Done:
        """Press Esc in the agent's terminal, by the daemon."""
        return Done(interrupt_result(self._client().interrupt(agent["id"])))

    def resume(self, agent: Json) -> Done:
        """Bring an ended agent back: in a new window of the tmux that we are in, else here."""
        _, directory, _ = resume_target(agent, load_settings(self._places).host_name)
        arguments = ["resume", agent["id"]]
        if not self._env.get("TMUX"):
            return Done("", [sys.executable, "-m", "claude_headspace", *arguments])
        open_window(self._places, tmux_name(agent["name"]), Job(arguments, dict(self._env)), directory)
        return Done(f"{agent['name']} comes back in a new window.")

    def seen(self, agent: Json) -> None:
        """Somebody has looked at it; that nobody hears of it does no harm."""
        with suppress(HeadspaceError):
            self._client().mark_seen(agent["id"])

    def call(self, agent: Json) -> bool:
        """Whether the bell should ring: not if the agent's own pane is before the user."""
        with suppress(HeadspaceError):
            pane = tmux.find_agent_pane(agent["name"], agent["tmux"]["pane"], agent["pid"], self._env)
            if tmux.is_visible(pane):
                return False
        return True

    def _refuse_elsewhere(self, agent: Json) -> None:
        here = load_settings(self._places).host_name
        if agent["host"] != here:
            raise BadRequest(
                "elsewhere", f"{agent['name']} runs on {agent['host']}, and this is {here}.", "Open a terminal there."
            )
