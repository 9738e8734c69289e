"""What an agent changed: from its tool calls, and from the repository on its machine."""

import asyncio

from claude_headspace.kernel.changes.views import ChangesView, commit_views, file_views
from claude_headspace.surfaces.read.changes import Scope
from claude_headspace.surfaces.read.model import ReadModel


class Changes:
    """Assembles the changes of agents."""

    def __init__(self, read: ReadModel) -> None:
        self._read = read

    async def view(self, reference: str, command: str | None, paths: frozenset[str]) -> ChangesView:
        """The changes of an agent or of one of its commands; only these files, if given."""
        scope = await asyncio.to_thread(self._scope, reference, command)
        tools = await asyncio.to_thread(self._read.changes.by_tools, scope)
        files = file_views(tools.files, paths)
        return ChangesView(
            agent_id=scope.agent.id,
            command_id=scope.command.id if scope.command is not None else None,
            since_commit=None,
            head_commit=None,
            commits=commit_views(()),
            files=files,
            added=sum(file.added for file in files),
            removed=sum(file.removed for file in files),
            complete=tools.complete and all(file.complete for file in files),
            left_out=sum(file.left_out for file in files),
            git_problem=None,
        )

    def _scope(self, reference: str, command: str | None) -> Scope:
        return self._read.changes.scope(self._read.agents.find(reference), command)
