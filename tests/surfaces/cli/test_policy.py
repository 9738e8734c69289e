"""The commands of `policy`."""

import json
from pathlib import Path

from tests.surfaces.cli.conftest import run_headspace


def test_explain_runs_nothing(tmp_path: Path) -> None:
    """It shows the verdict, the reason, programs, files and matching rules."""
    done = run_headspace(tmp_path, "policy", "explain", "cd / && touch harm && rm -rf *")
    assert (done.returncode, done.stderr) == (0, "")
    assert "✕ deny (rule system-delete)" in done.stdout
    assert "\n  rm -rf *\n" in done.stdout
    assert "deletes / " in done.stdout
    assert "deny  system-delete" in done.stdout
    assert not Path("/harm").exists()


def test_explain_in_json(tmp_path: Path) -> None:
    """Verdict, programs, files and rules; with another preset."""
    done = run_headspace(tmp_path, "policy", "explain", "sudo ls", "--preset", "strict", "--json")
    result = json.loads(done.stdout)
    assert (result["verdict"]["ruling"], result["verdict"]["rule"]) == ("deny", "become-root")
    assert [each["runs"] for each in result["programs"]] == ["sudo ls", "ls"]
    assert result["rules"] == [
        {"rule": "become-root", "says": "deny", "unclear": False, "reason": result["verdict"]["reason"]}
    ]


def test_explain_other_tools_modes_and_roles(tmp_path: Path) -> None:
    """A file, a JSON input, and a session that is not interactive."""
    denied = run_headspace(tmp_path, "policy", "explain", ".env", "--tool", "Write")
    assert "✕ deny (rule protected-paths)" in denied.stdout
    mail = ("policy", "explain", '{"to": "ada@example.org"}', "--tool", "mcp__mail__send_email", "--mode", "mission")
    assert "messages-only-interactive" in run_headspace(tmp_path, *mail).stdout
    wrong = run_headspace(tmp_path, "policy", "explain", "{no", "--tool", "WebFetch")
    assert wrong.returncode == 2
    assert "Not valid JSON" in wrong.stderr
    calm = run_headspace(tmp_path, "policy", "explain", "git status")
    assert calm.stdout.startswith("○ left to the client")


def test_check(tmp_path: Path) -> None:
    """Lists added, changed and disabled rules; an invalid file is named, with exit code 1."""
    rules = tmp_path / "policy.toml"
    rules.write_text(
        '[[rule]]\nid = "mine"\noutcome = "ask"\ncommands = ["x"]\n'
        '[[rule]]\nid = "become-root"\noutcome = "deny"\n[[rule]]\nid = "fork-bomb"\nenabled = false\n'
    )
    result = json.loads(run_headspace(tmp_path, "policy", "check", "--json").stdout)
    assert (result["added"], result["changed"], result["switched_off"]) == (["mine"], ["become-root"], ["fork-bomb"])
    assert "added" in run_headspace(tmp_path, "policy", "check").stdout
    rules.write_text("[[rule]]\nid = 'x'\n")
    done = run_headspace(tmp_path, "policy", "check")
    assert done.returncode == 1
    assert f"{rules} cannot be used: rule x: Object missing required field `outcome`" in done.stderr
    assert run_headspace(tmp_path, "policy", "check", str(tmp_path / "none.toml")).returncode == 1


def test_test_cases(tmp_path: Path) -> None:
    """Exit code 0 if all verdicts are as expected; otherwise they are listed, with exit code 1."""
    cases = tmp_path / "cases.toml"
    cases.write_text(
        '[[cases]]\nexpect = "deny"\ncommands = ["rm -rf /"]\n[[cases]]\nexpect = "pass"\ncommands = ["ls"]\n'
    )
    done = run_headspace(tmp_path, "policy", "test", str(cases))
    assert (done.returncode, done.stdout) == (0, "All 2 calls got the expected verdict.\n")
    cases.write_text('[[cases]]\nexpect = "pass"\ncommands = ["rm -rf /"]\n')
    done = run_headspace(tmp_path, "policy", "test", str(cases))
    assert done.returncode == 1
    assert "expected pass, got deny by system-delete" in done.stdout
    cases.write_text("[[cases]]\nexpect = 'perhaps'\n")
    assert "cannot be used" in run_headspace(tmp_path, "policy", "test", str(cases)).stderr


def test_backtest_needs_the_daemon(tmp_path: Path) -> None:
    """The hint says how to start it."""
    done = run_headspace(tmp_path, "policy", "backtest")
    assert done.returncode == 3
    assert "headspace up" in done.stderr
