"""Agents: the board, one agent now or in the past, and its turns, commands, sessions, states, waits and tool calls."""

from collections.abc import Mapping, Sequence
from typing import get_args

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.clients.environment import HEADSPACE_ID, TMUX_PANE, WRAPPER_ID, client_pid_in, session_in
from claude_headspace.clients.hooks import hook_names
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.acts import WaitReleased, WaitTaken
from claude_headspace.kernel.agent import Agent, AgentState, Answered, Wait
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.facts import Event, Fact, PermissionAsked, ToolStarted, TurnClosed, TurnStopped
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.text import Time, iso
from claude_headspace.kernel.views.agent import AgentView, agent_view
from claude_headspace.kernel.views.work import CommandView, SessionView, TurnView, command_view, session_view, turn_view
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.kernel.wait.views import WaitView, wait_view
from claude_headspace.outputs.held_hooks import find_answer
from claude_headspace.ports import Clock, EventFilter, Reader
from claude_headspace.surfaces.read.agent_history import UsageView, agent_at, usage
from claude_headspace.surfaces.read.conversation import ConversationView, PageRequest, conversation
from claude_headspace.surfaces.read.projects import matches_reference, resolve_projects
from claude_headspace.surfaces.read.tool_calls import ToolCallView, tool_calls
from claude_headspace.surfaces.text.matching import suggestion

RECENT: Micros = 24 * 3600 * SECOND
"""How long an ended agent stays on the board."""

MIN_PREFIX_LENGTH = 4
MAX_NAME_LENGTH = 100
"""Longer references are not compared with names."""

HOOK_WINDOW: Micros = 60 * SECOND
MAX_HOOKS = 200
"""Where the hook of a wait that a notification opened is searched for."""

_RESULT = WaitTaken | WaitReleased
"""What is recorded when an answer was delivered, or could not be."""
_RESULTS = frozenset(each.__name__ for each in get_args(_RESULT))

_URGENCY = {
    AgentState.WAITING: 0,
    AgentState.ERROR: 1,
    AgentState.WORKING: 2,
    AgentState.STARTING: 3,
    AgentState.IDLE: 4,
    AgentState.ENDED: 5,
}


class StateView(msgspec.Struct, frozen=True):
    """A state that an agent entered, with its evidence."""

    seq: int
    at: Time
    state: str
    waiting_for: str | None
    source: str
    confidence: str
    why: str
    event: str


class AgentQueries:
    """Reads agents."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    # --- the board ---

    def board(
        self,
        *,
        state: str | None = None,
        project: str | None = None,
        client: str | None = None,
        include_all: bool = False,
    ) -> list[AgentView]:
        """Agents, the most urgent state first. Ended agents stay for a day; `include_all` lists all of them.

        Archived agents are only listed with `include_all`.
        """
        return [
            agent_view(agent)
            for agent in self._by_urgency(self.all() if include_all else self._unarchived())
            if state in (None, agent.state.value)
            and client in (None, agent.client)
            and (project is None or matches_reference(agent.project, project))
        ]

    def board_with_transcripts(self) -> list[tuple[AgentView, str | None]]:
        """The board, each agent with the path of its transcript."""
        agents = self._by_urgency(self._unarchived())
        return [(agent_view(agent), agent.session.transcript_path if agent.session else None) for agent in agents]

    def recent(self) -> list[Agent]:
        """Living agents, and those that ended within the last day."""
        return self._reader.agents(ended_after=self._clock() - RECENT)

    def _unarchived(self) -> list[Agent]:
        return [agent for agent in self.recent() if not agent.is_archived]

    def all(self) -> list[Agent]:
        """Every agent in the journal."""
        return self._reader.agents(ended_after=0)

    @staticmethod
    def _by_urgency(agents: Sequence[Agent]) -> list[Agent]:
        return sorted(agents, key=lambda agent: (_URGENCY[agent.state], -agent.last_active_at))

    # --- one agent ---

    def find(self, reference: str) -> Agent:
        """The agent with this id, name, wrapper id or session, or the only one whose id starts with the reference.

        The start of an id has at least 4 characters. Upper and lower case are the same in names. An error suggests
        similar names.
        """
        if (exact := self._reader.agent(reference)) is not None:
            return exact
        if named := self._reader.agents_by_name(reference) or self._reader.agents_by_name(reference.lower()):
            return named[0]
        if (wrapped := self._reader.agent_by_wrapper(reference)) is not None:
            return wrapped
        if (in_session := self._reader.agent_by_session(reference)) is not None:
            return in_session
        prefixed = self._reader.agents_by_id_prefix(reference) if len(reference) >= MIN_PREFIX_LENGTH else []
        if len(prefixed) == 1:
            return prefixed[0]
        if prefixed:
            names = ", ".join(f"{agent.id[:12]} ({agent.name})" for agent in prefixed)
            message = f"Several agent ids start with {reference}: {names}."
            raise BadRequest("ambiguous_agent", message, "Use a longer part of the id, or the name.", status=409)
        known = [agent.name for agent in self.recent()] if len(reference) <= MAX_NAME_LENGTH else []
        hint = " ".join(filter(None, (suggestion(reference, known), "`headspace list` shows all agents.")))
        raise BadRequest("unknown_agent", f"There is no agent {reference}.", hint, status=404)

    def of_session(self, session_id: str) -> Agent | None:
        """The agent that a session of the client belongs to."""
        return self._reader.agent_by_session(session_id)

    def working_on_mission(self, session_id: str) -> Agent | None:
        """The agent of a session; for a client that a mission's worker started (`claude -p`), the worker."""
        agent = self._reader.agent_by_session(session_id)
        if agent is None or agent.mission is not None or not agent.parent_id:
            return agent
        parent = self._reader.agent(agent.parent_id)
        return parent if parent is not None and parent.mission is not None else agent

    def of_environment(self, host: str, env: Mapping[str, str], ancestors: Sequence[int] = ()) -> Agent | None:
        """The living agent of a host that a command was started in, by the command's environment."""
        return agent_of_environment([agent for agent in self._reader.agents() if agent.host == host], env, ancestors)

    def view(self, reference: str) -> AgentView:
        """One agent."""
        return agent_view(self.find(reference))

    def view_at(self, reference: str, time: Micros) -> AgentView:
        """One agent, as it was known at a time."""
        return agent_view(agent_at(self._reader, self.find(reference), time))

    # --- what belongs to an agent ---

    def turns(self, reference: str, limit: int) -> list[TurnView]:
        """The newest turns of an agent."""
        return [turn_view(turn) for turn in self._reader.turns(agent_id=self.find(reference).id, limit=limit)]

    def conversation(self, reference: str, page: PageRequest) -> ConversationView:
        """A page of an agent's conversation: turns with the tool calls between them."""
        return conversation(self._reader, self.find(reference), page)

    def command_turns(self, command_id: str, limit: int) -> list[TurnView]:
        """The newest turns of one command."""
        if self._reader.command(command_id) is None:
            message = f"There is no command {command_id}."
            raise BadRequest("unknown_command", message, "GET /api/agents/{agent}/commands lists them.", status=404)
        return [turn_view(turn) for turn in self._reader.turns(command_id=command_id, limit=limit)]

    def commands(self, reference: str, limit: int) -> list[CommandView]:
        """The newest commands of an agent."""
        return [command_view(command) for command in self._reader.commands(self.find(reference).id, limit)]

    def sessions(self, reference: str) -> list[SessionView]:
        """The context windows of an agent, in order."""
        return [session_view(session) for session in self._reader.sessions(self.find(reference).id)]

    def states(self, reference: str, limit: int) -> list[StateView]:
        """The newest states of an agent, with their evidence."""
        return [
            StateView(row.seq, iso(row.at), row.state, row.waiting_for, row.source, row.confidence, row.why, row.event)
            for row in self._reader.states(self.find(reference).id, limit)
        ]

    def tool_calls(self, reference: str, limit: int) -> list[ToolCallView]:
        """The newest tool calls of an agent, with input and result."""
        return tool_calls(self._reader, self.find(reference), limit)

    def usage(self, reference: str) -> list[UsageView]:
        """Tokens, context size and cost of an agent over time."""
        return usage(self._reader, self.find(reference))

    def project_ids(self, reference: str) -> tuple[str, ...]:
        """The ids of the projects with this id, name or directory."""
        return resolve_projects(self._reader, reference)


class WaitQueries:
    """Reads waits."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def views(self, *, agent_id: str | None, only_open: bool) -> list[WaitView]:
        """Waits of one agent or of all, the oldest first."""
        return [wait_view(wait) for wait in self._reader.waits(agent_id=agent_id, only_open=only_open)]

    def find(self, wait_id: str) -> Wait:
        """One wait by its id, open or closed."""
        if (found := self._reader.wait(wait_id)) is not None:
            return found
        message = f"There is no wait {wait_id[:200]}."
        raise BadRequest("unknown_wait", message, "See GET /api/waits, or `headspace list`.", status=404)

    def hook_of(self, wait: Wait) -> Event | None:
        """The hook with the tool call of a wait; None if it has none or the event was pruned."""
        if wait.tool is None:
            return None
        opener = self._opener(wait)
        if opener is not None and opener.tool is not None and _is_about(opener, wait):
            return opener
        between = EventFilter(
            names=hook_names({HookKind.PERMISSION, HookKind.BEFORE_TOOL}),
            received_between=(wait.opened_at - HOOK_WINDOW, wait.opened_at + HOOK_WINDOW),
        )
        stored = self._reader.events(agent_id=wait.agent_id, limit=MAX_HOOKS, matching=between)
        hooks = (decode(each.envelope) for each in reversed(stored))
        return next((hook for hook in hooks if _is_about(hook, wait)), None)

    def message_of(self, wait: Wait) -> str | None:
        """The whole reply that ended with the question of a wait; None if the wait is another one."""
        opener = self._opener(wait) if wait.asked_in_text else None
        message = _last_words(opener.fact) if opener is not None else None
        return message if message is not None and wait.text in message else None

    def _opener(self, wait: Wait) -> Event | None:
        """The event that opened a wait. The id of a wait starts with the id of that event."""
        stored = self._reader.event(wait.agent_id, wait.id.rpartition("-w")[0])
        return decode(stored.envelope) if stored is not None else None

    def answer_to(self, wait: Wait) -> Answer | None:
        """The answer that a wait received."""
        return find_answer(self._reader, wait)

    def delivery_problem(self, wait: Wait, given: Answered) -> str | None:
        """Why the client did not receive an answer; empty if it did, None if that is not known yet."""
        stored = self._reader.event(wait.agent_id, given.event_id)
        after = stored.seq if stored is not None else 0
        results = self._reader.events(agent_id=wait.agent_id, after=after, matching=EventFilter(names=_RESULTS))
        facts = (decode(each.envelope).fact for each in results)
        result = next((each for each in facts if isinstance(each, _RESULT) and each.wait_id == wait.id), None)
        return result.reason if isinstance(result, WaitReleased) else "" if result is not None else None


def _last_words(fact: Fact) -> str | None:
    """What a turn ended with: what the client asks at its end, or the reply."""
    end = fact.end if isinstance(fact, TurnClosed) else fact
    if not isinstance(end, TurnStopped):
        return None
    return end.ask.text if end.ask is not None else end.message


def _is_about(event: Event, wait: Wait) -> bool:
    fact = event.fact
    return isinstance(fact, ToolStarted | PermissionAsked) and (fact.tool, fact.digest) == (wait.tool, wait.digest)


def agent_of_environment(agents: Sequence[Agent], env: Mapping[str, str], ancestors: Sequence[int]) -> Agent | None:
    """The agent that a command was started in.

    The session is compared first, then the nearest client process: a child has its own, but inherits the other
    variables of its parent. Not every client puts its session into a variable.
    """
    session, pane = session_in(env), env.get(TMUX_PANE)
    wrappers = {env[name] for name in (HEADSPACE_ID, WRAPPER_ID) if env.get(name)}
    pid = client_pid_in(env) or ""
    pids = [*([int(pid)] if pid.isascii() and pid.isdigit() and len(pid) < 10 else []), *ancestors]

    def matches(agent: Agent) -> tuple[bool, ...]:
        return (
            bool(session) and agent.session is not None and agent.session.client_id == session,
            *(agent.pid == each for each in pids),
            agent.headspace_id in wrappers,
            bool(pane) and agent.tmux_pane == pane,
        )

    ranked = [(matched.index(True), agent) for agent in agents if any(matched := matches(agent))]
    return min(ranked, key=lambda each: each[0])[1] if ranked else None
