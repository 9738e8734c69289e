"""Efforts end to end: the installed hook script asks, the reply reaches the client, sessions hand over.

One story for each flow of the engine, and one for each difference from its predecessors.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon, wait_until
from tests.support_hooks import Hooks
from tests.support_rpc import call

SESSION = "0d6c7b5e-one"


class Setup:
    """A project, a daemon, the installed hook script, and the command line."""

    def __init__(self, daemon: RunningDaemon, root: Path) -> None:
        self.daemon = daemon
        self.root = root
        self._hooks = Hooks(daemon.home)

    def hook(self, event: str, env: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
        """The output of the script for a hook, decoded as Claude Code does; empty without output."""
        payload = {"session_id": SESSION, "cwd": str(self.root), "hook_event_name": event, **fields}
        printed = self._hooks.fire(event, payload, **(env or {}))
        return dict(json.loads(printed)["hookSpecificOutput"]) if printed else {}

    def tool(self, command: str = "make", **fields: Any) -> dict[str, Any]:
        """Send the hook before a shell command."""
        return self.hook("PreToolUse", tool_name="Bash", tool_input={"command": command}, **fields)

    def headspace(self, *arguments: str) -> str:
        """Run a command as the agent does in its shell."""
        done = subprocess.run(
            [sys.executable, "-m", "claude_headspace", *arguments],
            env={**environment(self.daemon.home), "CLAUDE_CODE_SESSION_ID": SESSION},
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def do(self, name: str, env: dict[str, str] | None = None, **args: Any) -> dict[str, Any]:
        """Run an effort method as the command line does."""
        who = {"CLAUDE_CODE_SESSION_ID": SESSION, **(env or {})}
        found: dict[str, Any] = call(self.daemon, f"effort.{name}", {"cwd": str(self.root), **args}, who)
        return found

    def effort(self) -> dict[str, Any]:
        """The current effort."""
        return self.do("show")

    @property
    def asked(self) -> set[str]:
        """The events of Claude Code whose hooks wait for a reply. Those of other clients have its name as a prefix."""
        folder = self.daemon.home / "asked"
        return {path.name for path in folder.iterdir() if "." not in path.name} if folder.exists() else set()


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[Setup]:
    """A setup without an effort."""
    root = tmp_path / "app"
    (root / ".git").mkdir(parents=True)
    with running_daemon(tmp_path / "home", hold_seconds=0, policy_preset="off") as daemon:
        yield Setup(daemon, root)
        assert daemon.verified()


def test_efforts_have_no_effect_until_one_is_started(setup: Setup) -> None:
    """No hook waits and nothing is printed, also after the last effort has finished."""
    assert setup.asked == set()
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"):
        assert setup.hook(event) == {}
    setup.do("start", skill="fix")
    assert setup.asked == {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"}
    setup.do("finish")
    assert setup.asked == set()
    assert setup.hook("SessionStart", source="startup") == {}


def test_a_hook_without_a_token_does_not_count_for_an_effort(setup: Setup) -> None:
    """Its agent is on the board, but another program cannot cause an agent's tool calls to be denied."""
    setup.do("start", skill="fix", metadata={"heartbeat_limit": 2})
    payload = {"session_id": SESSION, "cwd": str(setup.root), "tool_name": "Bash", "tool_input": {"command": "x"}}
    for _ in range(5):
        assert setup.daemon.curl("pre-tool-use", payload).json()["state"] == "working"
    assert setup.tool() == {}
    assert setup.effort()["heartbeat"] == 1


def test_startup_flow(setup: Setup) -> None:
    """When a session starts, the client receives the preloaded files and the handover."""
    (setup.root / "notes.md").write_text("Mind the gap.")
    setup.do("start", skill="fix", preload=["notes.md", "missing.md"])
    setup.do("dehydrate", text="The parser is half done.")
    context = setup.hook("SessionStart", source="startup")["additionalContext"]
    for part in ("fix #1", "Mind the gap.", "The parser is half done.", "missing.md (0 bytes): left out"):
        assert part in context
    [session] = setup.effort()["sessions"]
    assert session["loaded_files"] == [str(setup.root / "notes.md")]


def test_tool_call_flow(setup: Setup) -> None:
    """The tenth call is denied, a log entry allows the next, and messages arrive with a tool result."""
    setup.headspace("effort", "start", "fix")
    setup.hook("SessionStart", source="startup")
    answers = [setup.tool(tool_use_id=f"t{n}") for n in range(10)]
    assert [answer.get("permissionDecision") for answer in answers] == [None] * 9 + ["deny"]
    assert "headspace effort log" in answers[9]["permissionDecisionReason"]
    assert "denied" in answers[8]["additionalContext"]
    assert setup.tool("headspace effort log 'Found it.'") == {}
    setup.headspace("effort", "log", "Found it.")
    assert setup.tool() == {}
    setup.do("inject", text="The API changed.")
    assert "The API changed." in setup.hook("PostToolUse", tool_name="Bash")["additionalContext"]
    assert setup.hook("PostToolUse", tool_name="Bash") == {}
    assert setup.effort()["injections"][0]["delivery"] == "delivered"


def test_overflow_flow(setup: Setup) -> None:
    """A full context asks once for a handover. The next session gets it and is linked to the previous one."""
    setup.do("start", skill="fix", metadata={"overflow_at": 1})
    setup.hook("SessionStart", source="startup")
    _measure(setup, 150_000)
    assert "headspace effort dehydrate" in setup.tool()["additionalContext"]
    assert setup.tool() == {}
    setup.do("dehydrate", text="Next: the lexer.", files=["lexer.py"])
    setup.hook("PreCompact", trigger="auto")
    context = setup.hook("SessionStart", source="compact")["additionalContext"]
    assert "Next: the lexer." in context
    wait_until(lambda: len(setup.effort()["sessions"]) == 2, "the second session")
    first, second = setup.effort()["sessions"]
    assert second["prev_session_id"] == first["id"]
    assert first["dehydrated"]


def _measure(setup: Setup, tokens: int) -> None:
    """The client's transcript reports the context usage."""
    folder = setup.daemon.home / ".claude" / "projects" / "app"
    folder.mkdir(parents=True)
    message = {"model": "claude-x", "content": [{"type": "text", "text": "Hm."}], "usage": {"input_tokens": tokens}}
    line = {"type": "assistant", "uuid": "u1", "sessionId": SESSION, "cwd": str(setup.root), "message": message}
    now = json.dumps(line | {"timestamp": _now()})
    (folder / f"{SESSION}.jsonl").write_text(now + "\n")
    wait_until(lambda: any(agent["context_percent"] for agent in setup.daemon.agents()), "the context to be measured")


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def test_fleet_notification_flow(setup: Setup) -> None:
    """An agent's status is the same on the board, on the socket and in the fleet."""
    setup.hook("UserPromptSubmit", prompt="Go")
    setup.hook("PermissionRequest", tool_name="Bash", tool_input={"command": "rm x"})
    wait_until(lambda: [agent["state"] for agent in setup.daemon.agents()] == ["waiting"], "the wait")
    [agent] = setup.daemon.agents()
    [session] = json.loads(setup.headspace("fleet", "--json"))["sessions"]
    assert (agent["dialects"]["fleet"], session["status"]) == ("attention", "attention")


def test_an_effort_survives_a_killed_daemon(tmp_path: Path) -> None:
    """Counts, messages and phase come from the log, so the next daemon has the same."""
    home, root = tmp_path / "home", tmp_path / "app"
    (root / ".git").mkdir(parents=True)
    here = {"cwd": str(root), "sessionId": "s"}
    with running_daemon(home) as daemon:
        call(daemon, "effort.start", {"skill": "fix", "phase": "look", "cwd": str(root)})
        for _ in range(4):
            call(daemon, "hooks.preToolUse", {**here, "toolName": "Bash"})
        daemon.kill()
    with running_daemon(home) as daemon:
        assert call(daemon, "hooks.preToolUse", {**here, "toolName": "Bash"})["heartbeatCount"] == 5
        assert call(daemon, "hooks.userPrompt", here)["phase"] == "look"
        assert (home / "asked" / "PreToolUse").exists()
        assert daemon.verified()


def test_no_process_id_owns_an_effort(setup: Setup) -> None:
    """Another client process continues the effort as soon as the first has ended."""
    setup.do("start", skill="fix")
    here = {"sessionId": "first", "cwd": str(setup.root)}
    call(setup.daemon, "hooks.sessionStart", here, {"CLAUDE_PID": str(os.getpid())})
    call(setup.daemon, "hooks.sessionEnd", {**here, "reason": "other"}, {"CLAUDE_PID": str(os.getpid())})
    again = call(setup.daemon, "hooks.sessionStart", {**here, "sessionId": "second"})
    assert again["found"]


@contextlib.contextmanager
def some_processes(number: int) -> Iterator[list[int]]:
    """Processes that represent clients."""
    running = [subprocess.Popen(["sleep", "300"]) for _ in range(number)]
    try:
        yield [process.pid for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()


def test_the_panes_of_a_fleet_have_separate_efforts(setup: Setup) -> None:
    """`AGENT_ID` in the client's environment selects the effort. The script forwards it."""
    setup.do("start", {"AGENT_ID": "main:1"}, skill="fix")
    setup.do("start", {"AGENT_ID": "main:2"}, skill="review")
    with some_processes(3) as pids:
        for pane, skill, pid in (("main:1", "fix", pids[0]), ("main:2", "review", pids[1])):
            env = {"AGENT_ID": pane, "CLAUDE_PID": str(pid)}
            output = setup.hook("SessionStart", env, source="startup", session_id=f"session-{pane}")
            assert f"{skill} #" in output["additionalContext"]
        env = {"AGENT_ID": "main:3", "CLAUDE_PID": str(pids[2])}
        assert setup.hook("SessionStart", env, source="startup", session_id="session-3") == {}


def test_one_reply_contains_everything_after_a_tool_result(setup: Setup) -> None:
    """Messages, dialogue and instruction files of a call arrive in one reply. No file is written for them."""
    (setup.root / "AGENTS.md").write_text("x")
    setup.do("start", skill="fix")
    setup.do("inject", text="Look.")
    questions = {"questions": [{"question": "Which?", "options": []}], "file_path": str(setup.root / "a.py")}
    output = setup.hook("PostToolUse", tool_name="AskUserQuestion", tool_input=questions)
    effort = setup.effort()
    assert "Look." in output["additionalContext"]
    assert [each["kind"] for each in effort["messages"]] == ["dialogue"]
    assert effort["directives"] == [str(setup.root / "AGENTS.md")]
    assert {path.name for path in setup.root.iterdir()} == {".git", "AGENTS.md"}


def test_one_reply_decides_all_gates_of_a_call(setup: Setup) -> None:
    """The session gate, the directive gate and the heartbeat are decided in one reply. Each names the next step."""
    (setup.root / "AGENTS.md").write_text("x")
    gates = {"session": True, "directives": ["AGENTS.md"]}
    setup.do("start", skill="fix", metadata={"gates": gates, "heartbeat_limit": 4})
    assert "headspace effort open" in setup.tool()["permissionDecisionReason"]
    setup.do("open")
    assert "AGENTS.md" in setup.tool()["permissionDecisionReason"]
    read: dict[str, Any] = {"tool_name": "Read", "tool_input": {"file_path": str(setup.root / "AGENTS.md")}}
    assert "permissionDecision" not in setup.hook("PreToolUse", **read)
    setup.hook("PostToolUse", **read)
    assert "headspace effort log" in setup.tool()["permissionDecisionReason"]
    setup.do("log", text="Read it.")
    assert setup.tool() == {}


def test_papers_belong_to_efforts(setup: Setup) -> None:
    """Each effort has its own papers, named by its number, no matter which session writes them."""
    first, second = setup.do("start", skill="fix"), setup.do("start", skill="review")
    assert first["artifacts"]["log"] == f"{setup.root}/1_FIX_LOG.md"
    assert second["artifacts"]["debrief"] == f"{setup.root}/2_REVIEW_DEBRIEF.md"
    context = setup.hook("SessionStart", source="startup")["additionalContext"]
    assert "2_REVIEW_PLAN.md" in context


# --- typed skills -----------------------------------------------------------------------------------------------------


def write_skill(root: Path, name: str, frontmatter: str) -> None:
    """Write a skill of the project."""
    file = root / ".claude" / "skills" / name / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\n{frontmatter}\n---\nDo it.\n")


def test_typing_a_skill_starts_an_effort(setup: Setup) -> None:
    """Requirement: "Running `/brainstorm`, `/implement`, or `/fix` creates an effort." Once, with its introduction."""
    write_skill(setup.root, "implement", "phases: [plan, build]\nheartbeat_limit: 20")
    setup.hook("SessionStart", source="startup")
    for prompt in ("/implement the cart", "/implement it, really"):
        setup.hook("UserPromptSubmit", prompt=prompt)
        wait_until(lambda: "PostToolUse" in setup.asked, "hooks that wait for a reply")
    found = setup.effort()
    assert (found["skill"], found["ordinal"], found["phase"], found["heartbeat_limit"]) == ("implement", 1, "plan", 20)
    [agent] = setup.daemon.agents()
    assert found["agent_id"] == agent["id"]
    assert len(setup.do("list", all=True)["efforts"]) == 1
    call_of: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": "ok"}
    given = [setup.hook("PostToolUse", **call_of).get("additionalContext", "") for _ in range(2)]
    assert ["You work on effort implement #1" in text for text in given] in ([True, False], [False, False])
    assert setup.effort()["injections"][0]["delivery"] != "queued"
    assert setup.daemon.verified()


@pytest.mark.parametrize("prompt", ["/implement the cart", "Use /fix here", "/unknown"])
def test_other_prompts_start_nothing(setup: Setup, prompt: str) -> None:
    """A skill without phases, a skill inside a text, and an unknown command."""
    write_skill(setup.root, "implement", "description: no phases")
    write_skill(setup.root, "fix", "phases: [look]")
    setup.hook("SessionStart", source="startup")
    setup.hook("UserPromptSubmit", prompt=prompt)
    wait_until(lambda: [each for each in setup.daemon.agents() if each["state"] == "working"], "the prompt")
    assert setup.do("list", all=True)["efforts"] == []


def test_a_project_can_be_excluded(tmp_path: Path) -> None:
    """The settings name skills, projects, or both."""
    root = tmp_path / "app"
    (root / ".git").mkdir(parents=True)
    write_skill(root, "implement", "phases: [plan]")
    with running_daemon(tmp_path / "home", policy_preset="off", effort_except=f"{root}:implement") as daemon:
        setup = Setup(daemon, root)
        setup.hook("SessionStart", source="startup")
        setup.hook("UserPromptSubmit", prompt="/implement the cart")
        wait_until(lambda: [each for each in daemon.agents() if each["state"] == "working"], "the prompt")
        assert setup.do("list", all=True)["efforts"] == []


# --- without a handover -----------------------------------------------------------------------------------------------


def test_without_a_handover_the_documents_are_read(setup: Setup) -> None:
    """Requirement: "if no payload: rehydrate by reading effort artifacts"."""
    setup.do("start", skill="fix")
    (setup.root / "1_FIX_PLAN.md").write_text("PLAN-5521")
    setup.hook("SessionStart", source="startup")
    given = setup.hook("SessionStart", session_id="two", source="clear")["additionalContext"]
    assert "PLAN-5521" in given
    assert "1_FIX_DEBRIEF.md (" not in given, "it does not exist"
    assert setup.do("open")["documents"] == [str(setup.root / "1_FIX_PLAN.md")]
    setup.do("dehydrate", text="HANDED-5522")
    given = setup.hook("SessionStart", session_id="four", source="clear")["additionalContext"]
    assert ("HANDED-5522" in given, "PLAN-5521" in given) == (True, False)
