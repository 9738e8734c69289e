"""Claude OS with the real Claude Code: what a session begins with, and what it is told, reaches the model."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import Home, Terminals
from tests.real_client.house import House
from tests.real_client.model import Script, ScriptedModel, bash, reply, text
from tests.real_client.program import VERSIONS, Unavailable
from tests.support import LIMIT_SECONDS, wait_until

OPTIONS = ("--permission-mode", "default", "--allowedTools", "Bash", "--model", "claude-sonnet-4-5")
FULL = 162_000
"""81 percent of what that model takes in, and less than the client begins to compact at."""


class Desk:
    """A client's home beside a Headspace, with a role in the project."""

    def __init__(self, house: House, home: Home) -> None:
        self.house, self.home = house, home
        program = home.root / "bin" / "headspace"
        own = f"HOME={house.root} HEADSPACE_HOME={house.root} HEADSPACE_PORT=0"
        program.write_text(f'#!/bin/sh\n{own} exec {sys.executable} -m claude_headspace "$@"\n')
        program.chmod(0o755)
        for path, words in (
            ("Desktop/TODAY.md", "TODAY-7411"),
            ("docs/deep/SPEC.md", "EXTRA-7412"),
            (".claude/roles/chief.md", "---\nauto_include:\n  - ${PROJECT_PATH}/docs/**/SPEC.md\n---\nChief.\n"),
        ):
            (home.project / path).parent.mkdir(parents=True, exist_ok=True)
            (home.project / path).write_text(words)

    def run(self, prompt: str, script: Script, *options: str) -> list[str]:
        """Run a client in the role to its end; what the model was sent, each as one text."""
        with ScriptedModel(script) as model:
            command = self.home.command(model.url, "-p", prompt, *OPTIONS, *options)
            done = subprocess.run(
                ["env", "-i", "CLAUDE_SESSION_ROLE=chief", *command],
                cwd=self.home.project,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT_SECONDS * 3,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return [each for each in map(json.dumps, model.requests) if prompt in each]

    @property
    def agent(self) -> dict[str, Any]:
        """The only agent."""
        [found] = self.house.daemon.agents()
        return found


@pytest.fixture(params=VERSIONS)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """A client of every version, its hooks installed, with a daemon of its own."""
    try:
        home = Home(tmp_path / "home", request.param)
        with Terminals() as terminals, House(tmp_path / "headspace", terminals, [home]) as house:
            house.start()
            house.install()
            yield Desk(house, home)
            assert house.daemon.verified()
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")


def test_context_notes_and_warnings_reach_the_model(desk: Desk) -> None:
    """Core files and the role's extras are in the first request; a note comes from inside; 80 percent is told once."""
    # The transcript reaches the disk a moment after the reply: the step waits for it.
    steps = [
        reply(bash("headspace note 'at the gate'; sleep 3"), tokens=FULL),
        reply(text("Good."), tokens=FULL),
        reply(text("Written down."), tokens=FULL),
    ]
    first, _, held = desk.run("Begin with it", {"Begin with it": steps})
    for part in ("[CLAUDE OS SYS: INFO]: Session context loaded", "TODAY-7411", "EXTRA-7412"):
        assert part in first
    assert desk.agent["note"]["text"] == "at the gate"
    assert "Stop hook feedback" in held
    assert "[CLAUDE OS SYS: WARNING]: Context at 81%" in held
    assert (desk.agent["context_percent"], desk.agent["context_warning_level"]) == (81.0, 80)
    wait_until(lambda: desk.agent["state"] == "ended", "the client's end")
    [again] = desk.run("Go on with it", {"Go on with it": [reply(text("Yes."), tokens=FULL)]}, "--continue")
    assert "81% - Write reset notes" not in again
    assert desk.agent["context_warning_level"] == 80


def test_a_prompt_brings_the_warning_that_no_turn_brought(desk: Desk) -> None:
    """A context that was filled by the last words of a turn is told with the next prompt."""
    desk.run("Fill it", {"Fill it": [reply(text("Shall I go on?"), tokens=FULL)]})
    wait_until(lambda: desk.agent["context_percent"] == 81.0, "the measure")
    [asked] = desk.run("Go on", {"Go on": [reply(text("Done."), tokens=FULL)]}, "--continue")
    assert asked.count("[CLAUDE OS SYS: WARNING]: Context at 81% - Write reset notes and prepare to transition") == 1
    [more] = desk.run("Once more", {"Once more": [reply(text("Done."), tokens=FULL)]}, "--continue")
    assert more.count("Context at 81% - Write") <= 1
