"""The commands `install` and `uninstall`, and `bin/install-hooks.sh`."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from claude_headspace.clients.claude_code.hooks.events import NOT_REGISTERED, REGISTERED, SINCE
from claude_headspace.surfaces.auth.tokens import Scope, make_token
from claude_headspace.surfaces.cli.presentation.setup import hook_reasons
from tests.support import LIMIT_SECONDS, RunningDaemon, environment
from tests.surfaces.cli.conftest import run_headspace

ORIGINAL = '{ "model": "opus" }'
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    """A configuration directory of Claude Code, with settings."""
    folder = tmp_path / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(ORIGINAL)
    return folder


def test_the_default_config_dir(tmp_path: Path, claude: Path) -> None:
    """Hooks are installed in ~/.claude and removed without a trace."""
    done = run_headspace(tmp_path, "install", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert str(claude) in done.stdout
    assert json.loads((claude / "settings.json").read_text())["hooks"].keys() == REGISTERED.keys() - SINCE.keys()
    token = make_token((tmp_path / "secret").read_bytes(), Scope.INGEST)
    assert (claude / "hooks" / "notify-headspace.conf").read_text() == f"token={token}\n"
    assert (claude / "hooks" / "notify-headspace.state").readlink() == tmp_path
    assert "already" in run_headspace(tmp_path, "install", "--yes").stdout
    done = run_headspace(tmp_path, "uninstall", "--yes")
    assert "settings.json was restored" in done.stdout
    assert (claude / "settings.json").read_text() == ORIGINAL
    assert list(claude.iterdir()) == [claude / "settings.json"]


def test_claude_config_dir_is_used(tmp_path: Path, claude: Path) -> None:
    """~/.claude is not touched."""
    run_headspace(tmp_path, "install", "--yes", CLAUDE_CONFIG_DIR=str(tmp_path / "work"))
    assert (tmp_path / "work" / "settings.json").exists()
    assert (claude / "settings.json").read_text() == ORIGINAL


def test_several_config_dirs(tmp_path: Path, claude: Path) -> None:
    """Each gets hooks and its own script."""
    other = tmp_path / "other"
    names = ("--config-dir", str(claude), "-c", str(other), "-c", str(claude))
    assert run_headspace(tmp_path, "install", "--yes", *names).returncode == 0
    for folder in (claude, other):
        hook = json.loads((folder / "settings.json").read_text())["hooks"]["Stop"][0]["hooks"][0]
        assert hook["command"] == str(folder / "hooks" / "notify-headspace.sh")
    assert run_headspace(tmp_path, "uninstall", "--yes", *names).returncode == 0
    assert not (other / "settings.json").exists()


def test_config_dirs_of_the_settings(tmp_path: Path, claude: Path) -> None:
    """The setting config_dirs adds directories."""
    (tmp_path / "config.toml").write_text(f'config_dirs = ["{tmp_path}/more"]\n')
    run_headspace(tmp_path, "install", "--yes")
    assert (tmp_path / "more" / "settings.json").exists()
    assert "hooks" in (claude / "settings.json").read_text()


def test_dry_run_prints_a_diff(tmp_path: Path, claude: Path) -> None:
    """Nothing is written, not even a secret."""
    done = run_headspace(tmp_path, "install", "--dry-run")
    assert done.returncode == 0
    assert any(line.startswith("+") and "notify-headspace.sh" in line for line in done.stdout.splitlines())
    assert (claude / "settings.json").read_text() == ORIGINAL
    assert sorted(path.name for path in tmp_path.iterdir()) == [".claude"]
    run_headspace(tmp_path, "install", "--yes")
    assert "is not changed" in run_headspace(tmp_path, "install", "--dry-run").stdout
    done = run_headspace(tmp_path, "uninstall", "--dry-run")
    assert f"+{ORIGINAL}" in done.stdout


def test_confirmation_needs_a_terminal(tmp_path: Path, claude: Path) -> None:
    """Without a terminal and without --yes nothing is installed, and the hint says what to do."""
    done = run_headspace(tmp_path, "install")
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert "PreToolUse" in done.stdout
    assert (claude / "settings.json").read_text() == ORIGINAL


def test_the_question_lists_all_hooks() -> None:
    """Registered hooks and omitted ones, with reasons."""
    shown = "\n".join(
        "".join(span.text for span in line) for line in hook_reasons("Claude Code", REGISTERED, NOT_REGISTERED, 100)
    )
    assert all(name in shown and reason in shown for name, reason in (REGISTERED | NOT_REGISTERED).items())


@pytest.mark.parametrize(("version", "has_them"), [("2.1.197", False), ("2.1.325", True), ("nonsense", False)])
def test_hooks_depend_on_the_client_version(tmp_path: Path, claude: Path, version: str, has_them: bool) -> None:
    """It is detected or given; newer hooks are registered only for newer clients."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o700)
    run_headspace(tmp_path, "install", "--yes", PATH=f"{program.parent}:{os.environ['PATH']}")
    asked = json.loads((claude / "settings.json").read_text())["hooks"]
    assert (SINCE.keys() <= asked.keys()) == has_them
    run_headspace(tmp_path, "install", "--yes", "--client-version", version)
    assert json.loads((claude / "settings.json").read_text())["hooks"] == asked


def test_invalid_settings_are_not_changed(tmp_path: Path, claude: Path) -> None:
    """The error has line and column, and no other directory is changed."""
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "settings.json").write_text('{\n  "model": "opus",\n}')
    done = run_headspace(tmp_path, "install", "--yes", "-c", str(claude), "-c", str(broken))
    assert done.returncode == 1
    assert "line 3, column 1" in done.stderr
    assert "Nothing was changed" in done.stderr
    assert (claude / "settings.json").read_text() == ORIGINAL
    assert list(broken.iterdir()) == [broken / "settings.json"]


def test_http_transport_uses_the_running_daemon(daemon: RunningDaemon) -> None:
    """Only SessionStart runs the script."""
    done = run_headspace(daemon.home, "install", "--yes", "--transport", "http")
    assert done.returncode == 0
    hooks = json.loads((daemon.home / ".claude" / "settings.json").read_text())["hooks"]
    kinds = {event: groups[0]["hooks"][0]["type"] for event, groups in hooks.items()}
    assert {event for event, kind in kinds.items() if kind == "command"} == {"SessionStart"}
    assert hooks["PreToolUse"][0]["hooks"][0]["url"] == f"{daemon.url}/hook/pre-tool-use"


def test_the_script_of_the_checkout(tmp_path: Path, claude: Path) -> None:
    """“Run `bin/install-hooks.sh` to configure Claude Code hooks.” “Uninstall: `bin/install-hooks.sh --uninstall`.”

    Both work without a terminal, also through a symbolic link. All paths are absolute and the script is executable.
    """
    link = tmp_path / "link"
    link.symlink_to(ROOT / "bin" / "install-hooks.sh")

    def run(*arguments: str) -> None:
        subprocess.run(
            [str(link), *arguments],
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=True,
        )

    run("--dry-run")
    assert (claude / "settings.json").read_text() == ORIGINAL
    run()
    script = claude / "hooks" / "notify-headspace.sh"
    assert os.access(script, os.X_OK)
    groups = json.loads((claude / "settings.json").read_text())["hooks"]
    commands = {hook["command"] for group in groups["SessionStart"] for hook in group["hooks"]}
    assert str(script) in commands
    run("--uninstall")
    assert (claude / "settings.json").read_text() == ORIGINAL


def test_a_pipe_instead_of_settings_is_refused(tmp_path: Path, claude: Path) -> None:
    """`install` says so at once, and leaves nothing behind in any directory."""
    other = tmp_path / "other"
    other.mkdir()
    os.mkfifo(other / "settings.json")
    done = run_headspace(tmp_path, "install", "--yes", "-c", str(claude), "-c", str(other))
    assert done.returncode != 0
    assert "not a regular file" in done.stderr
    assert (claude / "settings.json").read_text() == ORIGINAL
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        ".claude",
        ".claude/settings.json",
        "other",
        "other/settings.json",
    ]


def test_a_failure_in_one_directory_leaves_nothing_in_the_others(tmp_path: Path, claude: Path) -> None:
    """Neither hooks nor directories of Headspace remain."""
    other = tmp_path / "other"
    (other / "hooks" / "notify-headspace.conf").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    done = run_headspace(tmp_path, "install", "--yes", "-c", str(claude), "-c", str(other))
    assert done.returncode != 0
    assert "cannot be written" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before
    assert (claude / "settings.json").read_text() == ORIGINAL
