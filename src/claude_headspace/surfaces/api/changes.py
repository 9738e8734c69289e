"""What an agent changed: from its tool calls, and from the repository on its machine.

The daemon on the agent's machine reads the repository. If it cannot, the changes by tool calls are returned with the
reason.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import msgspec

from claude_headspace.engine.remote_actions import Action, RemoteActions
from claude_headspace.errors import HeadspaceError
from claude_headspace.inputs.repository.changes import Redact, RepositoryChanges, RepositoryQuery, read_changes
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.changes.assemble import combine
from claude_headspace.kernel.changes.views import ChangesView, commit_views, limited_files
from claude_headspace.surfaces.read.changes import Scope, ToolChanges
from claude_headspace.surfaces.read.model import ReadModel

ACTION = "repository_changes"
MAX_THREADS = 2
MAX_REMOTE_CHARACTERS = 256 * 1024
"""How long the diffs from another machine may be together: they pass through the log."""


class RepositoryReader:
    """Reads the repositories of this host's agents, in threads of its own: a file system can be slow."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="git")

    async def read(self, agent: Agent, action: Action) -> RepositoryChanges:
        """What changed in the agent's repository."""
        query = msgspec.json.decode(action.text, type=RepositoryQuery)
        read = partial(read_changes, agent.root, query, self._redact)
        return await asyncio.get_running_loop().run_in_executor(self._threads, read)


class Changes:
    """Assembles the changes of agents."""

    def __init__(self, read: ReadModel, remote_actions: RemoteActions, host: str) -> None:
        self._read = read
        self._remote_actions = remote_actions
        self._host = host

    async def view(self, reference: str, command: str | None, paths: frozenset[str]) -> ChangesView:
        """The changes of an agent or of one of its commands; only these files, if given."""
        scope = await asyncio.to_thread(self._scope, reference, command)
        tools, repository = await asyncio.gather(
            asyncio.to_thread(self._read.changes.by_tools, scope), self._repository(scope)
        )
        return _view(scope, tools, repository, paths)

    def _scope(self, reference: str, command: str | None) -> Scope:
        return self._read.changes.scope(self._read.agents.find(reference), command)

    async def _repository(self, scope: Scope) -> RepositoryChanges:
        start_commit = await asyncio.to_thread(self._read.changes.start_commit, scope.agent)
        query = RepositoryQuery(
            since=scope.since,
            until=scope.until,
            start_commit=start_commit,
            is_command=scope.command is not None,
            max_characters=None if scope.agent.host == self._host else MAX_REMOTE_CHARACTERS,
        )
        action = Action(ACTION, "headspace", "api", msgspec.json.encode(query).decode())
        try:
            return await self._remote_actions.do(scope.agent, action, RepositoryChanges)
        except HeadspaceError as error:
            return RepositoryChanges(since_commit=start_commit, problem=error.message)


def _view(scope: Scope, tools: ToolChanges, repository: RepositoryChanges, paths: frozenset[str]) -> ChangesView:
    is_command = scope.command is not None
    known = repository.digests
    changed_since = {path for path, digest in tools.digests.items() if known.get(path, digest) != digest}
    combined = combine(tools.files, repository.files, is_command=is_command, changed_since=changed_since)
    files = limited_files(combined, paths)
    return ChangesView(
        agent_id=scope.agent.id,
        command_id=scope.command.id if scope.command is not None else None,
        since_commit=repository.since_commit,
        head_commit=repository.head_commit,
        commits=commit_views(repository.commits),
        files=files,
        added=sum(file.added for file in files),
        removed=sum(file.removed for file in files),
        complete=tools.complete and all(file.complete for file in files),
        left_out=sum(file.left_out for file in files),
        git_problem=repository.problem,
    )
