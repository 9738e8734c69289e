"""The state machine of a command: five states and a table of transitions.

A command moves with every message: an actor (USER or AGENT) and an intent. `TRANSITIONS` is the whole machine;
`validate_transition` looks a row up. A transition that is not in the table is refused and changes nothing.
`python -m claude_headspace.kernel.state_machine` prints the diagram of the documentation.

Rules
- IDLE is the state before a command exists. COMPLETE is final.
- An interrupt and an API error are AGENT/END_OF_TASK; the outcome of the command distinguishes them.
- A queued prompt that becomes part of the running turn is USER/ANSWER.
"""

from enum import StrEnum

import msgspec


class CommandState(StrEnum):
    """The state of a command."""

    IDLE = "IDLE"
    COMMANDED = "COMMANDED"
    PROCESSING = "PROCESSING"
    AWAITING_INPUT = "AWAITING_INPUT"
    COMPLETE = "COMPLETE"


class Actor(StrEnum):
    """Who wrote a message."""

    USER = "USER"
    AGENT = "AGENT"


class Intent(StrEnum):
    """What a message means for the command."""

    COMMAND = "COMMAND"
    ANSWER = "ANSWER"
    PROGRESS = "PROGRESS"
    QUESTION = "QUESTION"
    COMPLETION = "COMPLETION"
    END_OF_TASK = "END_OF_TASK"


class TransitionResult(msgspec.Struct, frozen=True):
    """The result of a proposed transition: the new state, or why it is refused."""

    valid: bool
    from_state: CommandState
    to_state: CommandState
    reason: str


_S, _A, _I = CommandState, Actor, Intent

TRANSITIONS: dict[tuple[CommandState, Actor, Intent], CommandState] = {
    (_S.IDLE, _A.USER, _I.COMMAND): _S.COMMANDED,
    (_S.COMMANDED, _A.AGENT, _I.PROGRESS): _S.PROCESSING,
    (_S.COMMANDED, _A.AGENT, _I.QUESTION): _S.AWAITING_INPUT,
    (_S.COMMANDED, _A.AGENT, _I.COMPLETION): _S.COMPLETE,
    (_S.COMMANDED, _A.AGENT, _I.END_OF_TASK): _S.COMPLETE,
    (_S.PROCESSING, _A.AGENT, _I.PROGRESS): _S.PROCESSING,
    (_S.PROCESSING, _A.AGENT, _I.QUESTION): _S.AWAITING_INPUT,
    (_S.PROCESSING, _A.AGENT, _I.COMPLETION): _S.COMPLETE,
    (_S.PROCESSING, _A.AGENT, _I.END_OF_TASK): _S.COMPLETE,
    (_S.PROCESSING, _A.USER, _I.ANSWER): _S.PROCESSING,
    (_S.AWAITING_INPUT, _A.USER, _I.ANSWER): _S.PROCESSING,
    (_S.AWAITING_INPUT, _A.AGENT, _I.COMPLETION): _S.COMPLETE,
    (_S.AWAITING_INPUT, _A.AGENT, _I.END_OF_TASK): _S.COMPLETE,
}


def validate_transition(from_state: CommandState, actor: Actor, intent: Intent) -> TransitionResult:
    """The state that (actor, intent) leads to. A refusal keeps the state and gives the reason."""
    to_state = TRANSITIONS.get((from_state, actor, intent))
    if to_state is None:
        return TransitionResult(
            False, from_state, from_state, f"{actor}/{intent} does not move a command that is {from_state}"
        )
    return TransitionResult(True, from_state, to_state, f"{actor}/{intent}")


def mermaid() -> str:
    """Draw the table as a Mermaid state diagram."""
    arrows: dict[tuple[CommandState, CommandState], list[str]] = {}
    for (from_state, actor, intent), to_state in TRANSITIONS.items():
        arrows.setdefault((from_state, to_state), []).append(f"{actor} {intent}")
    lines = [f"    {a} --> {b}: {', '.join(labels)}" for (a, b), labels in arrows.items()]
    return "\n".join(["stateDiagram-v2", "    [*] --> IDLE", *lines, "    COMPLETE --> [*]"])


if __name__ == "__main__":
    print(mermaid())  # noqa: T201 - the module's one command prints
