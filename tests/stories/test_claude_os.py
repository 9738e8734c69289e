"""Sessions of Claude OS as users have them: the installed script, a real daemon, files on the disk.

One story for each of its handlers (start, prompt, tools, stop, end), for the session's id, and for each rule of how
errors are handled.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon, wait_until
from tests.support_hooks import Hooks
from tests.support_rpc import call, refusal

SESSION = "5e551011-0001"
CHIEF = {"CLAUDE_SESSION_ROLE": "chief"}
LOADED = """[CLAUDE OS SYS: INFO]: Session context loaded

Core memory files loaded automatically:
- TODAY.MD (daily memory)

For the role chief:
- IDENTITY.MD (Desktop/identity.md)

Not loaded:
- gone.md: not found

Full content follows:

## TODAY.MD (daily memory)
Ship it.

## IDENTITY.MD (Desktop/identity.md)
I am."""


class Desk:
    """A Claude OS on the disk, a project, a daemon, and the installed script."""

    def __init__(self, daemon: RunningDaemon, root: Path, project: Path) -> None:
        self.daemon, self.root, self.project = daemon, root, project
        self._hooks = Hooks(daemon.home)

    def write(self, path: str, text: str) -> None:
        """A file of Claude OS."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def printed(self, event: str, env: dict[str, str] | None = None, **told: Any) -> bytes:
        """What the script prints for a hook."""
        payload = {"session_id": SESSION, "cwd": str(self.project), "hook_event_name": event, **told}
        return self._hooks.fire(event, payload, **(env or {}))

    def hook(self, event: str, env: dict[str, str] | None = None, **told: Any) -> dict[str, Any]:
        """The same as Claude Code reads it; empty if it prints nothing."""
        printed = self.printed(event, env, **told)
        return dict(json.loads(printed)) if printed else {}

    def said(self, event: str, env: dict[str, str] | None = None, **told: Any) -> str:
        """What the model is told."""
        return str(self.hook(event, env, **told).get("hookSpecificOutput", {}).get("additionalContext", ""))

    def fills_up(self, percent: float) -> None:
        """The client's status line tells how full its context is."""
        usage = {"context_window_size": 200_000, "current_usage": {"input_tokens": round(percent * 2_000)}}
        told = {"session_id": SESSION, "cwd": str(self.project), "context_window": usage}
        assert self.daemon.post("StatusLine", told).status == 200

    def headspace(self, *arguments: str, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a command, as an agent would in its shell."""
        return subprocess.run(
            [sys.executable, "-m", "claude_headspace", *arguments],
            env={**environment(self.daemon.home), **(env or {})},
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )

    @property
    def agent(self) -> dict[str, Any]:
        """The only agent."""
        [found] = self.daemon.agents()
        return found


Open = Callable[..., Desk]


@pytest.fixture
def open_desk(tmp_path: Path) -> Iterator[Open]:
    """Opens a desk with some settings."""
    with ExitStack() as stack:

        def opened(*, set_up: bool = True, **settings: Any) -> Desk:
            root, project = tmp_path / "os", tmp_path / "shop"
            (project / ".git").mkdir(parents=True)
            root.mkdir()
            given = {"claude_os_root": str(root)} if set_up else {}
            quiet = {"hold_seconds": 0, "policy_preset": "off"}
            daemon = stack.enter_context(running_daemon(tmp_path / "home", **quiet, **given, **settings))
            stack.callback(lambda: daemon.alive and daemon.verified())
            return Desk(daemon, root, project)

        yield opened


# --- who takes part ---------------------------------------------------------------------------------------------------


def test_whoever_did_not_ask_for_it_notices_nothing(open_desk: Open) -> None:
    """No hook waits and nothing is printed, not even where the usual core files happen to be; usage is shown anyway."""
    desk = open_desk(set_up=False)
    (desk.project / "Desktop").mkdir()
    (desk.project / "Desktop" / "TODAY.md").write_text("Mine.")
    assert desk.printed("SessionStart", source="startup") == b""
    wait_until(desk.daemon.agents, "the agent")
    desk.fills_up(97)
    assert desk.printed("UserPromptSubmit", prompt="Go") == b""
    assert desk.printed("Stop", last_assistant_message="Done.") == b""
    assert list((desk.daemon.home / "asked").glob("*")) == []
    wait_until(lambda: desk.agent["state"] == "idle" and desk.agent["context_percent"] == 97, "the board")
    assert (desk.agent["briefed"], desk.agent["context_warning_level"]) == (None, 0)


def test_a_role_alone_is_enough(open_desk: Open) -> None:
    """Without any configuration a session with a role is given the files of its own project."""
    desk = open_desk(set_up=False)
    (desk.project / ".claude" / "roles").mkdir(parents=True)
    (desk.project / ".claude" / "roles" / "chief.md").write_text("---\nauto_include: [plan.md]\n---\n")
    (desk.project / "plan.md").write_text("THE-PLAN")
    assert "THE-PLAN" in desk.said("SessionStart", CHIEF, source="startup")
    desk.fills_up(85)
    assert "Context at 85%" in desk.said("UserPromptSubmit", CHIEF, prompt="Go")


def test_what_anybody_may_send_gives_no_role(open_desk: Open) -> None:
    """A hook without the token is on the board, but another program cannot say who the agent is."""
    desk = open_desk()
    told = {"session_id": SESSION, "cwd": str(desk.project), "source": "startup"}
    desk.daemon.post("session-start", told, {"X-Headspace-Role": "chief", "X-Headspace-Mode": "mission"})
    assert (desk.agent["role"], desk.agent["mode"]) == (None, "interactive")


# --- start ------------------------------------------------------------------------------------------------------------


def test_start_registers_the_session_and_loads_its_context(open_desk: Open) -> None:
    """Role, mode and pane from the environment; core files, then the role's; what is missing is named."""
    desk = open_desk()
    desk.write("Desktop/TODAY.md", "Ship it.")
    desk.write("Desktop/identity.md", "I am.")
    desk.write(".claude/roles/chief.md", "---\nauto_include:\n  - Desktop/identity.md\n  - gone.md\n---\nChief.\n")
    env = {**CHIEF, "CLAUDE_SESSION_MODE": "mission", "TMUX_PANE": "%7"}
    assert desk.said("SessionStart", env, source="startup") == LOADED
    agent = desk.agent
    assert (agent["role"], agent["mode"], agent["tmux"]["pane"]) == ("chief", "mission", "%7")
    assert agent["briefed"]["files"] == ["Desktop/TODAY.md", "Desktop/identity.md"]
    assert agent["briefed"]["left_out"] == ["gone.md: not found"]
    assert [event["name"] for event in desk.daemon.events()] == ["SessionStart", "ContextLoaded"]


def test_a_new_context_window_is_given_it_again(open_desk: Open) -> None:
    """After a clear and a compaction, but not when a session is resumed: there it is still in the context."""
    desk = open_desk()
    desk.write("Desktop/TODAY.md", "Ship it.")
    for source, given in (("startup", True), ("resume", False), ("compact", True), ("clear", True)):
        assert bool(desk.said("SessionStart", source=source)) is given, source


def test_what_is_shown_is_what_would_be_given(open_desk: Open) -> None:
    """`headspace role show` prints the very text that a session gets; `check` finds what is missing."""
    desk = open_desk()
    desk.write("Desktop/MEMORY.md", "It rains.\n\n    Code.")
    desk.write(".claude/roles/chief.md", "---\nauto_include: [gone.md]\n---\n")
    env = {"HEADSPACE_CLAUDE_OS_ROOT": str(desk.root)}
    shown = desk.headspace("role", "show", "chief", env=env)
    assert shown.stdout.removesuffix("\n") == desk.said("SessionStart", CHIEF, source="startup")
    listed = json.loads(desk.headspace("role", "list", "--json", env=env).stdout)
    assert [(role["kind"], role["name"], role["left_out"]) for role in listed] == [
        ("role", "chief", ["gone.md: not found"])
    ]
    checked = desk.headspace("role", "check", env=env)
    assert (checked.returncode, checked.stdout) == (1, "role chief: gone.md: not found\n")
    desk.write("gone.md", "Here.")
    assert desk.headspace("role", "check", env=env).returncode == 0


def test_an_effort_and_a_role_share_one_answer(open_desk: Open) -> None:
    """Core, role, then the effort; all of it within one bound, and what does not fit is named."""
    desk = open_desk()
    desk.write("Desktop/TODAY.md", "T" * 6_000)
    desk.write("role.md", "R" * 6_000)
    desk.write(".claude/roles/chief.md", "---\nauto_include: [role.md]\n---\n")
    (desk.project / "effort.md").write_text("E" * 6_000)
    call(desk.daemon, "effort.start", {"skill": "fix", "cwd": str(desk.project), "preload": ["effort.md"]})
    call(desk.daemon, "effort.dehydrate", {"text": "HANDED-OVER", "cwd": str(desk.project)})
    said = desk.said("SessionStart", CHIEF, source="startup")
    assert len(said) <= 9_500
    places = [said.index(part) for part in ("TTT", "RRR", "You work on effort fix", "HANDED-OVER", "effort.md (6000 b")]
    assert places == sorted(places)
    assert "effort.md (6000 bytes): left out, it does not fit" in said


# --- prompt -----------------------------------------------------------------------------------------------------------


def test_prompt_beats_the_heart_and_warns_once_for_each_level(open_desk: Open) -> None:
    """Every prompt moves `last_active_at`; 60 and 80 percent are each told once, and again in a new window."""
    desk = open_desk()
    desk.printed("SessionStart", source="startup")
    before = desk.agent["last_active_at"]
    assert desk.said("UserPromptSubmit", prompt="One") == ""
    assert desk.agent["last_active_at"] > before
    desk.fills_up(60)
    assert desk.said("UserPromptSubmit", prompt="Two") == (
        "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon"
    )
    assert desk.said("UserPromptSubmit", prompt="Three") == ""
    desk.fills_up(83.2)
    assert "WARNING]: Context at 83% - Write reset notes and prepare to reset" in desk.said(
        "UserPromptSubmit", prompt="Four"
    )
    assert desk.said("UserPromptSubmit", prompt="Five") == ""
    assert desk.agent["context_warning_level"] == 80
    desk.printed("SessionStart", source="compact")
    assert (desk.agent["context_warning_level"], desk.agent["context_percent"]) == (0, None)
    assert desk.said("UserPromptSubmit", prompt="Six") == ""
    desk.fills_up(62)
    assert "Context at 62%" in desk.said("UserPromptSubmit", prompt="Seven")


def test_prompt_asks_for_a_note_until_there_is_one(open_desk: Open) -> None:
    """Once, some time after the start; a note from inside the agent is shown with its age; outside one is named."""
    desk = open_desk(claude_os_note_after=0.001)
    desk.printed("SessionStart", source="startup")
    assert "Consider setting a session status" in desk.said("UserPromptSubmit", prompt="One")
    assert desk.said("UserPromptSubmit", prompt="Two") == ""
    noted = desk.headspace("note", "fixing the", "login", env={"CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDECODE": "1"})
    assert (noted.returncode, noted.stdout) == (0, f"{desk.agent['name']}: fixing the login\n")
    assert desk.agent["note"]["text"] == "fixing the login"
    assert "fixing the login" in desk.headspace("list").stdout
    assert "note       fixing the login (just now)" in desk.headspace("show", desk.agent["name"]).stdout
    desk.headspace("note", "by descent")  # this process is the client that the hooks named
    assert desk.agent["note"]["text"] == "by descent"
    assert refusal(desk.daemon, "agent.note", {"text": "x"}, {"CLAUDE_CODE_SESSION_ID": "unknown"}) == "no_agent"
    desk.headspace("note", "--agent", desk.agent["name"], "waits for Anna")
    assert desk.agent["note"]["text"] == "waits for Anna"
    desk.headspace("note", "--clear", env={"CLAUDE_CODE_SESSION_ID": SESSION})
    assert desk.agent["note"] is None


# --- tools ------------------------------------------------------------------------------------------------------------


def test_tools_are_seen_in_claude_oss_words(open_desk: Open) -> None:
    """`tool_active` while one runs, `active` after it, `idle` after the end."""
    desk = open_desk()
    desk.printed("SessionStart", source="startup")
    desk.printed("UserPromptSubmit", prompt="Go")
    seen = []
    told = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}
    for event, more in (("PreToolUse", told), ("PostToolUse", told), ("Stop", {"last_assistant_message": "Done."})):
        total = desk.daemon.status["events_total"]
        desk.printed(event, **more)
        wait_until(lambda total=total: desk.daemon.status["events_total"] > total, event)  # type: ignore[misc]
        seen.append(desk.agent["dialects"]["claude_os"])
    assert seen == ["tool_active", "active", "idle"]


# --- stop -------------------------------------------------------------------------------------------------------------


def test_stop_holds_a_turn_once_for_a_level(open_desk: Open) -> None:
    """The agent goes on working meanwhile; the second Stop ends it, and the same level never holds again."""
    desk = open_desk()
    desk.printed("SessionStart", source="startup")
    desk.printed("UserPromptSubmit", prompt="Go")
    desk.fills_up(91)
    held = desk.hook("Stop", last_assistant_message="Done.")
    assert held["decision"] == "block"
    assert held["reason"].startswith("[CLAUDE OS SYS: WARNING]: Context at 91% - URGENT\n")
    assert (desk.agent["state"], desk.agent["context_warning_level"]) == ("working", 90)
    desk.fills_up(96)
    assert desk.printed("Stop", last_assistant_message="Noted.", stop_hook_active=True) == b""
    assert desk.agent["state"] == "idle"
    assert "CRITICAL" in desk.said("UserPromptSubmit", prompt="And now?")
    assert desk.printed("Stop", last_assistant_message="Done.") == b""
    assert desk.agent["state"] == "idle"


# --- end --------------------------------------------------------------------------------------------------------------


def test_end_marks_the_session_and_a_clear_does_not(open_desk: Open) -> None:
    """`clear` and `resume` keep the agent; every other reason sets `ended_at` and `end_reason`."""
    desk = open_desk()
    desk.printed("SessionStart", source="startup")
    for reason in ("clear", "resume"):
        desk.printed("SessionEnd", reason=reason)
        desk.printed("SessionStart", source=reason)
        assert (desk.agent["ended_at"], desk.agent["state"]) == (None, "idle")
    desk.printed("SessionEnd", reason="prompt_input_exit")
    wait_until(lambda: desk.agent["ended_at"], "the end")
    assert (desk.agent["state"], desk.agent["end_reason"]) == ("ended", "prompt_input_exit")


# --- the session's id -------------------------------------------------------------------------------------------------


def test_the_wrappers_id_names_the_agent(open_desk: Open) -> None:
    """`CLAUDE_SESSION_ID` wins over the client's own id, which changes; a note finds the agent by it, too."""
    desk = open_desk()
    env = {"CLAUDE_SESSION_ID": "wrapped-1", "CLAUDE_PID": "0"}
    desk.printed("SessionStart", env, source="startup")
    desk.printed("SessionStart", env, source="startup", session_id="another")
    desk.printed("UserPromptSubmit", env, session_id="a-third", prompt="Go")
    assert desk.agent["session_id"] == "a-third"
    assert desk.headspace("note", "here", env={"CLAUDE_SESSION_ID": "wrapped-1"}).returncode == 0
    assert desk.agent["note"]["text"] == "here"


def test_another_role_is_another_agent(open_desk: Open) -> None:
    """Who starts without a role where a chief was is not the chief."""
    desk = open_desk()
    desk.printed("SessionStart", CHIEF, source="startup")
    desk.printed("SessionEnd", reason="other")
    wait_until(lambda: desk.agent["state"] == "ended", "the end")
    desk.printed("SessionStart", source="startup", session_id="plain")
    assert {agent["role"] for agent in desk.daemon.agents()} == {"chief", None}


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spoil",
    [
        lambda root: (root / ".claude").rename(root / "away"),
        lambda root: (root / ".claude/roles/chief.md").write_bytes(b"---\nauto_include: \xff\xfe\n  - {{{\n"),
        lambda root: os.truncate(root / ".claude/roles/chief.md", 0),
        lambda root: (root / ".claude/roles/chief.md").unlink() or (root / ".claude/roles/chief.md").mkdir(),
    ],
    ids=["gone", "broken", "empty", "a directory"],
)
def test_a_failure_costs_only_what_failed(open_desk: Open, spoil: Callable[[Path], object]) -> None:
    """Degrades gracefully: whatever is wrong with the role, the core files are there and the session goes on."""
    desk = open_desk()
    desk.write("Desktop/TODAY.md", "Ship it.")
    desk.write(".claude/roles/chief.md", "---\nauto_include: [a.md]\n---\n")
    spoil(desk.root)
    assert "Ship it." in desk.said("SessionStart", CHIEF, source="startup")
    assert desk.agent["state"] == "idle"


def test_without_the_daemon_nothing_blocks_and_nothing_is_printed(open_desk: Open) -> None:
    """Never blocks on failure: the script exits with 0 and says nothing, also for a session that would be told much."""
    desk = open_desk()
    desk.write("Desktop/TODAY.md", "Ship it.")
    desk.daemon.stop()
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        assert desk.printed(event, CHIEF, source="startup", prompt="Go", reason="other") == b""
    assert len(list((desk.daemon.home / "spool").glob("*.json"))) == 4


def test_a_root_that_is_gone_is_shown_and_not_felt(open_desk: Open) -> None:
    """Non-critical: the session goes on, and what it was not given is seen afterwards."""
    desk = open_desk(claude_os_core="NOW.md")
    desk.root.rmdir()
    assert desk.printed("SessionStart", source="startup") == b""
    assert desk.agent["briefed"]["left_out"] == ["NOW.md: not found"]
    assert "left out: NOW.md: not found" in desk.headspace("show", desk.agent["name"]).stdout
