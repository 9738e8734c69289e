"""Claude OS with the real Claude Code: what a session begins with, and what it is told, reaches the model."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import Home
from tests.real_client.desk import Desk, a_place
from tests.real_client.house import House
from tests.real_client.model import Reply, bash, reply, text
from tests.real_client.program import VERSIONS
from tests.support import wait_until

FULL = 162_000
"""81 percent of what that model takes in, and less than the client begins to compact at."""


class RoleDesk(Desk):
    """A desk in whose project there is a role, which its clients take."""

    options = ("--permission-mode", "default", "--allowedTools", "Bash", "--model", "claude-sonnet-4-5")
    environment = ("CLAUDE_SESSION_ROLE=chief",)

    def __init__(self, house: House, home: Home) -> None:
        super().__init__(house, home)
        for path, words in (
            ("Desktop/TODAY.md", "TODAY-7411"),
            ("docs/deep/SPEC.md", "EXTRA-7412"),
            (".claude/roles/chief.md", "---\nauto_include:\n  - ${PROJECT_PATH}/docs/**/SPEC.md\n---\nChief.\n"),
        ):
            (home.project / path).parent.mkdir(parents=True, exist_ok=True)
            (home.project / path).write_text(words)

    def asks(self, prompt: str, replies: Sequence[Reply], *options: str) -> list[str]:
        """Run a client to its end; the requests in which the model was sent the prompt, each as one text."""
        sent = self.run(prompt, {prompt: replies}, *options)
        return [each for each in map(json.dumps, sent) if prompt in each]

    @property
    def agent(self) -> dict[str, Any]:
        """The only agent."""
        [found] = self.house.daemon.agents()
        return found


@pytest.fixture(params=VERSIONS)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RoleDesk]:
    """A desk for a client of every version."""
    with a_place(request.param, tmp_path) as (house, home):
        yield RoleDesk(house, home)


def test_context_notes_and_warnings_reach_the_model(desk: RoleDesk) -> None:
    """Core files and the role's extras are in the first request; a note comes from inside; 80 percent is told once."""
    # The transcript reaches the disk a moment after the reply: the step waits for it.
    steps = [
        reply(bash("headspace note 'at the gate'; sleep 3"), tokens=FULL),
        reply(text("Good."), tokens=FULL),
        reply(text("Written down."), tokens=FULL),
    ]
    first, _, held = desk.asks("Begin with it", steps)
    for part in ("[CLAUDE OS SYS: INFO]: Session context loaded", "TODAY-7411", "EXTRA-7412"):
        assert part in first
    assert desk.agent["note"]["text"] == "at the gate"
    assert "Stop hook feedback" in held
    assert "[CLAUDE OS SYS: WARNING]: Context at 81%" in held
    assert (desk.agent["context_percent"], desk.agent["context_warning_level"]) == (81.0, 80)
    wait_until(lambda: desk.agent["state"] == "ended", "the client's end")
    [again] = desk.asks("Go on with it", [reply(text("Yes."), tokens=FULL)], "--continue")
    assert "81% - Write reset notes" not in again
    assert desk.agent["context_warning_level"] == 80


def test_a_prompt_brings_the_warning_that_no_turn_brought(desk: RoleDesk) -> None:
    """A context that was filled by the last words of a turn is told with the next prompt."""
    desk.asks("Fill it", [reply(text("Shall I go on?"), tokens=FULL)])
    wait_until(lambda: desk.agent["context_percent"] == 81.0, "the measure")
    [asked] = desk.asks("Go on", [reply(text("Done."), tokens=FULL)], "--continue")
    assert asked.count("[CLAUDE OS SYS: WARNING]: Context at 81% - Write reset notes and prepare to reset") == 1
    [more] = desk.asks("Once more", [reply(text("Done."), tokens=FULL)], "--continue")
    assert more.count("Context at 81% - Write") <= 1
