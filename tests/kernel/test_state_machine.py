"""The thirteen transitions of a command; all others are refused."""

from itertools import product

import pytest

from claude_headspace.kernel.state_machine import Actor, CommandState, Intent, mermaid, validate_transition

ROWS = """
IDLE            USER   COMMAND      COMMANDED
COMMANDED       AGENT  PROGRESS     PROCESSING
COMMANDED       AGENT  QUESTION     AWAITING_INPUT
COMMANDED       AGENT  COMPLETION   COMPLETE
COMMANDED       AGENT  END_OF_TASK  COMPLETE
PROCESSING      AGENT  PROGRESS     PROCESSING
PROCESSING      AGENT  QUESTION     AWAITING_INPUT
PROCESSING      AGENT  COMPLETION   COMPLETE
PROCESSING      AGENT  END_OF_TASK  COMPLETE
PROCESSING      USER   ANSWER       PROCESSING
AWAITING_INPUT  USER   ANSWER       PROCESSING
AWAITING_INPUT  AGENT  COMPLETION   COMPLETE
AWAITING_INPUT  AGENT  END_OF_TASK  COMPLETE
"""
TABLE = {(state, actor, intent): to_state for state, actor, intent, to_state in map(str.split, ROWS.split("\n")[1:-1])}
REFUSED = [
    triple for triple in product(CommandState, Actor, Intent) if tuple(part.value for part in triple) not in TABLE
]


def test_there_are_thirteen_rows() -> None:
    """The table above is complete, and leaves 47 other combinations."""
    assert len(TABLE) == 13
    assert len(REFUSED) == 47


@pytest.mark.parametrize(("row", "to_state"), TABLE.items(), ids=lambda part: "-".join(part) if part else "")
def test_every_row_is_a_valid_transition(row: tuple[str, str, str], to_state: str) -> None:
    """Its last column is the new state."""
    result = validate_transition(CommandState(row[0]), Actor(row[1]), Intent(row[2]))
    assert (result.valid, result.from_state, result.to_state) == (True, row[0], to_state)


@pytest.mark.parametrize(("state", "actor", "intent"), REFUSED)
def test_every_other_transition_is_refused(state: CommandState, actor: Actor, intent: Intent) -> None:
    """The state stays, and the reason is given."""
    result = validate_transition(state, actor, intent)
    assert (result.valid, result.to_state) == (False, state)
    assert result.reason == f"{actor}/{intent} does not move a command that is {state}"


@pytest.mark.parametrize(("row", "to_state"), TABLE.items(), ids=lambda part: "-".join(part) if part else "")
def test_the_diagram_shows_every_row(row: tuple[str, str, str], to_state: str) -> None:
    """The Mermaid diagram has an arrow for each row, labelled with actor and intent."""
    [arrow] = [line for line in mermaid().splitlines() if line.strip().startswith(f"{row[0]} --> {to_state}: ")]
    assert f"{row[1]} {row[2]}" in arrow.split(": ")[1].split(", ")


def test_the_diagram_shows_nothing_else() -> None:
    """Besides the rows it has only a start and an end."""
    lines = mermaid().splitlines()
    labels = sum(len(line.split(": ")[1].split(", ")) for line in lines if ": " in line)
    assert labels == len(TABLE)
    assert [line.strip() for line in lines if ": " not in line] == [
        "stateDiagram-v2",
        "[*] --> IDLE",
        "COMPLETE --> [*]",
    ]
