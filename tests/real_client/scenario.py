"""The language of the scenarios: what a person does, and every state that must be shown on the way.

    Scenario(
        "permission approved",
        {"Make it": [reply(bash("touch made")), reply(text("I made it."))]},
        [*begun("Make it"), shows("waiting: permission"), answers("Yes"), shows("working", "idle")],
        End(["completed: Make it"], ["USER COMMAND: Make it", "AGENT COMPLETION: I made it."]),
    )

`shows` names the very next states of the agent, all of them: a state that is not named, or comes in another order,
fails the scenario, and so does one that comes after the last step. At the end the terminal is closed and the agent must
be shown as ended; then its commands and turns are compared.

A scenario can also be played while no daemon runs. Then the client's own registry paces it, and the daemon that is
started afterwards must arrive at the same end, with the same commands and turns.
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
class Each:
    """What differs between the versions."""

    old: Lines
    new: Lines

    def of(self, version: str) -> Lines:
        """The lines of a version."""
        return self.old if version == OLD else self.new


@dataclass(frozen=True)
class End:
    """What must have been understood when all is over: commands with their outcome, and who said what."""

    commands: Lines
    turns: Lines | Each


@dataclass(frozen=True)
class Scenario:
    """What is done, what the model says, what must be shown, and what must have been understood in the end."""

    name: str
    script: Script
    steps: Sequence[Step]
    end: End
    own_daemon: bool = False
    transport: str = "command"
    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings of the daemon, which is its own then."""


# --- what a person does -----------------------------------------------------------------------------------------------


def starts(*options: str) -> Step:
    """Start a client in the project, and wait for its prompt."""
    return lambda run: run.start(*options)


def types(words: str, into: int = -1) -> Step:
    """Write a prompt to a client (the newest, unless one is named) and send it off."""
    return lambda run: run.type(words, run.clients[into])


def presses(*keys: str) -> Step:
    """Press keys."""
    return lambda run: run.act(lambda: run.client.press(*keys))


def answers(option: str) -> Step:
    """Choose an option of the open dialog by its first word, or press a key in it."""
    return lambda run: run.answer(option)


def replies(**answer: object) -> Step:
    """Answer what the agent waits for through Headspace, as the API takes it."""
    return lambda run: run.reply(answer)


def races(option: str, **answer: object) -> Step:
    """Answer in the terminal and through Headspace at one moment."""
    return lambda run: run.race(option, answer)


def interrupts() -> Step:
    """Stop the agent through Headspace, which must say that it stopped."""
    return lambda run: run.interrupt()


def touches(file: str) -> Step:
    """Make a file in the project: what a tool may be waiting for."""
    return lambda run: run.act((run.home.project / file).touch)


def finds(file: str) -> Step:
    """A tool has made a file in the project: it runs."""
    return lambda run: run.find(file)


def reaches(gate: str) -> Step:
    """The model is held at a gate, and what it said before has had time to arrive."""
    return lambda run: run.reach(gate)


def releases(gate: str) -> Step:
    """Let the model go on."""
    return lambda run: run.act(run.model.gate(gate).set)


def pauses(seconds: float) -> Step:
    """Do nothing for a while: where nothing tells that the client has written what it had to."""
    return lambda _run: time.sleep(seconds)


def kills() -> Step:
    """End the client without warning."""
    return lambda run: run.act(run.client.kill)


def runs(*options: str) -> Step:
    """Run a client without a terminal, to its end."""
    return lambda run: run.headless(*options)


def kills_daemon() -> Step:
    """End Headspace without warning."""
    return lambda run: run.house.kill()


def starts_daemon() -> Step:
    """Start Headspace again."""
    return lambda run: run.start_daemon()


# --- what must be shown -----------------------------------------------------------------------------------------------


def shows(*states: str, of: int = 0) -> Step:
    """The next states of an agent, by the order in which the agents appeared."""

    def step(run: "Run") -> None:
        for state in states:
            run.expect(state, of)

    return step


def has(of: int = 0, **fields: object) -> Step:
    """An agent's fields, by the dotted names of the API; with a function, what it says of the field."""
    return lambda run: run.expect_fields(of, fields)


def belongs(child: int, parent: int) -> Step:
    """An agent is another one's child."""
    return lambda run: run.expect_child(child, parent)


def begun(prompt: str, *options: str) -> list[Step]:
    """How most scenarios begin: a client starts, is given a prompt, and works."""
    return [starts(*options), shows("idle"), types(prompt), shows("working")]


def hears(words: str) -> Step:
    """These words are among the agent's turns."""
    return lambda run: run.expect_turn(words)


def reads(words: str) -> Step:
    """The model has read these words as what came of a tool."""
    return lambda run: run.expect_result(words)


def lacks(file: str) -> Step:
    """There is no such file in the project: what would have made it did not run."""
    return lambda run: run.expect_no_file(file)
