"""What a call touches, and which commands are Headspace's own."""

from typing import Any

import pytest

from claude_headspace.kernel.effort.tool_effects import dialogue_of, own_command, touch_of
from claude_headspace.testing import hook

OWN = [
    "headspace effort log 'did it'",
    "/opt/bin/headspace effort show",
    "AGENT_ID=main:1 headspace effort log done",
    "headspace effort log 'rm -rf / && echo; `x` | y'",
    'headspace effort log "a; b"',
    "headspace effort log - <<'EOF'\nseveral; lines && $(more)\nEOF",
]
FOREIGN = [
    "ls",
    "headspacex effort log",
    "headspace effort log x && rm -rf build",
    "headspace effort log x; ls",
    "headspace effort show | cat",
    "headspace effort log $(cat secret)",
    'headspace effort log "$(cat secret)"',
    "headspace effort log `ls`",
    "headspace effort log x\nls",
    "headspace effort show > file",
    "echo headspace effort log x",
    "headspace effort log - <<EOF\n$(ls)\nEOF",
    "headspace",
    "",
]


@pytest.mark.parametrize("command", OWN)
def test_own_commands_are_known(command: str) -> None:
    """A plain command of Headspace, whatever stands in its quotes."""
    assert own_command(command) is not None


@pytest.mark.parametrize("command", FOREIGN)
def test_whatever_runs_something_else_is_not_ours(command: str) -> None:
    """A command that does anything beside is counted like every other."""
    assert own_command(command) is None


def test_only_the_log_resets() -> None:
    """Showing an effort is our own command, but no log entry."""
    shown = touch_of(hook("PreToolUse", tool_name="Bash", tool_input={"command": "headspace effort show"}))
    logged = touch_of(hook("PreToolUse", tool_name="Bash", tool_input={"command": "headspace effort log x"}))
    assert (shown.is_own, shown.is_log) == (True, False)
    assert (logged.is_own, logged.is_log) == (True, True)


def test_only_reading_loads_a_file() -> None:
    """A written file is touched, but not in the context."""
    read = touch_of(hook("PostToolUse", tool_name="Read", tool_input={"file_path": "/a.py"}))
    written = touch_of(hook("PostToolUse", tool_name="Write", tool_input={"file_path": "/a.py"}))
    assert (read.path, read.loads) == ("/a.py", "/a.py")
    assert (written.path, written.loads) == ("/a.py", None)


def test_a_dialogue_has_question_options_and_answer() -> None:
    """What was asked and answered, in one text; other tools are no dialogue."""
    questions = [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]
    asked = hook(
        "PostToolUse",
        tool_name="AskUserQuestion",
        tool_input={"questions": questions},
        tool_response={"answers": {"Which?": "B"}},
    )
    assert dialogue_of(asked) == "Question: Which? (A, B)\nAnswer: Which? B"
    assert dialogue_of(hook("PostToolUse", tool_name="Bash")) is None


@pytest.mark.parametrize("payload", [{}, {"tool_input": 3}, {"tool_input": {"command": 5}}, {"tool_name": ["x"]}])
def test_nonsense_touches_nothing(payload: dict[str, Any]) -> None:
    """Whatever a payload holds, nothing is raised."""
    touch = touch_of(hook("PreToolUse", **payload))
    assert (touch.path, touch.is_own) == (None, False)
