"""The policy from the hook to the reply: the installed hook script, a real daemon, the user's files."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import RunningDaemon, running_daemon, wait_until
from tests.support_hooks import Hooks


def ask(hooks: Hooks, command: str, **fields: Any) -> dict[str, Any]:
    """The reply to Claude Code when an agent wants to run a command."""
    call = {"tool_name": "Bash", "tool_use_id": command[:20], "tool_input": {"command": command}}
    output = hooks.fire("PreToolUse", {"session_id": "one", "cwd": str(hooks.home), **call, **fields})
    answer: dict[str, Any] = json.loads(output) if output else {}
    return answer


def decision(answer: dict[str, Any]) -> str | None:
    """The decision in a reply."""
    found: str | None = answer.get("hookSpecificOutput", {}).get("permissionDecision")
    return found


def verdicts(daemon: RunningDaemon) -> list[dict[str, Any]]:
    """The stored verdicts, in order."""
    return [event["verdict"] for event in daemon.events() if event["verdict"]]


def wait_for_the_guard(daemon: RunningDaemon) -> None:
    """Wait until PreToolUse hooks ask for a reply."""
    wait_until((daemon.home / "asked" / "PreToolUse").exists, "the file that makes PreToolUse wait for a reply")


def test_a_call_is_denied_and_the_reason_is_stored(tmp_path: Path) -> None:
    """The reply denies `rm -rf /` with the reason, the log has the rule, `why` shows it, and a replay agrees."""
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        wait_for_the_guard(daemon)
        output = ask(hooks, "cd / && rm -rf *")["hookSpecificOutput"]
        assert output["hookEventName"] == "PreToolUse"
        assert output["permissionDecision"] == "deny"
        assert "rm deletes /" in output["permissionDecisionReason"]
        assert "(rule system-delete)" in output["permissionDecisionReason"]
        assert decision(ask(hooks, "sudo ls")) == "ask"
        assert ask(hooks, "git status") == {}
        assert [(each["ruling"], each["rule"]) for each in verdicts(daemon)] == [
            ("deny", "system-delete"),
            ("ask", "become-root"),
        ]
        [agent] = daemon.agents()
        output = hooks.headspace("why", agent["name"]).stdout
        assert "✕ denied" in output
        assert "cd / && rm -rf *" in output
        assert daemon.verified()


def test_only_the_hooks_get_decisions(tmp_path: Path) -> None:
    """A request without a token is recorded, and its reply contains no decision."""
    with running_daemon(tmp_path) as daemon:
        call = {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "session_id": "one", "cwd": "/tmp"}
        reply = daemon.curl("pre-tool-use", call, {"X-Headspace-Reply": "hook"})
        assert "hookSpecificOutput" not in reply.json()
        assert verdicts(daemon) == []


def test_watch_records_what_guard_would_deny(tmp_path: Path) -> None:
    """Under `watch` no hook waits and nothing is denied. The log has the verdict of `guard`."""
    with running_daemon(tmp_path, policy_preset="watch") as daemon:
        hooks = Hooks(tmp_path)
        assert ask(hooks, "rm -rf /") == {}
        [found] = wait_until(lambda: verdicts(daemon), "the verdict")
        assert (found["ruling"], found["enforced"], found.get("lapse")) == ("deny", False, None)
        assert not (tmp_path / "asked" / "PreToolUse").exists()


def test_off_judges_nothing(tmp_path: Path) -> None:
    """Under `off` calls are only recorded."""
    with running_daemon(tmp_path, policy_preset="off") as daemon:
        assert ask(Hooks(tmp_path), "rm -rf /") == {}
        wait_until(daemon.events, "the event")
        assert verdicts(daemon) == []


def test_calls_without_a_daemon_are_reported_afterwards(tmp_path: Path) -> None:
    """Without a daemon the client runs normally. Later the status shows that the guard was off, and why."""
    hooks = Hooks(tmp_path)
    assert ask(hooks, "rm -rf /") == {}
    with running_daemon(tmp_path) as daemon:
        [found] = wait_until(lambda: verdicts(daemon), "the verdict on the earlier call")
        assert (found["ruling"], found["rule"], found["enforced"]) == ("deny", "system-delete", False)
        assert "busy or starting" in found["lapse"]
        detail = daemon.get("/health", scope=None).json()["parts"]["policy"]["detail"]
        assert "guard off for 1 tool call;" in detail
        assert "guard off" in hooks.headspace("status").stdout


def test_an_invalid_file_keeps_the_last_valid_rules_and_is_reported(tmp_path: Path) -> None:
    """The user's rules stay in force while the file is invalid, and change when it is valid again."""
    rules = tmp_path / "policy.toml"
    rules.write_text('[[rule]]\nid = "no-deploys"\noutcome = "deny"\ncommands = ["deploy"]\n')
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        wait_for_the_guard(daemon)
        assert decision(ask(hooks, "deploy now")) == "deny"
        rules.write_text("[[rule]\nthis is no TOML")
        wait_until(lambda: ask(hooks, "ls") == {} and _policy(daemon)["status"] == "failing", "the shout")
        assert "headspace policy check" in _policy(daemon)["detail"]
        assert daemon.get("/health", scope=None).json()["status"] == "degraded"
        assert decision(ask(hooks, "deploy now")) == "deny"
        rules.write_text(
            '[[rule]]\nid = "no-deploys"\noutcome = "warn"\ncommands = ["deploy"]\nreason = "Is it Friday?"\n'
        )
        wait_until(lambda: "systemMessage" in ask(hooks, "deploy now"), "the new rule")
        assert _policy(daemon)["status"] == "ok"


def _policy(daemon: RunningDaemon) -> dict[str, str]:
    part: dict[str, str] = daemon.get("/health", scope=None).json()["parts"]["policy"]
    return part


def test_a_project_adds_rules_and_weakens_none(tmp_path: Path) -> None:
    """A project can forbid calls. A project file that allows a call is rejected as a whole."""
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    (project / ".headspace").mkdir()
    rules = project / ".headspace/policy.toml"
    rules.write_text('[[rule]]\nid = "no-push"\noutcome = "deny"\ncommands = ["git"]\narguments = ["push"]\n')
    with running_daemon(tmp_path / "home") as daemon:
        hooks = Hooks(tmp_path / "home")
        wait_for_the_guard(daemon)
        assert decision(ask(hooks, "git push", cwd=str(project))) == "deny"
        assert ask(hooks, "git push", cwd=str(tmp_path)) == {}
        rules.write_text('[[rule]]\nid = "system-delete"\noutcome = "allow"\ncommands = ["rm"]\n')
        assert decision(ask(hooks, "rm -rf /", cwd=str(project))) == "deny"
        assert decision(ask(hooks, "git push", cwd=str(project))) == "deny", "the last valid rules of the project apply"
        assert _policy(daemon)["status"] == "failing"


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit"])
def test_file_tools_are_judged_too(tmp_path: Path, tool: str) -> None:
    """A file tool that changes an `.env` is denied, by its path relative to the agent's directory."""
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        wait_for_the_guard(daemon)
        call = {"tool_name": tool, "tool_input": {"file_path": str(tmp_path / "app/.env"), "content": "KEY=1"}}
        assert decision(ask(hooks, "x", **call)) == "deny"


def test_a_backtest_finds_the_calls_that_other_rules_stop(tmp_path: Path) -> None:
    """`policy backtest` judges the recorded calls with other rules than those that were in force."""
    with running_daemon(tmp_path, policy_preset="off") as daemon:
        hooks = Hooks(tmp_path)
        for command in ("ls", "rm -rf /", "sudo reboot", "git push"):
            ask(hooks, command)
        wait_until(lambda: len(daemon.events()) == 4, "the calls")
        report = json.loads(hooks.headspace("policy", "backtest", "--preset", "guard", "--json").stdout)
        assert (report["calls"], report["deny"], report["ask"]) == (4, 1, 1)
        assert [each["call"] for each in report["verdicts"]] == ["Bash: rm -rf /", "Bash: sudo reboot"]
        output = hooks.headspace("policy", "backtest", "--preset", "strict").stdout
        assert "These rules would have stopped 2 of 4 calls (2 denied, 0 asked):" in output
        assert json.loads(hooks.headspace("policy", "backtest", "--preset", "off", "--json").stdout)["verdicts"] == []


def test_excessive_commands_do_not_stop_the_guard(tmp_path: Path) -> None:
    """They are asked about. The guard judges the next call, and the daemon still ends on SIGTERM."""
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        wait_for_the_guard(daemon)
        for text in ("x=ab;" + "x=$x$x;" * 40 + "rm -rf ~", "echo a;" * 8_000 + "rm -rf ~", "${" * 20_000):
            assert decision(ask(hooks, text)) == "ask"
        assert decision(ask(hooks, "rm -rf ~")) == "deny"
        assert daemon.stop() == 0


def test_headspace_protects_itself(tmp_path: Path) -> None:
    """Changing its files, hooks or process needs the user's approval. A project cannot change that."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".headspace").mkdir()
    (project / ".headspace/policy.toml").write_text('[[rule]]\nid = "own-rules"\noutcome = "warn"\n')
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        wait_for_the_guard(daemon)
        state = daemon.home
        for command in (
            f"mkdir {state}/silent",
            f"rm {state}/asked/PreToolUse",
            f"python3 -c \"print(open('{state}/secret').read())\"",
            "headspace down",
            "headspace uninstall --yes",
            "echo '{\"disableAllHooks\": true}' > .claude/settings.local.json",
            f"kill {daemon.pid}",
        ):
            assert decision(ask(hooks, command, cwd=str(project))) == "ask", command


def test_a_call_without_a_session_is_judged_by_the_rules(tmp_path: Path) -> None:
    """The client may have renamed the field: neither is every call denied, nor is any let through unjudged."""
    asks = {"X-Headspace-Client": "gemini", "X-Headspace-Reply": "hook"}
    with running_daemon(tmp_path) as daemon:
        hooks = Hooks(tmp_path)
        wait_for_the_guard(daemon)
        for command, expected in (("ls", None), ("sudo ls", "ask"), ("rm -rf /", "deny")):
            body = json.dumps({"sessionID": "one", "tool_name": "Bash", "tool_input": {"command": command}})
            assert decision(json.loads(hooks.fire("PreToolUse", body.encode()) or b"{}")) == expected
        for command, expected in (("ls", None), ("rm -rf /", "deny")):
            body = json.dumps({"tool_name": "run_shell_command", "tool_input": {"command": command}})
            reply = daemon.post("BeforeTool", body.encode(), asks)
            assert reply.status == (200 if expected else 204)
            assert json.loads(reply.body or b"{}").get("decision") == expected
        assert daemon.post("BeforeAgent", {"prompt": "Go"}, asks).status == 204
        assert daemon.agents() == []
        stored = [(event["client"], event["agent_id"]) for event in daemon.events()]
        assert stored == [("claude-code", "")] * 3 + [("gemini", "")] * 3
        assert daemon.status["anomalies_by_client"] == {"claude-code": 3, "gemini": 3}
        assert daemon.verified()


def test_a_call_that_cannot_be_read_is_asked_about(tmp_path: Path) -> None:
    """Numbers without end, deep nesting, a body that is too large, no JSON: never let through unasked."""
    bodies = {
        "1e999": '{"session_id": "one", "tool_name": "Bash", "tool_input": {"command": "sudo ls", "n": 1e999}}',
        "digits": '{"session_id": "one", "tool_name": "Bash", "tool_input": {"command": "sudo"}, "n": '
        + "9" * 5_000
        + "}",
        "no JSON": '{"session_id": "one", "tool_name": "Bash", "tool_input": {"command": "ls',
        "too large": json.dumps({"session_id": "one", "tool_name": "Bash", "tool_input": {"command": "x" * 2_000_000}}),
    }
    for depth in (500, 900, 990, 1_500, 3_000, 100_000):
        nested = '{"session_id": "one", "tool_name": "Bash", "tool_input": {"command": "sudo ls", "deep": DEEP}}'
        bodies[f"nested {depth}"] = nested.replace("DEEP", "[" * depth + "]" * depth)
    with running_daemon(tmp_path, max_body_bytes=1_000_000) as daemon:
        hooks = Hooks(tmp_path)
        wait_for_the_guard(daemon)
        for name, body in bodies.items():
            answer = json.loads(hooks.fire("PreToolUse", body.encode()) or b"{}")
            assert decision(answer) == "ask", name
            assert answer["hookSpecificOutput"]["permissionDecisionReason"], name
        assert "could not be analysed" in daemon.get("/health").json()["parts"]["policy"]["detail"]
        assert hooks.fire("Stop", b"no JSON") == b""
        assert daemon.post("pre-tool-use", b"no JSON").status == 400  # without the header of the hook script
        assert daemon.verified()
