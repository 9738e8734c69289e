"""Efforts as users have them: the installed script asks, the answer reaches the client, sessions hand over.

One story for each flow of the engine, and one for each thing that it does otherwise than its forerunners.
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


class House:
    """A project, a daemon, the installed script, and the command line."""

    def __init__(self, daemon: RunningDaemon, root: Path) -> None:
        self.daemon = daemon
        self.root = root
        self._hooks = Hooks(daemon.home)

    def hook(self, event: str, env: dict[str, str] | None = None, **told: Any) -> dict[str, Any]:
        """What the script prints for a hook, as Claude Code reads it; empty if it prints nothing."""
        payload = {"session_id": SESSION, "cwd": str(self.root), "hook_event_name": event, **told}
        printed = self._hooks.fire(event, payload, **(env or {}))
        return dict(json.loads(printed)["hookSpecificOutput"]) if printed else {}

    def tool(self, command: str = "make", **told: Any) -> dict[str, Any]:
        """A shell command is about to run."""
        return self.hook("PreToolUse", tool_name="Bash", tool_input={"command": command}, **told)

    def headspace(self, *arguments: str) -> str:
        """Run a command as the agent would, in its shell."""
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
        """Do something to the effort, as the command line does it."""
        who = {"CLAUDE_CODE_SESSION_ID": SESSION, **(env or {})}
        found: dict[str, Any] = call(self.daemon, f"effort.{name}", {"cwd": str(self.root), **args}, who)
        return found

    def effort(self) -> dict[str, Any]:
        """The effort as it is."""
        return self.do("show")

    @property
    def asked(self) -> set[str]:
        """The events that wait for an answer."""
        folder = self.daemon.home / "asked"
        return {path.name for path in folder.iterdir()} if folder.exists() else set()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A house in which nobody has begun an effort."""
    root = tmp_path / "app"
    (root / ".git").mkdir(parents=True)
    with running_daemon(tmp_path / "home", hold_seconds=0, policy_preset="off") as daemon:
        yield House(daemon, root)
        assert daemon.verified()


def test_whoever_never_starts_an_effort_notices_nothing(house: House) -> None:
    """No hook waits, nothing is printed; after the last effort is finished it is so again."""
    assert house.asked == set()
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"):
        assert house.hook(event) == {}
    house.do("start", skill="fix")
    assert house.asked == {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"}
    house.do("finish")
    assert house.asked == set()
    assert house.hook("SessionStart", source="startup") == {}


def test_what_anybody_may_send_counts_on_no_effort(house: House) -> None:
    """A hook without the token is on the board, but another program cannot have an agent's calls refused."""
    house.do("start", skill="fix", metadata={"heartbeat_limit": 2})
    told = {"session_id": SESSION, "cwd": str(house.root), "tool_name": "Bash", "tool_input": {"command": "x"}}
    for _ in range(5):
        assert house.daemon.post("pre-tool-use", told).json()["state"] == "working"
    assert house.tool() == {}
    assert house.effort()["heartbeat"] == 1


def test_startup_flow(house: House) -> None:
    """A session starts: the files to preload and what was handed over are in what the client reads."""
    (house.root / "notes.md").write_text("Mind the gap.")
    house.do("start", skill="fix", preload=["notes.md", "missing.md"])
    house.do("dehydrate", text="The parser is half done.")
    told = house.hook("SessionStart", source="startup")["additionalContext"]
    for part in ("fix #1", "Mind the gap.", "The parser is half done.", "missing.md (0 bytes): left out"):
        assert part in told
    [session] = house.effort()["sessions"]
    assert session["loaded_files"] == [str(house.root / "notes.md")]


def test_tool_call_flow(house: House) -> None:
    """The tenth call is denied in the client's own words, a log entry frees the next; messages come with a result."""
    house.headspace("effort", "start", "fix")
    house.hook("SessionStart", source="startup")
    answers = [house.tool(tool_use_id=f"t{n}") for n in range(10)]
    assert [answer.get("permissionDecision") for answer in answers] == [None] * 9 + ["deny"]
    assert "headspace effort log" in answers[9]["permissionDecisionReason"]
    assert "denied" in answers[8]["additionalContext"]
    assert house.tool("headspace effort log 'Found it.'") == {}
    house.headspace("effort", "log", "Found it.")
    assert house.tool() == {}
    house.do("inject", text="The API changed.")
    assert "The API changed." in house.hook("PostToolUse", tool_name="Bash")["additionalContext"]
    assert house.hook("PostToolUse", tool_name="Bash") == {}
    assert house.effort()["injections"][0]["delivery"] == "delivered"


def test_overflow_flow(house: House) -> None:
    """Full → asked to hand over, once → another session with the payload, linked to the one before."""
    house.do("start", skill="fix", metadata={"overflow_at": 1})
    house.hook("SessionStart", source="startup")
    _measure(house, 150_000)
    assert "headspace effort dehydrate" in house.tool()["additionalContext"]
    assert house.tool() == {}
    house.do("dehydrate", text="Next: the lexer.", files=["lexer.py"])
    house.hook("PreCompact", trigger="auto")
    told = house.hook("SessionStart", source="compact")["additionalContext"]
    assert "Next: the lexer." in told
    wait_until(lambda: len(house.effort()["sessions"]) == 2, "the second session")
    first, second = house.effort()["sessions"]
    assert second["prev_session_id"] == first["id"]
    assert first["dehydrated"]


def _measure(house: House, tokens: int) -> None:
    """The client's transcript tells how full the context is."""
    folder = house.daemon.home / ".claude" / "projects" / "app"
    folder.mkdir(parents=True)
    message = {"model": "claude-x", "content": [{"type": "text", "text": "Hm."}], "usage": {"input_tokens": tokens}}
    line = {"type": "assistant", "uuid": "u1", "sessionId": SESSION, "cwd": str(house.root), "message": message}
    now = json.dumps(line | {"timestamp": _now()})
    (folder / f"{SESSION}.jsonl").write_text(now + "\n")
    wait_until(lambda: any(agent["context_percent"] for agent in house.daemon.agents()), "the context to be measured")


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def test_fleet_notification_flow(house: House) -> None:
    """An agent's status is the same on the board, on the socket and in the fleet."""
    house.hook("UserPromptSubmit", prompt="Go")
    house.hook("PermissionRequest", tool_name="Bash", tool_input={"command": "rm x"})
    wait_until(lambda: [agent["state"] for agent in house.daemon.agents()] == ["waiting"], "the wait")
    [agent] = house.daemon.agents()
    [session] = json.loads(house.headspace("fleet", "--json"))["sessions"]
    assert (agent["dialects"]["fleet"], session["status"]) == ("attention", "attention")


def test_an_effort_survives_a_killed_daemon(tmp_path: Path) -> None:
    """Counts, messages and phase are those of the log, whoever serves it."""
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


def test_no_process_id_owns_an_effort(house: House) -> None:
    """The next client, another process, goes on with it as soon as the first is gone."""
    house.do("start", skill="fix")
    here = {"sessionId": "first", "cwd": str(house.root)}
    call(house.daemon, "hooks.sessionStart", here, {"CLAUDE_PID": str(os.getpid())})
    call(house.daemon, "hooks.sessionEnd", {**here, "reason": "other"}, {"CLAUDE_PID": str(os.getpid())})
    again = call(house.daemon, "hooks.sessionStart", {**here, "sessionId": "second"})
    assert again["found"]


@contextlib.contextmanager
def some_processes(number: int) -> Iterator[list[int]]:
    """Processes that stand for clients."""
    running = [subprocess.Popen(["sleep", "300"]) for _ in range(number)]
    try:
        yield [process.pid for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()


def test_a_fleets_panes_have_their_own_efforts(house: House) -> None:
    """`AGENT_ID` in the client's environment decides: the script passes it on."""
    house.do("start", {"AGENT_ID": "main:1"}, skill="fix")
    house.do("start", {"AGENT_ID": "main:2"}, skill="review")
    with some_processes(3) as pids:
        for pane, skill, pid in (("main:1", "fix", pids[0]), ("main:2", "review", pids[1])):
            env = {"AGENT_ID": pane, "CLAUDE_PID": str(pid)}
            told = house.hook("SessionStart", env, source="startup", session_id=f"session-{pane}")
            assert f"{skill} #" in told["additionalContext"]
        env = {"AGENT_ID": "main:3", "CLAUDE_PID": str(pids[2])}
        assert house.hook("SessionStart", env, source="startup", session_id="session-3") == {}


def test_one_answer_holds_all_that_a_result_brings(house: House) -> None:
    """Messages, dialogue and instruction files of a call come of one round trip; no file is written for them."""
    (house.root / "AGENTS.md").write_text("x")
    house.do("start", skill="fix")
    house.do("inject", text="Look.")
    questions = {"questions": [{"question": "Which?", "options": []}], "file_path": str(house.root / "a.py")}
    told = house.hook("PostToolUse", tool_name="AskUserQuestion", tool_input=questions)
    effort = house.effort()
    assert "Look." in told["additionalContext"]
    assert [each["kind"] for each in effort["messages"]] == ["dialogue"]
    assert effort["directives"] == [str(house.root / "AGENTS.md")]
    assert {path.name for path in house.root.iterdir()} == {".git", "AGENTS.md"}


def test_one_answer_decides_all_that_a_call_needs(house: House) -> None:
    """The session gate, the directive gate and the heartbeat are one round trip, and each says how to go on."""
    (house.root / "AGENTS.md").write_text("x")
    gates = {"session": True, "directives": ["AGENTS.md"]}
    house.do("start", skill="fix", metadata={"gates": gates, "heartbeat_limit": 4})
    assert "headspace effort open" in house.tool()["permissionDecisionReason"]
    house.do("open")
    assert "AGENTS.md" in house.tool()["permissionDecisionReason"]
    read: dict[str, Any] = {"tool_name": "Read", "tool_input": {"file_path": str(house.root / "AGENTS.md")}}
    assert "permissionDecision" not in house.hook("PreToolUse", **read)
    house.hook("PostToolUse", **read)
    assert "headspace effort log" in house.tool()["permissionDecisionReason"]
    house.do("log", text="Read it.")
    assert house.tool() == {}


def test_papers_belong_to_efforts(house: House) -> None:
    """Each has its own, named by its number, whichever session writes them."""
    first, second = house.do("start", skill="fix"), house.do("start", skill="review")
    assert first["artifacts"]["log"] == f"{house.root}/1_FIX_LOG.md"
    assert second["artifacts"]["debrief"] == f"{house.root}/2_REVIEW_DEBRIEF.md"
    told = house.hook("SessionStart", source="startup")["additionalContext"]
    assert "2_REVIEW_PLAN.md" in told
