"""The modes interactive, mission and background: a test for each line of their table, from hook to reply."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import RunningDaemon, running_daemon, wait_until
from tests.support_hooks import Hooks

MODES = ("interactive", "mission", "background")
CONTACTS = """
[[contact]]
name = "Ada"
addresses = ["ada@example.org"]
tags = ["claude_direct"]

[[contact]]
name = "Ben"
addresses = ["ben@example.org"]
tags = ["claude_draft"]
"""


class Session:
    """A client in a mode, reduced to its hooks."""

    def __init__(self, hooks: Hooks, mode: str, pid: int) -> None:
        self._hooks = hooks
        self.id = f"{mode}-{pid}"
        self._env = {"CLAUDE_SESSION_MODE": mode, "CLAUDE_PID": str(pid)}

    def hook(self, event: str, **fields: Any) -> dict[str, Any]:
        """The reply to a hook, decoded as Claude Code does."""
        payload = {"session_id": self.id, "cwd": str(self._hooks.home), **fields}
        printed = self._hooks.fire(event, payload, **self._env)
        answer: dict[str, Any] = json.loads(printed) if printed else {}
        return answer

    def writes(self, tool: str, to: str) -> str:
        """The decision on a message."""
        call = {"tool_name": tool, "tool_use_id": f"{tool}-{to}", "tool_input": {"to": to, "text": "Hello"}}
        output = self.hook("PreToolUse", **call).get("hookSpecificOutput", {})
        return str(output.get("permissionDecision", "passes"))


class Setup:
    """A daemon, the installed hooks, and its clients."""

    def __init__(self, daemon: RunningDaemon, open_ones: contextlib.ExitStack) -> None:
        self.daemon = daemon
        self._open = open_ones
        self.hooks = Hooks(daemon.home)

    def session(self, mode: str) -> Session:
        """Start a client."""
        started = Session(self.hooks, mode, self.process())
        started.hook("SessionStart", source="startup")
        wait_until(lambda: self.agent(started), "the agent")
        return started

    def process(self) -> int:
        """The pid of a new process that stands in for a client."""
        process = self._open.enter_context(subprocess.Popen(["sleep", "600"]))
        self._open.callback(process.kill)
        return process.pid

    def agent(self, session: Session) -> dict[str, Any] | None:
        """The agent of a session."""
        return next((each for each in self.daemon.agents() if each["session_id"] == session.id), None)

    def wait_for_state(self, session: Session, word: str) -> None:
        """Wait until the session has this Claude OS state."""
        wait_until(lambda: (self.agent(session) or {})["dialects"]["claude_os"] == word, word)

    def wait_for_asking(self, event: str) -> None:
        """Wait until the hooks of this event ask for a reply."""
        wait_until((self.daemon.home / "asked" / event).exists, f"the file that makes {event} wait for a reply")


@pytest.fixture
def setup(tmp_path: Path) -> Iterator[Setup]:
    """A setup with contacts."""
    tmp_path.joinpath("contacts.toml").write_text(CONTACTS)
    with contextlib.ExitStack() as open_ones, running_daemon(tmp_path) as daemon:
        setup = Setup(daemon, open_ones)
        setup.wait_for_asking("PreToolUse")
        yield setup
        assert daemon.verified()


@pytest.mark.parametrize(
    ("mode", "direct", "draft_to_draft", "send_to_draft", "stranger"),
    [
        ("interactive", "passes", "passes", "deny", "deny"),
        ("mission", "deny", "deny", "deny", "deny"),
        ("background", "deny", "deny", "deny", "deny"),
    ],
)
def test_tool_validator(
    setup: Setup, mode: str, direct: str, draft_to_draft: str, send_to_draft: str, stranger: str
) -> None:
    """Only interactive sessions may write: sent messages to `claude_direct` only, drafts to `claude_draft` too."""
    session = setup.session(mode)
    assert session.writes("mcp__mail__send", "ada@example.org") == direct
    assert session.writes("mcp__mail__create_draft", "ben@example.org") == draft_to_draft
    assert session.writes("mcp__mail__send", "ben@example.org") == send_to_draft
    assert session.writes("mcp__mail__send", "eve@example.org") == stranger


@pytest.mark.parametrize("command", ["sudo ls", "pkill node", "killall node", "lsof -ti :3000 | xargs kill"])
@pytest.mark.parametrize(("mode", "decision"), [("interactive", "ask"), ("mission", "deny"), ("background", "deny")])
def test_what_nobody_can_approve_is_denied(setup: Setup, mode: str, decision: str, command: str) -> None:
    """Requirement: "Blocks dangerous commands: `pkill`, `killall`, `lsof | xargs kill`", "`sudo`"."""
    call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": command}}
    output = setup.session(mode).hook("PreToolUse", **call)["hookSpecificOutput"]
    assert output["permissionDecision"] == decision
    assert ("Nobody can answer in this session" in output["permissionDecisionReason"]) is (decision == "deny")


@pytest.mark.parametrize("mode", ["mission", "background"])
def test_the_mode_applies_from_the_first_event(setup: Setup, mode: str) -> None:
    """Requirement: "Only interactive sessions can send messages/emails". Also if a tool call is the first event."""
    session = Session(setup.hooks, mode, setup.process())
    assert session.writes("mcp__mail__send", "ada@example.org") == "deny"
    assert (setup.agent(session) or {})["mode"] == mode


def test_the_role_applies_from_the_first_event(tmp_path: Path) -> None:
    """A rule for a role applies to a session whose first event is a tool call."""
    rule = '[[rule]]\nid = "chiefs-only"\nroles = ["chief"]\ncommands = ["make"]\noutcome = "deny"\n'
    tmp_path.joinpath("policy.toml").write_text(rule)
    with contextlib.ExitStack() as open_ones, running_daemon(tmp_path) as daemon:
        setup = Setup(daemon, open_ones)
        setup.wait_for_asking("PreToolUse")
        for role, decision in (("chief", "deny"), ("auditor", None)):
            call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}
            payload = {"session_id": f"{role}-1", "cwd": str(tmp_path), **call}
            printed = setup.hooks.fire("PreToolUse", payload, CLAUDE_SESSION_ROLE=role, CLAUDE_PID=str(setup.process()))
            output = json.loads(printed or "{}").get("hookSpecificOutput", {})
            assert output.get("permissionDecision") == decision
            assert role in [agent["role"] for agent in daemon.agents()]


@pytest.mark.parametrize(("mode", "sent"), [("interactive", "ask"), ("mission", "deny"), ("background", "deny")])
def test_tool_validator_without_contacts(tmp_path: Path, mode: str, sent: str) -> None:
    """Without contacts you are asked, because nobody is named. Workers may not write at all."""
    with contextlib.ExitStack() as open_ones, running_daemon(tmp_path) as daemon:
        setup = Setup(daemon, open_ones)
        setup.wait_for_asking("PreToolUse")
        assert setup.session(mode).writes("mcp__slack__send_message", "#general") == sent


@pytest.mark.parametrize(("mode", "is_informed"), [("interactive", True), ("mission", True), ("background", False)])
def test_task_notifications(setup: Setup, mode: str, is_informed: bool) -> None:
    """The next prompt of a conversation brings the worker's result once. A background agent never gets it."""
    conversation = setup.session(mode)
    headers = {"X-Headspace-Caller-Session": conversation.id}
    body = {"goal": "Count the tests", "cwd": str(setup.daemon.home)}
    mission = setup.daemon.send("POST", "/api/missions", body, headers, scope="act").json()
    setup.daemon.send("POST", f"/api/missions/{mission['id']}/finish", {"text": "There are 12."}, scope="act")
    if is_informed:
        setup.wait_for_asking("UserPromptSubmit")
    else:
        wait_until(
            lambda: any(each["name"] == "WorkerEnded" for each in setup.daemon.events()),
            "the end of the worker in the log",
        )
    first = conversation.hook("UserPromptSubmit", prompt="Go on").get("hookSpecificOutput", {})
    assert ("There are 12." in first.get("additionalContext", "")) is is_informed
    assert conversation.hook("UserPromptSubmit", prompt="And on") == {}


@pytest.mark.parametrize("mode", MODES)
def test_tool_tracker(setup: Setup, mode: str) -> None:
    """`tool_active` while a tool runs, `active` between tools, `idle` after the turn, in every mode."""
    session = setup.session(mode)
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}
    session.hook("UserPromptSubmit", prompt="Build it", prompt_id="p")
    steps = (("PreToolUse", "tool_active"), ("PostToolUse", "active"))
    for event, word in steps:
        session.hook(event, **call)
        setup.wait_for_state(session, word)
    session.hook("Stop", last_assistant_message="Built.", prompt_id="p", stop_hook_active=True)
    setup.wait_for_state(session, "idle")


@pytest.mark.parametrize(("mode", "is_reminded"), [("interactive", False), ("mission", False), ("background", True)])
def test_a_background_agent_is_reminded_once_to_report(setup: Setup, mode: str, is_reminded: bool) -> None:
    """It continues after the reminder and ends the second time. Other modes end without a reminder."""
    session = setup.session(mode)
    if is_reminded:
        setup.wait_for_asking("Stop")
    session.hook("UserPromptSubmit", prompt="Count the tests", prompt_id="p")
    answer = session.hook("Stop", last_assistant_message="There are 12.", prompt_id="p", background_tasks=[])
    assert (answer.get("decision") == "block") is is_reminded
    state = "working" if is_reminded else "idle"
    wait_until(lambda: (setup.agent(session) or {})["state"] == state, state)
    again = {"last_assistant_message": "Good.", "prompt_id": "p", "stop_hook_active": is_reminded}
    assert session.hook("Stop", **again) == {}
    assert session.hook("Stop", **again, background_tasks=[]) == {}


def test_missions_have_no_effect_unless_they_are_used(setup: Setup) -> None:
    """Neither prompts nor ends of turns wait for a reply."""
    setup.session("interactive")
    asked = {path.name for path in (setup.daemon.home / "asked").iterdir()}
    assert not asked & {"UserPromptSubmit", "Stop"}
