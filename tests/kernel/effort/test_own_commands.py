"""Headspace's own commands, and the parts of a tool use that an effort needs."""

from typing import Any

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.effort.evolve import format_dialogue
from claude_headspace.kernel.effort.own_commands import is_log_command, is_own_command, own_arguments
from claude_headspace.kernel.tools import ToolUse
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
def test_own_commands_are_recognised(command: str) -> None:
    """One Headspace command; quoted text can contain anything."""
    assert own_arguments(command) is not None


@pytest.mark.parametrize("command", FOREIGN)
def test_commands_that_run_anything_else_are_not_own_commands(command: str) -> None:
    """They are counted like every tool call."""
    assert own_arguments(command) is None


def tool(**payload: Any) -> ToolUse:
    """The tool use of a hook."""
    use = decode(hook("PreToolUse", **payload)).tool
    assert use is not None
    return use


def test_only_effort_log_writes_a_log_entry() -> None:
    """`effort show` is an own command but not a log command."""
    shown = tool(tool_name="Bash", tool_input={"command": "headspace effort show"})
    logged = tool(tool_name="Bash", tool_input={"command": "headspace effort log x"})
    assert (is_own_command(shown), is_log_command(shown)) == (True, False)
    assert (is_own_command(logged), is_log_command(logged)) == (True, True)


def test_only_reading_loads_a_file() -> None:
    """A written file has a path but is not loaded into the context."""
    read = tool(tool_name="Read", tool_input={"file_path": "/a.py"})
    written = tool(tool_name="Write", tool_input={"file_path": "/a.py"})
    assert (read.path, read.loaded_file) == ("/a.py", "/a.py")
    assert (written.path, written.loaded_file) == ("/a.py", None)


def test_a_dialogue_has_question_options_and_answer() -> None:
    """Other tools have no dialogue."""
    questions = [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]
    asked = hook(
        "PostToolUse",
        tool_name="AskUserQuestion",
        tool_input={"questions": questions},
        tool_response={"answers": {"Which?": "B"}},
    )
    assert format_dialogue(decode(asked)) == "Question: Which? (A, B)\nAnswer: Which? B"
    assert format_dialogue(decode(hook("PostToolUse", tool_name="Bash"))) is None


@pytest.mark.parametrize("payload", [{}, {"tool_input": 3}, {"tool_input": {"command": 5}}, {"tool_name": ["x"]}])
def test_malformed_payloads_have_no_path_and_no_command(payload: dict[str, Any]) -> None:
    """Decoding never raises."""
    use = tool(**payload)
    assert (use.path, is_own_command(use)) == (None, False)
