"""What the modes interactive, mission and background mean: a test for each line of their table, from hook to answer."""

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
    """A client in a mode, as far as its hooks tell of it."""

    def __init__(self, hooks: Hooks, mode: str, pid: int) -> None:
        self._hooks = hooks
        self.id = f"{mode}-{pid}"
        self._env = {"CLAUDE_SESSION_MODE": mode, "CLAUDE_PID": str(pid)}

    def hook(self, event: str, **told: Any) -> dict[str, Any]:
        """What Claude Code reads as the answer to a hook."""
        payload = {"session_id": self.id, "cwd": str(self._hooks.home), **told}
        printed = self._hooks.fire(event, payload, **self._env)
        answer: dict[str, Any] = json.loads(printed) if printed else {}
        return answer

    def writes(self, tool: str, to: str) -> str:
        """What becomes of a message."""
        call = {"tool_name": tool, "tool_use_id": f"{tool}-{to}", "tool_input": {"to": to, "text": "Hello"}}
        output = self.hook("PreToolUse", **call).get("hookSpecificOutput", {})
        return str(output.get("permissionDecision", "passes"))


class House:
    """A daemon, the installed hooks, and clients."""

    def __init__(self, daemon: RunningDaemon, open_ones: contextlib.ExitStack) -> None:
        self.daemon = daemon
        self._open = open_ones
        self.hooks = Hooks(daemon.home)

    def session(self, mode: str) -> Session:
        """A client that has begun."""
        process = self._open.enter_context(subprocess.Popen(["sleep", "600"]))
        self._open.callback(process.kill)
        begun = Session(self.hooks, mode, process.pid)
        begun.hook("SessionStart", source="startup")
        wait_until(lambda: self.agent(begun), "the agent to be known")
        return begun

    def agent(self, session: Session) -> dict[str, Any] | None:
        """The agent of a session."""
        return next((each for each in self.daemon.agents() if each["session_id"] == session.id), None)

    def says(self, session: Session, word: str) -> None:
        """Wait until Claude OS would call the session so."""
        wait_until(lambda: (self.agent(session) or {})["dialects"]["claude_os"] == word, word)

    def waits_for(self, event: str) -> None:
        """Wait until the hooks know that they are to ask."""
        wait_until((self.daemon.home / "asked" / event).exists, f"the sign that {event} is answered")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A house in which contacts are named."""
    tmp_path.joinpath("contacts.toml").write_text(CONTACTS)
    with contextlib.ExitStack() as open_ones, running_daemon(tmp_path) as daemon:
        made = House(daemon, open_ones)
        made.waits_for("PreToolUse")
        yield made
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
    house: House, mode: str, direct: str, draft_to_draft: str, send_to_draft: str, stranger: str
) -> None:
    """Messages only from interactive sessions: sent to `claude_direct` only, drafted to `claude_draft` too."""
    session = house.session(mode)
    assert session.writes("mcp__mail__send", "ada@example.org") == direct
    assert session.writes("mcp__mail__create_draft", "ben@example.org") == draft_to_draft
    assert session.writes("mcp__mail__send", "ben@example.org") == send_to_draft
    assert session.writes("mcp__mail__send", "eve@example.org") == stranger


@pytest.mark.parametrize(("mode", "sent"), [("interactive", "passes"), ("mission", "deny"), ("background", "deny")])
def test_tool_validator_where_nobody_named_contacts(tmp_path: Path, mode: str, sent: str) -> None:
    """Who never heard of contacts writes as Claude Code's own permissions allow; workers write to nobody."""
    with contextlib.ExitStack() as open_ones, running_daemon(tmp_path) as daemon:
        house = House(daemon, open_ones)
        house.waits_for("PreToolUse")
        assert house.session(mode).writes("mcp__slack__send_message", "#general") == sent


@pytest.mark.parametrize(("mode", "is_told"), [("interactive", True), ("mission", True), ("background", False)])
def test_task_notifications(house: House, mode: str, is_told: bool) -> None:
    """A conversation is told of its worker at its next prompt, once; a background agent never."""
    conversation = house.session(mode)
    told = {"X-Headspace-Caller-Session": conversation.id}
    body = {"goal": "Count the tests", "cwd": str(house.daemon.home)}
    mission = house.daemon.send("POST", "/api/missions", body, told, scope="act").json()
    house.daemon.send("POST", f"/api/missions/{mission['id']}/finish", {"text": "There are 12."}, scope="act")
    if is_told:
        house.waits_for("UserPromptSubmit")
    else:
        wait_until(
            lambda: any(each["name"] == "WorkerEnded" for each in house.daemon.events()), "the worker's end to be noted"
        )
    first = conversation.hook("UserPromptSubmit", prompt="Go on").get("hookSpecificOutput", {})
    assert ("There are 12." in first.get("additionalContext", "")) is is_told
    assert conversation.hook("UserPromptSubmit", prompt="And on") == {}


@pytest.mark.parametrize("mode", MODES)
def test_tool_tracker(house: House, mode: str) -> None:
    """`tool_active` while a tool runs, `active` between tools, `idle` after the turn; Headspace follows every mode."""
    session = house.session(mode)
    call = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}
    session.hook("UserPromptSubmit", prompt="Build it", prompt_id="p")
    steps = (("PreToolUse", "tool_active"), ("PostToolUse", "active"))
    for event, word in steps:
        session.hook(event, **call)
        house.says(session, word)
    session.hook("Stop", last_assistant_message="Built.", prompt_id="p", stop_hook_active=True)
    house.says(session, "idle")


@pytest.mark.parametrize(("mode", "is_reminded"), [("interactive", False), ("mission", False), ("background", True)])
def test_a_background_agent_is_reminded_once_to_report(house: House, mode: str, is_reminded: bool) -> None:
    """It goes on then, and is let go the second time; other modes end as they like."""
    session = house.session(mode)
    if is_reminded:
        house.waits_for("Stop")
    session.hook("UserPromptSubmit", prompt="Count the tests", prompt_id="p")
    answer = session.hook("Stop", last_assistant_message="There are 12.", prompt_id="p", background_tasks=[])
    assert (answer.get("decision") == "block") is is_reminded
    state = "working" if is_reminded else "idle"
    wait_until(lambda: (house.agent(session) or {})["state"] == state, state)
    again = {"last_assistant_message": "Good.", "prompt_id": "p", "stop_hook_active": is_reminded}
    assert session.hook("Stop", **again) == {}
    assert session.hook("Stop", **again, background_tasks=[]) == {}


def test_whoever_has_no_missions_notices_nothing(house: House) -> None:
    """Neither prompts nor ends of turns wait for an answer."""
    house.session("interactive")
    asked = {path.name for path in (house.daemon.home / "asked").iterdir()}
    assert not asked & {"UserPromptSubmit", "Stop"}
