"""Simulated sessions: what those of all clients share, and sessions that are described without a client's format. Pure.

Rules
- A session has its own clock, `now`, in seconds.
- A session is a generator of events. The consumer sends back a `Reply`: when the event was finished, and what the hook
  printed. So an answer given through Headspace takes effect, and a call that the guard denies does not run.
- A `ToldSession` plays steps such as `Prompt` and `Action`. The package of each client tells them in its own format:
  which events it reports, and which lines it writes.
"""

import random
import uuid
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from typing import Any, NamedTuple

import msgspec

Json = dict[str, Any]

HISTORY_WORK_FACTOR, HISTORY_PAUSE_FACTOR = 6.0, 1.7
"""How much longer work and pauses take in the history: a running demo is faster than real work."""


class ScheduledEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A hook with its payload, lines of a transcript, or both, at a time."""

    at: float
    hook: str = ""
    payload: Json = {}
    lines: tuple[Json, ...] = ()
    dialog: str = ""
    """What the hook asks a person for: permission, question or plan."""
    is_held: bool = False
    """Whether its client keeps the hook open for an answer."""
    answered_at: float = 0.0
    """When the dialog is answered in the terminal, unless it is answered through Headspace before."""


class Reply(msgspec.Struct, frozen=True):
    """When an event was finished, and what its hook printed."""

    at: float
    output: Json = {}

    @property
    def decision(self) -> Json:
        """The decision that a person made through Headspace, if any."""
        decision = self.output.get("hookSpecificOutput", {}).get("decision", {})
        return decision if isinstance(decision, dict) else {}

    @property
    def is_denied(self) -> bool:
        """Whether a person or the guard denied the call."""
        output = self.output.get("hookSpecificOutput", {})
        return "deny" in (output.get("permissionDecision"), self.decision.get("behavior"))


Events = Generator[ScheduledEvent, Reply, None]


class Profile(NamedTuple):
    """The settings of a session."""

    name: str
    project: str
    branch: str
    model: str
    max_tokens: int
    """How full the context gets."""


class SimulatedClock:
    """The clock, the chance and the context of one session."""

    def __init__(self, profile: Profile, seed: int, home: str) -> None:
        self._random = random.Random(f"{seed} {profile.name}")  # noqa: S311  # not for security
        self.profile = profile
        self.id = self.new_uuid()
        self.cwd = f"{home}/{profile.project}"
        self.transcript = ""
        self.now = 0.0
        self.is_history = False
        self.turn_denied = False
        self.tokens = 14_000.0

    def new_uuid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{self._random.getrandbits(64):016x}"

    def vary(self, seconds: float) -> float:
        """Roughly so many seconds."""
        return seconds * self._random.uniform(0.85, 1.15)

    def work(self, seconds: float) -> None:
        """Let time pass while the agent works."""
        self.now += self.vary(seconds) * (HISTORY_WORK_FACTOR if self.is_history else 1.0)

    def pause(self, seconds: float) -> None:
        """Let time pass until the next turn."""
        self.turn_denied = False
        self.now += self.vary(seconds) * (HISTORY_PAUSE_FACTOR if self.is_history else 1.0)

    def grow_context(self) -> None:
        """One more reply is in the context."""
        self.tokens += (self.profile.max_tokens * 1.06 - self.tokens) * 0.12 + self._random.uniform(0, 600)

    def send(self, event: ScheduledEvent) -> Generator[ScheduledEvent, Reply, Reply]:
        reply = yield event
        self.now = max(self.now, reply.at)
        return reply


# --- sessions that are described without a format ---


class Pause(NamedTuple):
    """Nothing happens for a while."""

    seconds: float


class Prompt(NamedTuple):
    """The user submits a prompt: a turn starts."""

    text: str


class Done(NamedTuple):
    """The turn ends."""

    text: str


class Action(NamedTuple):
    """A tool call: a command, or an edit of a file if it has a new text. It takes `seconds`."""

    target: str
    result: str = ""
    seconds: float = 6.0
    old: str = ""
    new: str = ""

    @property
    def is_edit(self) -> bool:
        """Whether it changes a file."""
        return bool(self.new)


class Permission(NamedTuple):
    """A tool call that needs permission. It is answered in the terminal after some seconds."""

    action: Action
    seconds: float


ToldStep = Pause | Prompt | Done | Action | Permission


class Told(NamedTuple):
    """One report of a client, with the lines of the transcript that it writes at the same time."""

    event: str
    payload: Json
    lines: tuple[Json, ...] = ()


class ToldSession(SimulatedClock, ABC):
    """A session of a client that is told in its format by a subclass."""

    client = ""
    holds_dialogs = False
    """Whether the client keeps the report of a dialog open for an answer."""

    def __init__(self, profile: Profile, seed: int, home: str, user_home: str) -> None:
        super().__init__(profile, seed, home)
        self.user_home = user_home
        self.turn_id = ""
        self.call_id = ""
        self.prompt = ""
        self.has_started = False

    def play(self, steps: Iterable[ToldStep]) -> Events:
        """Run steps in order. After a denied dialog the rest of the turn is skipped, up to the next pause."""
        for step in steps:
            if isinstance(step, Pause):
                self.pause(step.seconds)
            elif not self.turn_denied:
                yield from self._play(step)

    def _play(self, step: ToldStep) -> Events:
        match step:
            case Prompt():
                yield from self._start_turn(step.text)
            case Action():
                yield from self._tell(self._called(step))
                yield from self._finish(step)
            case Permission():
                yield from self._ask(step)
            case Done():
                self.grow_context()
                yield from self._tell(self.stopped(step.text))
                self.work(1)

    def _start_turn(self, text: str) -> Events:
        self.turn_id, self.prompt = self.new_uuid(), text
        if not self.has_started:
            self.has_started = True
            yield from self._tell(self.started())
        yield from self._tell(self.prompted())
        self.work(3)

    def _called(self, action: Action) -> list[Told]:
        self.grow_context()
        self.call_id = self.new_id("call_")
        return self.called(action)

    def _finish(self, action: Action) -> Events:
        self.work(action.seconds)
        yield from self._tell(self.finished(action))
        self.work(2)

    def _ask(self, step: Permission) -> Events:
        yield from self._tell(self._called(step.action))
        self.now += 0.05
        asked = self.asked(step.action)
        answered_at = self.now + self.vary(step.seconds)
        for each in asked:
            event = self._event(each)
            if each is asked[-1]:
                event = msgspec.structs.replace(
                    event, dialog="permission", is_held=self.holds_dialogs, answered_at=answered_at
                )
            reply = yield from self.send(event)
        if self.is_denied(reply.output):
            yield from self._tell(self.denied(step.action))
            self.turn_denied = True
            return
        yield from self._tell(self.allowed())
        yield from self._finish(step.action)

    def _tell(self, told: Iterable[Told]) -> Events:
        for each in told:
            yield from self.send(self._event(each))
            self.now += 0.01

    def _event(self, told: Told) -> ScheduledEvent:
        return ScheduledEvent(at=self.now, hook=told.event, payload=told.payload, lines=told.lines)

    # --- the format of a client ---

    @abstractmethod
    def started(self) -> list[Told]:
        """The session starts, with its first prompt."""

    @abstractmethod
    def prompted(self) -> list[Told]:
        """The user submitted `prompt`."""

    @abstractmethod
    def called(self, action: Action) -> list[Told]:
        """A tool call is about to run."""

    @abstractmethod
    def asked(self, action: Action) -> list[Told]:
        """The client shows a permission dialog; the last report opens it."""

    def allowed(self) -> list[Told]:
        """The dialog was answered. Most clients report nothing."""
        return []

    def denied(self, _action: Action) -> list[Told]:
        """The call was denied, and the turn ends."""
        return self.stopped("Understood, I will not do that.")

    def is_denied(self, _output: Json) -> bool:
        """Whether the reply to a dialog denies the call."""
        return False

    @abstractmethod
    def finished(self, action: Action) -> list[Told]:
        """A tool call has ended."""

    @abstractmethod
    def stopped(self, text: str) -> list[Told]:
        """The turn has ended with a text."""
