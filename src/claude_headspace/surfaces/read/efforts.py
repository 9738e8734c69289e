"""Efforts and tasks: lists, details, and which effort a request means.

An effort is found by its id. Without one it follows from the directory and environment of the request, as for a hook
(`kernel/effort/resolve`). Only the host of an effort can change it; every daemon of a shared journal can show it.
"""

import os
from collections.abc import Mapping

import msgspec

from claude_headspace.clients.environment import session_in
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort.model import Effort
from claude_headspace.kernel.effort.resolve import has_live_client, is_within, resolve
from claude_headspace.kernel.effort.views import EffortStory, EffortView, TaskView, effort_story, effort_view, task_view
from claude_headspace.ports import Reader

MIN_PREFIX_LENGTH = 4

Env = Mapping[str, str]


class EffortList(msgspec.Struct, frozen=True):
    """Efforts, the newest first, and all tasks."""

    efforts: list[EffortView]
    tasks: list[TaskView]


class EffortQueries:
    """Reads efforts and tasks."""

    def __init__(self, reader: Reader, host: str) -> None:
        self._reader = reader
        self._host = host

    def of_this_host(self, *, only_active: bool = True) -> list[Effort]:
        """The efforts of this host."""
        return [each for each in self._reader.efforts(only_active=only_active) if each.host == self._host]

    def list_all(self, *, only_active: bool, directory: str | None = None) -> EffortList:
        """Efforts of every host, the newest first, and all tasks. `directory`: only the efforts of this host there."""
        efforts = self._reader.efforts(only_active=only_active)
        if directory is not None:
            efforts = [effort for effort in efforts if effort.host == self._host and _is_near(effort, directory)]
        active = {effort.task_id for effort in self._reader.efforts()}
        tasks = [task_view(task, active=task.id in active) for task in self._reader.tasks()]
        return EffortList([effort_view(effort) for effort in efforts], tasks)

    def details(self, effort: Effort) -> EffortStory:
        """An effort with its sessions and messages."""
        return effort_story(effort, self._reader.effort_windows(effort.id), self._reader.effort_messages(effort.id))

    def find(self, reference: str, *, any_host: bool = False) -> Effort:
        """The effort with this id, or the only one whose id starts with the reference; of this host or of any."""
        exact = self._reader.effort(reference)
        if exact is not None and (any_host or exact.host == self._host):
            return exact
        known = self._reader.efforts(only_active=False) if len(reference) >= MIN_PREFIX_LENGTH else []
        prefixed = [each for each in known if each.id.startswith(reference) and (any_host or each.host == self._host)]
        if len(prefixed) == 1:
            return prefixed[0]
        message = f"There is no effort {reference[:100]}."
        raise BadRequest("unknown_effort", message, "`headspace effort list --all` shows all efforts.", status=404)

    def find_for(self, reference: str | None, directory: str | None, env: Env) -> Effort:
        """The effort that a request names, or the one of the agent and directory that it comes from."""
        if reference:
            return self.find(reference)
        agent = self.agent_of(env)
        running = {each.id for each in self._reader.agents() if has_live_client(each)} if agent else set()
        found = resolve(
            self.of_this_host(),
            directory=os.path.normpath(directory) if directory else None,
            owner=env.get("AGENT_ID") or None,
            agent_id=agent.id if agent else None,
            is_alive=running.__contains__,
        )
        if found is None:
            raise BadRequest(
                "no_effort",
                "There is no active effort here.",
                "Start one: `headspace effort start SKILL`. Or name one with `-e ID`: `headspace effort list --all`.",
                status=404,
            )
        return found

    def agent_of(self, env: Env) -> Agent | None:
        """The agent that a request comes from, by its client's session."""
        session = session_in(env)
        if not session:
            return None
        return next(
            (each for each in self._reader.agents() if each.session and each.session.client_id == session), None
        )


def _is_near(effort: Effort, directory: str) -> bool:
    """Whether an effort is of the project around a directory, or of a task below it."""
    return is_within(directory, effort.project_root) or is_within(effort.task_dir, directory)
