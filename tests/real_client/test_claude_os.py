"""Claude OS with the real Claude Code: session context and session notices reach the model."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import Home
from tests.real_client.headless import HeadlessRunner, installed_home
from tests.real_client.installation import Installation
from tests.real_client.model import Reply, bash, reply, text
from tests.real_client.program import VERSIONS
from tests.support import wait_until

FULL = 162_000
"""81 percent of the model's context window, below the limit at which the client compacts."""


class RoleRunner(HeadlessRunner):
    """Runs clients in a project that has a role, with that role."""

    options = ("--permission-mode", "default", "--allowedTools", "Bash", "--model", "claude-sonnet-4-5")
    environment: tuple[str, ...] = ("CLAUDE_SESSION_ROLE=chief",)

    def __init__(self, installation: Installation, home: Home) -> None:
        super().__init__(installation, home)
        for path, words in (
            ("Desktop/TODAY.md", "TODAY-7411"),
            ("docs/deep/SPEC.md", "EXTRA-7412"),
            (".claude/roles/chief.md", "---\nauto_include:\n  - ${PROJECT_PATH}/docs/**/SPEC.md\n---\nChief.\n"),
        ):
            (home.project / path).parent.mkdir(parents=True, exist_ok=True)
            (home.project / path).write_text(words)

    def asks(self, prompt: str, replies: Sequence[Reply], *options: str) -> list[str]:
        """Run a client to its end; return the requests that contain the prompt, each as one text."""
        sent = self.run(prompt, {prompt: replies}, *options)
        return [each for each in map(json.dumps, sent) if prompt in each]

    @property
    def agent(self) -> dict[str, Any]:
        """The only agent."""
        [found] = self.installation.daemon.agents()
        return found


@pytest.fixture(params=VERSIONS)
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RoleRunner]:
    """A runner for each client version."""
    with installed_home(request.param, tmp_path) as (installation, home):
        yield RoleRunner(installation, home)


def test_context_notes_and_warnings_reach_the_model(runner: RoleRunner) -> None:
    """The first request has the core files and the role's files. The agent writes a note. The warning comes once."""
    # The transcript is written shortly after the reply, so the last step waits for it.
    steps = [
        reply(bash("headspace note 'at the gate'")),
        reply(bash("sleep 3"), tokens=FULL),
        reply(text("Good."), tokens=FULL),
    ]
    first, *_, warned = runner.asks("Begin with it", steps)
    for part in ("[CLAUDE OS SYS: INFO]: Session context loaded", "TODAY-7411", "EXTRA-7412"):
        assert part in first
    assert runner.agent["note"]["text"] == "at the gate"
    assert warned.count("[CLAUDE OS SYS: WARNING]: Context at 81%") == 1
    assert (runner.agent["context_percent"], runner.agent["context_warning_level"]) == (81.0, 80)
    wait_until(lambda: runner.agent["state"] == "ended", "the client's end")
    [again] = runner.asks("Go on with it", [reply(text("Yes."), tokens=FULL)], "--continue")
    assert again.count("81% - Write reset notes") == 1, "it is in the history, and is not told again"
    assert runner.agent["context_warning_level"] == 80


def test_the_next_prompt_brings_a_warning_that_came_too_late_for_the_turn(runner: RoleRunner) -> None:
    """If the last reply of a turn fills the context, the next prompt brings the warning."""
    runner.asks("Fill it", [reply(text("Shall I go on?"), tokens=FULL)])
    wait_until(lambda: runner.agent["context_percent"] == 81.0, "the measure")
    [asked] = runner.asks("Go on", [reply(text("Done."), tokens=FULL)], "--continue")
    assert asked.count("[CLAUDE OS SYS: WARNING]: Context at 81% - Write reset notes and prepare to reset") == 1
    [more] = runner.asks("Once more", [reply(text("Done."), tokens=FULL)], "--continue")
    assert more.count("Context at 81% - Write") <= 1


@pytest.mark.parametrize("missing", [("SessionStart",), ("SessionStart", "UserPromptSubmit")])
def test_mode_and_role_apply_from_the_first_event(runner: RoleRunner, missing: tuple[str, ...]) -> None:
    """Requirement: "Only interactive sessions can send messages/emails". Whichever event is the first one."""
    settings_file = runner.home.config_dir / "settings.json"
    settings = json.loads(settings_file.read_text())
    for event in missing:
        del settings["hooks"][event]
    settings_file.write_text(json.dumps(settings))
    runner.environment = ("CLAUDE_SESSION_ROLE=chief", "CLAUDE_SESSION_MODE=mission")
    mail = bash("echo hello | mail -s news ada@example.org; touch sent")
    sent = runner.asks("Write to Ada", [reply(mail), reply(text("It was refused."))])
    assert "Headspace does not allow this" in sent[-1]
    assert not (runner.home.project / "sent").exists()
    assert (runner.agent["role"], runner.agent["mode"]) == ("chief", "mission")
    names = [event["name"] for event in runner.installation.daemon.events() if event["origin"] == "hook"]
    assert names[0] == ("PreToolUse" if "UserPromptSubmit" in missing else "UserPromptSubmit")


def test_a_warning_reaches_the_model_in_the_middle_of_a_turn(runner: RoleRunner) -> None:
    """Requirement: "Context warnings … tracked in `sessions.context_warning_level`". Once, with a tool call."""
    slow, quick = bash("sleep 3"), bash("true")
    steps = [reply(slow, tokens=FULL), reply(quick, tokens=FULL), reply(quick, tokens=FULL)]
    sent = runner.asks("Work for long", [*steps, reply(text("Done."), tokens=FULL)])
    warning = "[CLAUDE OS SYS: WARNING]: Context at 81% - Write reset notes"
    assert [each.count(warning) for each in sent] == [0, 1, 1, 1], "with the first call that finished, and not again"
    assert "Stop hook feedback" not in sent[-1]
    assert runner.agent["context_warning_level"] == 80


def test_a_warning_at_the_end_of_a_turn_continues_it(runner: RoleRunner) -> None:
    """A level that is reached with the last call is told before the turn ends: the Stop hook is the backup."""
    settings_file = runner.home.config_dir / "settings.json"
    settings = json.loads(settings_file.read_text())
    del settings["hooks"]["PostToolUse"]
    settings_file.write_text(json.dumps(settings))
    steps = [reply(bash("sleep 3"), tokens=FULL), reply(text("Good."), tokens=FULL), reply(text("Noted."), tokens=FULL)]
    held = runner.asks("Begin with it", steps)[-1]
    assert "Stop hook feedback" in held
    assert "[CLAUDE OS SYS: WARNING]: Context at 81%" in held


@pytest.mark.parametrize("variables", [(), ("CLAUDE_SESSION_MODE=mission",), ("CLAUDE_SESSION_MODE=background",)])
def test_a_dangerous_command_is_denied_where_nobody_can_answer(runner: RoleRunner, variables: tuple[str, ...]) -> None:
    """Requirement: "Blocks dangerous commands: `pkill`, `killall`", "`sudo`". In `-p`, missions and background."""
    runner.environment = variables
    steps = [reply(bash("sleep 1")), reply(bash("sudo -n true; touch ran")), reply(text("Refused."))]
    sent = runner.asks("Become root", [*steps, reply(bash("headspace report done")), reply(text("Bye."))])
    mode = variables[0].partition("=")[2] if variables else "headless"
    assert f"Nobody can answer in this session (mode {mode})" in sent[-1]
    assert not (runner.home.project / "ran").exists()
