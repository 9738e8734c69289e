"""`policy`: what the rules say of a call, whether they are good, and whether they do what they should."""

import json
from pathlib import Path

from tests.surfaces.cli.conftest import run_headspace


def test_a_command_is_explained_and_never_run(tmp_path: Path) -> None:
    """The verdict, why, what it would run and touch, and the rules that hold."""
    done = run_headspace(tmp_path, "policy", "explain", "cd / && touch harm && rm -rf *")
    assert (done.returncode, done.stderr) == (0, "")
    assert "✕ denied  by the rule system-delete" in done.stdout
    assert "\n  rm -rf *\n" in done.stdout
    assert "deletes / " in done.stdout
    assert "deny  system-delete" in done.stdout
    assert not Path("/harm").exists()


def test_an_explanation_for_programs(tmp_path: Path) -> None:
    """Verdict, programs, files and rules by name; the preset can be tried."""
    done = run_headspace(tmp_path, "policy", "explain", "sudo ls", "--preset", "strict", "--json")
    told = json.loads(done.stdout)
    assert (told["verdict"]["ruling"], told["verdict"]["rule"]) == ("deny", "become-root")
    assert [each["runs"] for each in told["programs"]] == ["sudo ls", "ls"]
    assert told["rules"] == [
        {"rule": "become-root", "says": "deny", "unclear": False, "reason": told["verdict"]["reason"]}
    ]


def test_other_tools_modes_and_roles(tmp_path: Path) -> None:
    """A file, an input as JSON, and a session that is not interactive."""
    denied = run_headspace(tmp_path, "policy", "explain", ".env", "--tool", "Write")
    assert "✕ denied  by the rule protected-paths" in denied.stdout
    mail = ("policy", "explain", '{"to": "ada@example.org"}', "--tool", "mcp__mail__send_email", "--mode", "mission")
    assert "messages-only-interactive" in run_headspace(tmp_path, *mail).stdout
    wrong = run_headspace(tmp_path, "policy", "explain", "{no", "--tool", "WebFetch")
    assert wrong.returncode == 2
    assert "Not valid JSON" in wrong.stderr
    calm = run_headspace(tmp_path, "policy", "explain", "git status")
    assert calm.stdout.startswith("○ left to Claude Code")


def test_the_rules_are_checked(tmp_path: Path) -> None:
    """What yours add, change and switch off; a file that cannot be used ends with 1 and is named."""
    rules = tmp_path / "policy.toml"
    rules.write_text(
        '[[rule]]\nid = "mine"\noutcome = "ask"\ncommands = ["x"]\n'
        '[[rule]]\nid = "become-root"\noutcome = "deny"\n[[rule]]\nid = "fork-bomb"\nenabled = false\n'
    )
    told = json.loads(run_headspace(tmp_path, "policy", "check", "--json").stdout)
    assert (told["added"], told["changed"], told["switched_off"]) == (["mine"], ["become-root"], ["fork-bomb"])
    assert "added" in run_headspace(tmp_path, "policy", "check").stdout
    rules.write_text("[[rule]]\nid = 'x'\n")
    done = run_headspace(tmp_path, "policy", "check")
    assert done.returncode == 1
    assert f"{rules} cannot be used: rule x: Object missing required field `outcome`" in done.stderr
    assert run_headspace(tmp_path, "policy", "check", str(tmp_path / "none.toml")).returncode == 1


def test_expected_verdicts_are_tried(tmp_path: Path) -> None:
    """All as expected ends with 0; otherwise each that is not is named, and it ends with 1."""
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


def test_looking_back_needs_the_daemon(tmp_path: Path) -> None:
    """Without one it says how to start it."""
    done = run_headspace(tmp_path, "policy", "backtest")
    assert done.returncode == 3
    assert "headspace up" in done.stderr
