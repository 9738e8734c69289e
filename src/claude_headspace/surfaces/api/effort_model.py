"""Efforts as surfaces read them: which there are, which one is meant, and all of one. It changes nothing.

What is meant follows from who asks and where, as for a hook (`kernel/effort/resolve`), unless it is named. Acting is
for the machine that an effort belongs to; every daemon of a journal shows all of them.
"""

import os
from collections.abc import Mapping

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort.model import Effort
from claude_headspace.kernel.effort.resolve import is_at_work, resolve
from claude_headspace.kernel.effort.views import (
    EffortStory,
    EffortView,
    TaskView,
    effort_story,
    effort_view,
    task_view,
)
from claude_headspace.ports import Reader

SHORTEST_PREFIX = 4

Env = Mapping[str, str]


class EffortList(msgspec.Struct, frozen=True):
    """Efforts, the newest first, and every task."""

    efforts: list[EffortView]
    tasks: list[TaskView]


class EffortModel:
    """Reads efforts and tasks."""

    def __init__(self, reader: Reader, host: str) -> None:
        self._reader = reader
        self._host = host

    def ours(self, *, only_active: bool = True) -> list[Effort]:
        """Efforts of this machine: others serve their own."""
        return [each for each in self._reader.efforts(only_active=only_active) if each.host == self._host]

    def listed(self, *, only_active: bool) -> EffortList:
        """Efforts, the newest first, and the tasks that there are."""
        found = self._reader.efforts(only_active=only_active)
        busy = {effort.task_id for effort in self._reader.efforts()}
        tasks = [task_view(task, active=task.id in busy) for task in self._reader.tasks()]
        return EffortList([effort_view(effort) for effort in found], tasks)

    def story(self, effort: Effort) -> EffortStory:
        """All of one effort."""
        return effort_story(effort, self._reader.effort_windows(effort.id), self._reader.effort_messages(effort.id))

    def named(self, reference: str, *, everywhere: bool = False) -> Effort:
        """The effort with this id, or the only one whose id begins so; `everywhere`: on any machine."""
        exact = self._reader.effort(reference)
        if exact is not None and (everywhere or exact.host == self._host):
            return exact
        known = self._reader.efforts(only_active=False) if len(reference) >= SHORTEST_PREFIX else []
        beginning = [
            each for each in known if each.id.startswith(reference) and (everywhere or each.host == self._host)
        ]
        if len(beginning) == 1:
            return beginning[0]
        raise BadRequest(
            "unknown_effort",
            f"There is no effort {reference[:100]}.",
            "`headspace effort list --all` shows them.",
            status=404,
        )

    def meant(self, reference: str | None, directory: str | None, env: Env) -> Effort:
        """The effort that a request is about: the one it names, else the one of who asks and where."""
        if reference:
            return self.named(reference)
        agent = self.caller(env)
        living = {each.id for each in self._reader.agents() if is_at_work(each)} if agent else set()
        found = resolve(
            self.ours(),
            directory=os.path.normpath(directory) if directory else None,
            owner=env.get("AGENT_ID") or None,
            agent_id=agent.id if agent else None,
            is_alive=living.__contains__,
        )
        if found is None:
            raise BadRequest(
                "no_effort",
                "There is no active effort here.",
                "Begin one with `headspace effort start SKILL`, or name one: `headspace effort list --all`.",
                status=404,
            )
        return found

    def caller(self, env: Env) -> Agent | None:
        """The agent that a request comes from, by its client's session."""
        session = env.get("CLAUDE_CODE_SESSION_ID")
        if not session:
            return None
        living = self._reader.agents()
        return next((each for each in living if each.session and each.session.client_id == session), None)
