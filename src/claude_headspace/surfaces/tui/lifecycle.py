"""Starts, stops and changes agents and their worktrees from `top`: which dialog opens, and what follows."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from textual.screen import Screen

from claude_headspace.clients.catalog import CLIENTS, DEFAULT
from claude_headspace.clients.client import Capability
from claude_headspace.clients.command_lines import program_of
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.launch.detached import NewAgent
from claude_headspace.surfaces.text.clients import limit
from claude_headspace.surfaces.text.formatting import Json, clean_text
from claude_headspace.surfaces.text.worktrees import distance_text
from claude_headspace.surfaces.tui.actions import ActionResult, Actions
from claude_headspace.surfaces.tui.forms import Choice, Field, Form, Question
from claude_headspace.surfaces.tui.key_guard import KeyGuard

Given = Mapping[str, str]
Open = Callable[[Screen[Any], Callable[[Any], None]], None]
"""Shows a dialog, unless another one is open."""
Run = Callable[[Callable[[], ActionResult], Callable[[HeadspaceError], None] | None], None]
"""Does something in a thread and shows the result. The last argument is called if it is refused."""


WORKTREE_KEYS = {"m": "merge", "r": "rebase", "d": "remove"}


def _distance(worktree: Json) -> Json:
    return {name: worktree[name] for name in ("base", "ahead", "behind", "uncommitted")}


class Host(NamedTuple):
    """What the screen does for the keys."""

    open_dialog: Open
    run: Run
    say: Callable[[str], None]
    guard: KeyGuard


class Lifecycle:
    """Asks, and acts."""

    def __init__(self, actions: Actions, host: Host) -> None:
        self._actions = actions
        self._host = host

    def new(self, agent: Json | None) -> None:
        """Ask for a new agent. The selected one suggests the project and the client."""
        client = agent["client"] if agent is not None and agent["client"] in CLIENTS else DEFAULT
        root = (agent["project"]["root"] if agent is not None else "") or str(Path.cwd())
        self._ask_for_new({"directory": root, "client": client, "model": "", "permission_mode": "", "prompt": ""})

    def _ask_for_new(self, given: Given, problem: str = "") -> None:
        modes = list(dict.fromkeys(mode for name in CLIENTS for mode in program_of(name).permission_modes))
        fields = (
            Field("directory", "project", given["directory"]),
            Field("client", "client", given["client"], list(CLIENTS)),
            Field("model", "model", given["model"]),
            Field("permission_mode", "permissions", given["permission_mode"], modes),
            Field("prompt", "prompt", given["prompt"]),
        )
        self._host.open_dialog(Form("new agent", fields, problem), self._start)

    def _start(self, given: Given | None) -> None:
        if given is None:
            return
        wanted = NewAgent(
            directory=str(Path(given["directory"]).expanduser()),
            client=given["client"],
            prompt=given["prompt"],
            model=given["model"],
            permission_mode=given["permission_mode"],
        )
        self._host.say("Starting an agent…")
        self._host.run(
            partial(self._actions.new, wanted), lambda error: self._ask_for_new(given, clean_text(error.message))
        )

    def fork(self, agent: Json) -> None:
        """Ask for the first prompt of the fork."""
        if refusal := limit(agent, Capability.FORK):
            self._host.say(refusal)
            return
        title = f"continue the conversation of {agent['name']} as another agent"
        self._ask(title, Field("text", "prompt"), partial(self._fork, agent))

    def _fork(self, agent: Json, prompt: str) -> None:
        self._host.say(f"Continuing the conversation of {agent['name']}…")
        self._host.run(partial(self._actions.fork, agent, prompt), None)

    def rename(self, agent: Json) -> None:
        """Ask for another name."""
        field = Field("text", "name", agent["name"])
        self._ask(f"rename {agent['name']}", field, lambda name: self._rename(agent, name))

    def _rename(self, agent: Json, name: str) -> None:
        if name and name != agent["name"]:
            self._host.run(partial(self._actions.rename, agent, name), None)

    def note(self, agent: Json) -> None:
        """Ask for a note. An empty one removes it."""
        field = Field("text", "note", agent["note"]["text"] if agent["note"] else "")
        title = f"note on {agent['name']}"
        self._ask(title, field, lambda text: self._host.run(partial(self._actions.note, agent, text), None))

    def stop(self, agent: Json) -> None:
        """Ask whether to end the client."""
        if agent["state"] == "ended":
            self._host.say(f"{agent['name']} has ended. Press A to archive it.")
            return
        text = f"Stop {agent['name']} ({agent['state']}, in {agent['project']['name']})?"
        self._confirm(text, partial(self._actions.stop, agent), f"Stopping {agent['name']}…")

    def archive(self, agent: Json) -> None:
        """Ask whether to take the ended agent off the board."""
        if agent["state"] != "ended":
            self._host.say(f"{agent['name']} is still running. Press X to stop it.")
            return
        text = f"Take {agent['name']} off the board? Nothing is deleted."
        self._confirm(text, partial(self._actions.archive, agent), "")

    def worktree(self, agent: Json) -> None:
        """Ask what to do with the agent's worktree, and then whether to do it."""
        worktree = agent.get("worktree")
        if not worktree or worktree["removed"]:
            self._host.say(f"{agent['name']} does not work in a git worktree. `headspace run --worktree` starts one.")
            return
        base = worktree["base"] or "its base"
        choices = {"m": f"merge into {base}", "r": f"rebase onto {base}", "d": "remove the worktree and the branch"}
        title = f"{agent['branch']}: {distance_text(**_distance(worktree))}"
        self._host.open_dialog(Choice(title, choices), partial(self._change_worktree, agent, choices))

    def _change_worktree(self, agent: Json, choices: Mapping[str, str], key: str | None) -> None:
        if key is not None:
            text = f"{agent['branch']}: {choices[key]}?"
            self._confirm(text, partial(self._actions.worktree, agent, WORKTREE_KEYS[key]), "Running git…")

    def _ask(self, title: str, field: Field, then: Callable[[str], None]) -> None:
        self._host.open_dialog(Form(title, (field,)), lambda given: then(given["text"]) if given is not None else None)

    def _confirm(self, text: str, work: Callable[[], ActionResult], doing: str) -> None:
        def finish(confirmed: bool | None) -> None:
            if confirmed:
                if doing:
                    self._host.say(doing)
                self._host.run(work, None)

        self._host.open_dialog(Question(text, self._host.guard), finish)
