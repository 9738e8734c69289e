"""What an agent can do in the demo: nouns only. `actor` knows what Claude Code tells of each."""

from typing import Any

import msgspec


class Step(msgspec.Struct, frozen=True):
    """Something an agent does. Times are seconds."""


class Prompt(Step, frozen=True):
    """Somebody asks for something: a turn begins."""

    text: str


class Says(Step, frozen=True):
    """Words between calls. `{answer}` stands for what was answered last."""

    text: str
    takes: float = 4.0


class Call(Step, frozen=True):
    """A tool call; with an error it fails."""

    tool: str
    input: dict[str, Any]
    result: dict[str, Any] = {}
    takes: float = 5.0
    error: str = ""


class Permission(Step, frozen=True):
    """A call that asks first. After `waits` somebody says yes in the terminal, unless it is answered elsewhere."""

    call: Call
    waits: float


class Question(Step, frozen=True):
    """A question with options; the first one is chosen in the terminal after a while."""

    text: str
    header: str
    options: tuple[tuple[str, str], ...]
    waits: float


class Plan(Step, frozen=True):
    """A plan that wants approval."""

    text: str
    waits: float


class Errand(msgspec.Struct, frozen=True):
    """What a sub-agent is sent for."""

    kind: str
    description: str
    calls: tuple[Call, ...]
    report: str


class Delegates(Step, frozen=True):
    """Sub-agents work side by side, in the background."""

    errands: tuple[Errand, ...]


class Background(Step, frozen=True):
    """A shell that runs on after the turn; it ends with the next `Collects`."""

    command: str
    description: str


class Collects(Step, frozen=True):
    """A background shell has ended, and its news begins a turn."""

    description: str


class Todos(Step, frozen=True):
    """The list of things to do grows."""

    subjects: tuple[str, ...]


class Ticks(Step, frozen=True):
    """The next thing on the list is done."""


class Done(Step, frozen=True):
    """The turn is over."""

    text: str


class Breaks(Step, frozen=True):
    """The turn ends in an error of the API."""

    error: str
    text: str


class Escapes(Step, frozen=True):
    """Somebody presses Esc: no hook tells, only the transcript does."""


class Compacts(Step, frozen=True):
    """The context is compacted, by hand."""

    takes: float


class Rests(Step, frozen=True):
    """Nothing happens."""

    seconds: float


class Leaves(Step, frozen=True):
    """The client is closed, and taken up again after a while; without a number never."""

    seconds: float | None = None


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """One agent: who it is, what it did today, and what it does over and over."""

    name: str
    project: str
    branch: str
    model: str
    tokens: int
    """How full its context gets."""
    past: tuple[Step, ...] = ()
    """Played once, and over before the curtain rises."""
    loop: tuple[Step, ...] = ()
    since: float = 60.0
    """How far into its loop it is when the curtain rises, in seconds."""
