"""The vocabulary of the scenarios: the actions of the user and every state that must be shown.

    Scenario(
        "permission approved",
        {"Make it": [reply(bash("touch made")), reply(text("I made it."))]},
        [*starts_with("Make it"), shows("waiting: permission"), answers("Yes"), shows("working", "idle")],
        Expected(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."]),
    )

`shows` lists all next states of the agent. A missing, additional or reordered state fails the scenario, also after the
last step. At the end the terminal is closed and the agent must be shown as ended. Then its commands and turns are
compared.

A scenario can also run without a daemon. Then it waits for the client's registry entry instead, and a daemon that is
started afterwards must record the same commands and turns.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.real_client.model import Script
from tests.real_client.program import OLD

if TYPE_CHECKING:
    from tests.real_client.run import Run

Step = Callable[["Run"], None]
Lines = Sequence[str]


@dataclass(frozen=True)
class PerVersion:
    """Lines that differ between the client versions."""

    old: Lines
    new: Lines

    def lines(self, version: str) -> Lines:
        """The lines of a version."""
        return self.old if version == OLD else self.new


@dataclass(frozen=True)
class Expected:
    """The expected commands with their outcome, and the expected turns."""

    commands: Lines
    turns: Lines | PerVersion


@dataclass(frozen=True)
class Scenario:
    """The script of the model, the steps, and the expected commands and turns."""

    name: str
    script: Script
    steps: Sequence[Step]
    expected: Expected
    own_daemon: bool = False
    transport: str = "command"
    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings of the daemon. A scenario with settings has its own daemon."""


# --- actions of the user ----------------------------------------------------------------------------------------------


def starts(*options: str) -> Step:
    """Start a client in the project and wait for its prompt."""
    return lambda run: run.start(*options)


def types(words: str, into: int = -1) -> Step:
    """Send a prompt to a client, by default to the newest one."""
    return lambda run: run.type(words, run.clients[into])


def presses(*keys: str) -> Step:
    """Press keys."""
    return lambda run: run.act(lambda: run.client.press(*keys))


def answers(option: str) -> Step:
    """Choose an option of the open dialog by its first word, or press a key in it."""
    return lambda run: run.answer(option)


def answers_by_api(**answer: object) -> Step:
    """Answer the agent's wait through Headspace. The arguments are the body of the API request."""
    return lambda run: run.reply(answer)


def grants_by_api(*kinds: str) -> Step:
    """Allow the call of the agent's wait through Headspace, and grant its suggestions of these kinds."""
    return lambda run: run.grant(kinds)


def answers_twice(option: str, **answer: object) -> Step:
    """Answer in the terminal and through Headspace at the same time."""
    return lambda run: run.race(option, answer)


def interrupts() -> Step:
    """Stop the agent through Headspace, which must confirm it."""
    return lambda run: run.interrupt()


def creates_file(file: str) -> Step:
    """Create a file in the project. A running tool may wait for it."""
    return lambda run: run.act((run.home.project / file).touch)


def has_file(file: str) -> Step:
    """Wait until a tool has created a file in the project."""
    return lambda run: run.find(file)


def reaches(gate: str) -> Step:
    """Wait until the model's reply is held at a gate and the text before it has arrived."""
    return lambda run: run.reach(gate)


def releases(gate: str) -> Step:
    """Open a gate of the model."""
    return lambda run: run.act(run.model.gate(gate).set)


def pauses(seconds: float) -> Step:
    """Sleep, where no signal shows that the client has finished writing."""
    return lambda _run: time.sleep(seconds)


def kills_client() -> Step:
    """Kill the client."""
    return lambda run: run.act(run.client.kill)


def runs_headless(*options: str) -> Step:
    """Run a client without a terminal to its end."""
    return lambda run: run.headless(*options)


def kills_daemon() -> Step:
    """Kill the daemon."""
    return lambda run: run.installation.kill()


def starts_daemon() -> Step:
    """Start the daemon again."""
    return lambda run: run.start_daemon()


# --- expectations -----------------------------------------------------------------------------------------------------


def shows(*states: str, of: int = 0) -> Step:
    """The next states of an agent. `of` is its number in the order of appearance."""

    def step(run: "Run") -> None:
        for state in states:
            run.expect(state, of)

    return step


def may_show(*states: str, of: int = 0) -> Step:
    """The next states of an agent, or none: they last only some milliseconds, and may be read together."""
    return lambda run: run.allow(list(states), of)


def has(of: int = 0, **fields: object) -> Step:
    """Values of an agent's API fields; `__` separates the parts of a name."""
    return lambda run: run.expect_fields(of, fields)


def is_child(child: int, parent: int) -> Step:
    """One agent is the child of another."""
    return lambda run: run.expect_child(child, parent)


def starts_with(prompt: str, *options: str) -> list[Step]:
    """The beginning of most scenarios: a client starts, gets a prompt, and works."""
    return [starts(*options), shows("idle"), types(prompt), shows("working")]


def has_turn(words: str) -> Step:
    """A turn of the agent has this text."""
    return lambda run: run.expect_turn(words)


def model_receives(words: str) -> Step:
    """The model received a tool result that contains this text."""
    return lambda run: run.expect_result(words)


def has_no_file(file: str) -> Step:
    """The file does not exist in the project: the tool that creates it did not run."""
    return lambda run: run.expect_no_file(file)
