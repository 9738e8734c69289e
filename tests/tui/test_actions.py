"""What `top` reports about its actions."""

from pathlib import Path

import pytest

from claude_headspace.demo.sandbox import create_sandbox
from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.tui.actions import TerminalActions, answer_message
from tests.surfaces.cli.conftest import run_headspace
from tests.tui.board import make_agent
from tests.tui.test_answer_steps import SUGGESTIONS

WAIT = {"kind": "permission", "text": "Go?", "tool": "Bash", "summary": "make", "suggestions": SUGGESTIONS}


def test_a_grant_is_confirmed_in_words() -> None:
    """With what it allows and where it is stored; without a grant only the answer."""
    allowed = "Allowed: able-ant wants to run: make"
    assert answer_message("able-ant", WAIT, {"decision": "allow"}) == allowed
    granted = answer_message("able-ant", WAIT, {"decision": "allow", "grant": ["s1"]})
    assert granted == f"{allowed}. Grants: Allow Bash(make:*), for this project, for you"


@pytest.mark.parametrize("action", ["jump", "send", "interrupt", "resume"])
def test_agents_of_the_demo_have_no_terminal(tmp_path: Path, action: str) -> None:
    """The refusal says so, and not where a pane or a machine is missing."""
    with create_sandbox(tmp_path / "demo") as sandbox:
        actions = TerminalActions(sandbox.paths, env={})
        agent = make_agent("able-ant", "working", 5)
        with pytest.raises(BadRequest, match="The agents of the demo are simulated: they have no terminal"):
            actions.send(agent, "Go") if action == "send" else getattr(actions, action)(agent)


@pytest.mark.parametrize("command", [["jump", "a"], ["send", "a", "Go"], ["interrupt", "a"]])
def test_commands_say_that_the_demo_has_no_terminals(tmp_path: Path, command: list[str]) -> None:
    """As `top` does."""
    (tmp_path / "demo").touch()
    done = run_headspace(tmp_path, *command)
    assert (done.returncode, done.stdout) == (1, "")
    assert "they have no terminal" in done.stderr
