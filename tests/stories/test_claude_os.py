"""Claude OS sessions end to end: the installed hook script, a real daemon, files on disk.

One story for each handler (start, prompt, tools, stop, end), for the session id, and for each rule of error handling.
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


class Setup:
    """A Claude OS directory, a project, a daemon, and the installed hook script."""

    def __init__(self, daemon: RunningDaemon, root: Path, project: Path) -> None:
        self.daemon, self.root, self.project = daemon, root, project
        self._hooks = Hooks(daemon.home)

    def write(self, path: str, text: str) -> None:
        """Write a file of the Claude OS directory."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def printed(self, event: str, env: dict[str, str] | None = None, **fields: Any) -> bytes:
        """The output of the script for a hook."""
        payload = {"session_id": SESSION, "cwd": str(self.project), "hook_event_name": event, **fields}
        return self._hooks.fire(event, payload, **(env or {}))

    def hook(self, event: str, env: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
        """The output, decoded as Claude Code does; empty without output."""
        printed = self.printed(event, env, **fields)
        return dict(json.loads(printed)) if printed else {}

    def context(self, event: str, env: dict[str, str] | None = None, **fields: Any) -> str:
        """The text that the model receives."""
        return str(self.hook(event, env, **fields).get("hookSpecificOutput", {}).get("additionalContext", ""))

    def report_context(self, percent: float) -> None:
        """The client's status line reports its context usage."""
        usage = {"context_window_size": 200_000, "current_usage": {"input_tokens": round(percent * 2_000)}}
        payload = {"session_id": SESSION, "cwd": str(self.project), "context_window": usage}
        assert self.daemon.post("StatusLine", payload).status == 200

    def headspace(self, *arguments: str, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a command as an agent does in its shell."""
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


Open = Callable[..., Setup]


@pytest.fixture
def open_setup(tmp_path: Path) -> Iterator[Open]:
    """Creates a setup with the given settings."""
    with ExitStack() as stack:

        def opened(*, set_up: bool = True, **settings: Any) -> Setup:
            root, project = tmp_path / "os", tmp_path / "shop"
            (project / ".git").mkdir(parents=True)
            root.mkdir()
            given = {"claude_os_root": str(root)} if set_up else {}
            quiet = {"hold_seconds": 0, "policy_preset": "off"}
            daemon = stack.enter_context(running_daemon(tmp_path / "home", **quiet, **given, **settings))
            stack.callback(lambda: daemon.alive and daemon.verified())
            return Setup(daemon, root, project)

        yield opened


# --- who uses it ------------------------------------------------------------------------------------------------------


def test_claude_os_has_no_effect_unless_it_is_configured(open_setup: Open) -> None:
    """No hook waits and nothing is printed, even if the default core files exist. Context usage is still shown."""
    setup = open_setup(set_up=False)
    (setup.project / "Desktop").mkdir()
    (setup.project / "Desktop" / "TODAY.md").write_text("Mine.")
    assert setup.printed("SessionStart", source="startup") == b""
    wait_until(setup.daemon.agents, "the agent")
    setup.report_context(97)
    assert setup.printed("UserPromptSubmit", prompt="Go") == b""
    assert setup.printed("Stop", last_assistant_message="Done.") == b""
    assert list((setup.daemon.home / "asked").glob("*")) == []
    wait_until(lambda: setup.agent["state"] == "idle" and setup.agent["context_percent"] == 97, "the board")
    assert (setup.agent["briefed"], setup.agent["context_warning_level"]) == (None, 0)


def test_a_role_alone_is_enough(open_setup: Open) -> None:
    """Without any configuration a session with a role gets the files of its own project."""
    setup = open_setup(set_up=False)
    (setup.project / ".claude" / "roles").mkdir(parents=True)
    (setup.project / ".claude" / "roles" / "chief.md").write_text("---\nauto_include: [plan.md]\n---\n")
    (setup.project / "plan.md").write_text("THE-PLAN")
    assert "THE-PLAN" in setup.context("SessionStart", CHIEF, source="startup")
    setup.report_context(85)
    assert "Context at 85%" in setup.context("UserPromptSubmit", CHIEF, prompt="Go")


def test_a_hook_without_a_token_sets_no_role(open_setup: Open) -> None:
    """Its agent is on the board, but another program cannot set the agent's role."""
    setup = open_setup()
    payload = {"session_id": SESSION, "cwd": str(setup.project), "source": "startup"}
    setup.daemon.curl("session-start", payload, {"X-Headspace-Role": "chief", "X-Headspace-Mode": "mission"})
    assert (setup.agent["role"], setup.agent["mode"]) == (None, "interactive")


# --- start ------------------------------------------------------------------------------------------------------------


def test_start_registers_the_session_and_loads_its_context(open_setup: Open) -> None:
    """Role, mode and pane come from the environment. The context has core and role files and names missing ones."""
    setup = open_setup()
    setup.write("Desktop/TODAY.md", "Ship it.")
    setup.write("Desktop/identity.md", "I am.")
    setup.write(".claude/roles/chief.md", "---\nauto_include:\n  - Desktop/identity.md\n  - gone.md\n---\nChief.\n")
    env = {**CHIEF, "CLAUDE_SESSION_MODE": "mission", "TMUX_PANE": "%7"}
    assert setup.context("SessionStart", env, source="startup") == LOADED
    agent = setup.agent
    assert (agent["role"], agent["mode"], agent["tmux"]["pane"]) == ("chief", "mission", "%7")
    assert agent["briefed"]["files"] == ["Desktop/TODAY.md", "Desktop/identity.md"]
    assert agent["briefed"]["left_out"] == ["gone.md: not found"]
    assert [event["name"] for event in setup.daemon.events()] == ["SessionStart", "ContextLoaded"]


def test_a_new_context_window_gets_the_session_context_again(open_setup: Open) -> None:
    """After clear and compact, but not after resume, because the context still has it."""
    setup = open_setup()
    setup.write("Desktop/TODAY.md", "Ship it.")
    for source, given in (("startup", True), ("resume", False), ("compact", True), ("clear", True)):
        assert bool(setup.context("SessionStart", source=source)) is given, source


def test_role_show_prints_the_session_context(open_setup: Open) -> None:
    """`headspace role show` prints the text that a session gets. `check` finds missing files."""
    setup = open_setup()
    setup.write("Desktop/MEMORY.md", "It rains.\n\n    Code.")
    setup.write(".claude/roles/chief.md", "---\nauto_include: [gone.md]\n---\n")
    env = {"HEADSPACE_CLAUDE_OS_ROOT": str(setup.root)}
    shown = setup.headspace("role", "show", "chief", env=env)
    assert shown.stdout.removesuffix("\n") == setup.context("SessionStart", CHIEF, source="startup")
    listed = json.loads(setup.headspace("role", "list", "--json", env=env).stdout)
    assert [(role["kind"], role["name"], role["left_out"]) for role in listed] == [
        ("role", "chief", ["gone.md: not found"])
    ]
    checked = setup.headspace("role", "check", env=env)
    assert (checked.returncode, checked.stdout) == (1, "role chief: gone.md: not found\n")
    setup.write("gone.md", "Here.")
    assert setup.headspace("role", "check", env=env).returncode == 0
    unknown = setup.headspace("role", "check", "cheif", env=env)
    expected = f"There is no role cheif in {setup.root}/.claude/roles. Did you mean chief?\n"
    assert (unknown.returncode, unknown.stdout) == (1, expected)


def test_the_first_prompt_reports_a_role_that_does_not_exist(open_setup: Open) -> None:
    """Requirement: reported to the user, also if the session's start was not received. Once."""
    setup = open_setup()
    setup.write(".claude/roles/chief.md", "---\nauto_include: []\n---\n")
    printed = setup.printed("UserPromptSubmit", {"CLAUDE_SESSION_ROLE": "cheif"}, prompt="Fix it")
    assert "There is no role cheif" in json.loads(printed)["systemMessage"]
    assert b"There is no role" not in setup.printed("UserPromptSubmit", {"CLAUDE_SESSION_ROLE": "cheif"}, prompt="Go")


def test_a_role_that_does_not_exist_is_reported_to_the_user(open_setup: Open) -> None:
    """Requirement: with the nearest name. The client shows it, and `headspace show` lists it."""
    setup = open_setup()
    setup.write(".claude/roles/chief.md", "---\nauto_include: []\n---\n")
    printed = setup.printed("SessionStart", {"CLAUDE_SESSION_ROLE": "cheif"}, source="startup")
    assert "There is no role cheif" in json.loads(printed)["systemMessage"]
    assert "Did you mean chief?" in json.loads(printed)["systemMessage"]
    assert setup.agent["briefed"]["left_out"] == [".claude/roles/cheif.md: not found. Did you mean chief?"]
    assert b"systemMessage" not in setup.printed("SessionStart", CHIEF, source="clear")


def test_an_effort_and_a_role_share_one_reply(open_setup: Open) -> None:
    """Core files, role, then effort share one size limit. Files that do not fit are named."""
    setup = open_setup()
    setup.write("Desktop/TODAY.md", "T" * 6_000)
    setup.write("role.md", "R" * 6_000)
    setup.write(".claude/roles/chief.md", "---\nauto_include: [role.md]\n---\n")
    (setup.project / "effort.md").write_text("E" * 6_000)
    call(setup.daemon, "effort.start", {"skill": "fix", "cwd": str(setup.project), "preload": ["effort.md"]})
    call(setup.daemon, "effort.dehydrate", {"text": "HANDED-OVER", "cwd": str(setup.project)})
    context = setup.context("SessionStart", CHIEF, source="startup")
    assert len(context) <= 9_500
    places = [
        context.index(part) for part in ("TTT", "RRR", "You work on effort fix", "HANDED-OVER", "effort.md (6000 b")
    ]
    assert places == sorted(places)
    assert "effort.md (6000 bytes): left out, it does not fit" in context


# --- prompt -----------------------------------------------------------------------------------------------------------


def test_a_prompt_updates_the_activity_time_and_warns_once_per_level(open_setup: Open) -> None:
    """Every prompt updates `last_active_at`. The warnings at 60 and 80 percent come once per context window."""
    setup = open_setup()
    setup.printed("SessionStart", source="startup")
    before = setup.agent["last_active_at"]
    assert setup.context("UserPromptSubmit", prompt="One") == ""
    assert setup.agent["last_active_at"] > before
    setup.report_context(60)
    assert setup.context("UserPromptSubmit", prompt="Two") == (
        "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon"
    )
    assert setup.context("UserPromptSubmit", prompt="Three") == ""
    setup.report_context(83.2)
    assert "WARNING]: Context at 83% - Write reset notes and prepare to reset" in setup.context(
        "UserPromptSubmit", prompt="Four"
    )
    assert setup.context("UserPromptSubmit", prompt="Five") == ""
    assert setup.agent["context_warning_level"] == 80
    setup.printed("SessionStart", source="compact")
    assert (setup.agent["context_warning_level"], setup.agent["context_percent"]) == (0, None)
    assert setup.context("UserPromptSubmit", prompt="Six") == ""
    setup.report_context(62)
    assert "Context at 62%" in setup.context("UserPromptSubmit", prompt="Seven")


def test_a_prompt_asks_for_a_note_until_there_is_one(open_setup: Open) -> None:
    """The request comes once, some time after the start. Notes are set inside the agent, or outside by its name."""
    setup = open_setup(claude_os_note_after=0.001)
    setup.printed("SessionStart", source="startup")
    assert "Consider setting a session status" in setup.context("UserPromptSubmit", prompt="One")
    assert setup.context("UserPromptSubmit", prompt="Two") == ""
    noted = setup.headspace("note", "fixing the", "login", env={"CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDECODE": "1"})
    assert (noted.returncode, noted.stdout) == (0, f"{setup.agent['name']}: fixing the login\n")
    assert setup.agent["note"]["text"] == "fixing the login"
    assert "fixing the login" in setup.headspace("list").stdout
    assert "note       fixing the login (just now)" in setup.headspace("show", setup.agent["name"]).stdout
    setup.headspace("note", "by descent")  # this process is the client that the hooks reported
    assert setup.agent["note"]["text"] == "by descent"
    assert refusal(setup.daemon, "agent.note", {"text": "x"}, {"CLAUDE_CODE_SESSION_ID": "unknown"}) == "no_agent"
    setup.headspace("note", "--agent", setup.agent["name"], "waits for Anna")
    assert setup.agent["note"]["text"] == "waits for Anna"
    setup.headspace("note", "--clear", env={"CLAUDE_CODE_SESSION_ID": SESSION})
    assert setup.agent["note"] is None


# --- tools ------------------------------------------------------------------------------------------------------------


def test_tools_are_shown_in_the_terms_of_claude_os(open_setup: Open) -> None:
    """`tool_active` while a tool runs, `active` after it, `idle` after the turn."""
    setup = open_setup()
    setup.printed("SessionStart", source="startup")
    setup.printed("UserPromptSubmit", prompt="Go")
    seen = []
    fields = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t1"}
    for event, more in (("PreToolUse", fields), ("PostToolUse", fields), ("Stop", {"last_assistant_message": "Done."})):
        total = setup.daemon.status["events_total"]
        setup.printed(event, **more)
        wait_until(lambda total=total: setup.daemon.status["events_total"] > total, event)  # type: ignore[misc]
        seen.append(setup.agent["dialects"]["claude_os"])
    assert seen == ["tool_active", "active", "idle"]


# --- stop -------------------------------------------------------------------------------------------------------------


def test_stop_blocks_a_turn_once_per_level(open_setup: Open) -> None:
    """The agent continues to work. The second Stop ends the turn, and the same level never blocks again."""
    setup = open_setup()
    setup.printed("SessionStart", source="startup")
    setup.printed("UserPromptSubmit", prompt="Go")
    setup.report_context(91)
    held = setup.hook("Stop", last_assistant_message="Done.")
    assert held["decision"] == "block"
    assert held["reason"].startswith("[CLAUDE OS SYS: WARNING]: Context at 91% - URGENT\n")
    assert (setup.agent["state"], setup.agent["context_warning_level"]) == ("working", 90)
    setup.report_context(96)
    assert setup.printed("Stop", last_assistant_message="Noted.", stop_hook_active=True) == b""
    assert setup.agent["state"] == "idle"
    assert "CRITICAL" in setup.context("UserPromptSubmit", prompt="And now?")
    assert setup.printed("Stop", last_assistant_message="Done.") == b""
    assert setup.agent["state"] == "idle"


# --- end --------------------------------------------------------------------------------------------------------------


def test_the_end_of_a_session_ends_the_agent_but_clear_does_not(open_setup: Open) -> None:
    """After `clear` and `resume` the agent continues. Every other reason sets `ended_at` and `end_reason`."""
    setup = open_setup()
    setup.printed("SessionStart", source="startup")
    for reason in ("clear", "resume"):
        setup.printed("SessionEnd", reason=reason)
        setup.printed("SessionStart", source=reason)
        assert (setup.agent["ended_at"], setup.agent["state"]) == (None, "idle")
    setup.printed("SessionEnd", reason="prompt_input_exit")
    wait_until(lambda: setup.agent["ended_at"], "the end")
    assert (setup.agent["state"], setup.agent["end_reason"]) == ("ended", "prompt_input_exit")


# --- the session id ---------------------------------------------------------------------------------------------------


def test_the_id_of_the_wrapper_identifies_the_agent(open_setup: Open) -> None:
    """`CLAUDE_SESSION_ID` takes precedence over the client's id, which changes. A note finds the agent by it too."""
    setup = open_setup()
    env = {"CLAUDE_SESSION_ID": "wrapped-1", "CLAUDE_PID": "0"}
    setup.printed("SessionStart", env, source="startup")
    setup.printed("SessionStart", env, source="startup", session_id="another")
    setup.printed("UserPromptSubmit", env, session_id="a-third", prompt="Go")
    assert setup.agent["session_id"] == "a-third"
    assert setup.headspace("note", "here", env={"CLAUDE_SESSION_ID": "wrapped-1"}).returncode == 0
    assert setup.agent["note"]["text"] == "here"


def test_another_role_is_another_agent(open_setup: Open) -> None:
    """A session without a role is not the agent of an earlier session with the role chief."""
    setup = open_setup()
    setup.printed("SessionStart", CHIEF, source="startup")
    setup.printed("SessionEnd", reason="other")
    wait_until(lambda: setup.agent["state"] == "ended", "the end")
    setup.printed("SessionStart", source="startup", session_id="plain")
    assert {agent["role"] for agent in setup.daemon.agents()} == {"chief", None}


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
def test_an_invalid_role_does_not_affect_the_core_files(open_setup: Open, spoil: Callable[[Path], object]) -> None:
    """With any error in the role, the session still gets the core files."""
    setup = open_setup()
    setup.write("Desktop/TODAY.md", "Ship it.")
    setup.write(".claude/roles/chief.md", "---\nauto_include: [a.md]\n---\n")
    spoil(setup.root)
    assert "Ship it." in setup.context("SessionStart", CHIEF, source="startup")
    assert setup.agent["state"] == "idle"


def test_without_the_daemon_nothing_blocks_and_nothing_is_printed(open_setup: Open) -> None:
    """The script exits with 0 and prints nothing, even for a session with pending notices."""
    setup = open_setup()
    setup.write("Desktop/TODAY.md", "Ship it.")
    setup.daemon.stop()
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        assert setup.printed(event, CHIEF, source="startup", prompt="Go", reason="other") == b""
    assert len(list((setup.daemon.home / "spool").glob("*.json"))) == 4


def test_missing_files_are_shown_and_do_not_disturb_the_session(open_setup: Open) -> None:
    """The session continues. The board and `show` name the missing files."""
    setup = open_setup(claude_os_core="NOW.md")
    setup.root.rmdir()
    assert setup.printed("SessionStart", source="startup") == b""
    assert setup.agent["briefed"]["left_out"] == ["NOW.md: not found"]
    assert "left out: NOW.md: not found" in setup.headspace("show", setup.agent["name"]).stdout
