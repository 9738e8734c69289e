"""One agent and its events: applies hooks and facts, and keeps the rows as a journal would.

    story = Story()
    story.hook("UserPromptSubmit", prompt="Fix it", prompt_id="p1")
    assert story.board == ("working", None)

Times are seconds since the start of the story. Events are one second apart, unless `at` is given.
"""

from itertools import count
from typing import Any

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, Command, Evidence, Project, Session, Turn, Wait
from claude_headspace.kernel.envelope import NO_DECISIONS, SECOND, Decisions, Envelope, Micros, Observations, Origin
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event, Fact, Meta

START: Micros = 1_790_000_000 * SECOND
CLIENT = Observations(client_pid=4711, tmux_pane="%1")

Payload = dict[str, Any]

_ids = count(1)


def time_at(seconds: float) -> Micros:
    """A time of the story, given in seconds."""
    return START + round(seconds * SECOND)


def envelope(
    name: str,
    seconds: float,
    payload: Payload | bytes,
    *,
    origin: Origin = Origin.HOOK,
    observations: Observations = CLIENT,
    decisions: Decisions = NO_DECISIONS,
    host: str = "laptop",
) -> Envelope:
    """An event as it arrives from the client. The session is `session-1` unless the payload has another."""
    if not isinstance(payload, bytes):
        payload = msgspec.json.encode({"session_id": "session-1", "cwd": "/home/dev/app"} | payload)
    return Envelope(
        id=f"e{next(_ids)}",
        name=name,
        origin=origin,
        client="claude-code",
        host=host,
        fired_at=time_at(seconds),
        received_at=time_at(seconds),
        payload=payload,
        observations=observations,
        decisions=decisions,
    )


def new_agent(**known: Any) -> Agent:
    """An agent without events."""
    project = Project("project-1", "app", "/home/dev/app")
    agent = Agent(
        id="agent-1", name="calm-otter", host="laptop", client="claude-code", project=project, created_at=START
    )
    return msgspec.structs.replace(agent, **known)


class Story:
    """The events of one agent, and their results."""

    def __init__(self, agent: Agent | None = None) -> None:
        self.agent = agent or new_agent()
        self.now = 0.0
        self.sessions: dict[str, Session] = {}
        self.commands: dict[str, Command] = {}
        self.turn_rows: dict[str, Turn] = {}
        self.waits: dict[str, Wait] = {}
        self.changes: list[Change] = []

    def hook(
        self,
        name: str,
        /,
        *,
        at: float | None = None,
        observations: Observations = CLIENT,
        decisions: Decisions = NO_DECISIONS,
        **payload: Any,
    ) -> Change:
        """A hook fires."""
        return self.apply(
            decode(envelope(name, self._tick(at), payload, observations=observations, decisions=decisions))
        )

    def report(
        self, fact: Fact, *, origin: Origin = Origin.TRANSCRIPT, at: float | None = None, **known: Any
    ) -> Change:
        """Another source reports a fact."""
        moment_of = time_at(self._tick(at))
        meta = Meta(
            event_id=f"e{next(_ids)}", name=type(fact).__name__, origin=origin, at=moment_of, received_at=moment_of
        )
        return self.apply(Event(msgspec.structs.replace(meta, **known), fact))

    def _tick(self, at: float | None) -> float:
        seconds = self.now + 1 if at is None else at
        self.now = max(self.now, seconds)
        return seconds

    def apply(self, event: Event) -> Change:
        """Apply an event."""
        change = evolve(self.agent, event)
        self.agent = change.agent
        self.changes.append(change)
        self.sessions |= {session.id: session for session in change.sessions}
        self.commands |= change.commands
        self.waits |= change.waits
        self.turn_rows |= {turn.id: turn for turn in change.turns}
        for patch in change.patches:
            self.turn_rows[patch.id] = msgspec.structs.replace(
                self.turn_rows[patch.id],
                command_id=patch.command_id,
                intent=patch.intent,
                at=patch.at,
                timestamp_source=patch.timestamp_source,
            )
        return change

    @property
    def board(self) -> tuple[str, str | None]:
        """The agent's state, and what it waits for."""
        return self.agent.state.value, self.agent.waiting_for

    @property
    def command(self) -> Command:
        """The current command."""
        assert self.agent.command is not None
        return self.agent.command

    @property
    def evidence(self) -> Evidence:
        """The reason for the state."""
        assert self.agent.evidence is not None
        return self.agent.evidence

    @property
    def turns(self) -> list[tuple[str, str, str]]:
        """Actor, intent and text of each turn, in the order of arrival."""
        return [(turn.actor.value, turn.intent.value, turn.text) for turn in self.turn_rows.values()]

    @property
    def open_calls(self) -> list[str]:
        """The running calls."""
        return [call.id for call in self.agent.calls]

    @property
    def open_waits(self) -> list[str]:
        """The kinds of the open waits."""
        return [wait.kind for wait in self.agent.waits]

    # --- what a client often does ---

    def starts(self, **payload: Any) -> Change:
        """The client starts."""
        return self.hook("SessionStart", **({"source": "startup"} | payload))

    def prompted(self, text: str = "Fix the parser", prompt_id: str | None = "p1", **payload: Any) -> Change:
        """A prompt is submitted."""
        return self.hook("UserPromptSubmit", **({"prompt": text, "prompt_id": prompt_id} | payload))

    def calls(self, tool_use_id: str, command: str = "ls", **payload: Any) -> Change:
        """A shell command is about to run."""
        return self.hook("PreToolUse", **(bash(tool_use_id, command) | payload))

    def called(self, tool_use_id: str, command: str = "ls", **payload: Any) -> Change:
        """A shell command has run."""
        return self.hook("PostToolUse", **(bash(tool_use_id, command) | {"tool_response": {}} | payload))

    def asks_permission(self, command: str = "ls", **payload: Any) -> Change:
        """The client shows a permission dialog for a shell command."""
        return self.hook("PermissionRequest", **({"tool_name": "Bash", "tool_input": {"command": command}} | payload))

    def stops(self, message: str = "All tests pass now.", prompt_id: str | None = "p1", **payload: Any) -> Change:
        """The turn ends."""
        said: Payload = {"last_assistant_message": message, "prompt_id": prompt_id, "background_tasks": []}
        return self.hook("Stop", **(said | payload))


def bash(tool_use_id: str, command: str = "ls") -> Payload:
    """A call of the shell."""
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": tool_use_id}


def question(tool_use_id: str | None, text: str = "Which colour?") -> Payload:
    """A call of AskUserQuestion; its dialog has no id."""
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    asked = [{"question": text, "header": "Colour", "options": options, "multiSelect": False}]
    call: Payload = {"tool_name": "AskUserQuestion", "tool_input": {"questions": asked}}
    return call | ({"tool_use_id": tool_use_id} if tool_use_id else {})


def answered(tool_use_id: str, text: str = "Which colour?", answer: str = "Red") -> Payload:
    """The end of a question: the client adds the answers to its input."""
    answers = {"answers": {text: answer}}
    return question(tool_use_id, text) | {"tool_input": answers, "tool_response": answers}


def plan(tool_use_id: str | None) -> Payload:
    """A call of ExitPlanMode."""
    call: Payload = {"tool_name": "ExitPlanMode", "tool_input": {"plan": "1. Do it"}}
    return call | ({"tool_use_id": tool_use_id} if tool_use_id else {})


def batch(*tool_use_ids: str) -> Payload:
    """The end of a step."""
    return {"tool_calls": [{"tool_name": "Bash", "tool_use_id": one} for one in tool_use_ids]}


def running(subagent_id: str = "", shell_id: str = "") -> list[Payload]:
    """The tasks that a Stop lists as running."""
    tasks: list[Payload] = []
    if subagent_id:
        tasks.append({"id": subagent_id, "type": "subagent", "status": "running", "agent_type": "Explore"})
    if shell_id:
        tasks.append({"id": shell_id, "type": "shell", "status": "running", "command": "sleep 60"})
    return tasks


def in_subagent(subagent_id: str = "sub-1") -> Payload:
    """The fields that mark an event of a sub-agent."""
    return {"agent_id": subagent_id, "agent_type": "Explore"}


def task_notification(task_id: str) -> str:
    """A prompt that the client generated."""
    return f"<task-notification>\n<task-id>{task_id}</task-id>\n<status>completed</status>\n</task-notification>"
