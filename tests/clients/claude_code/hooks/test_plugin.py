"""The hooks as a plugin: the same events as an installation, reported once."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from claude_headspace import __version__
from claude_headspace.clients.claude_code.hooks.events import events_for
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir
from claude_headspace.clients.hook_files import write_script
from tests.support_hooks import Hooks

ROOT = Path(__file__).resolve().parents[4]
SCRIPT = ROOT / "plugin/hooks/notify-headspace.sh"
PAYLOAD = json.dumps({"session_id": "one", "cwd": "/projects/shop", "hook_event_name": "Stop"}).encode()


def test_it_registers_the_same_events_as_an_installation() -> None:
    """Only the path of the script differs."""
    hooks: dict[str, Any] = json.loads((ROOT / "plugin/hooks/hooks.json").read_text())["hooks"]
    assert list(hooks) == events_for(None)
    for event, [group] in hooks.items():
        [hook] = group["hooks"]
        assert (hook["type"], hook["args"]) == ("command", [event])
        assert hook["command"] == "${CLAUDE_PLUGIN_ROOT}/hooks/notify-headspace.sh"


def test_its_version_is_that_of_headspace() -> None:
    """There is one source of the version."""
    assert json.loads((ROOT / "plugin/.claude-plugin/plugin.json").read_text())["version"] == __version__


def test_the_script_is_executable_and_starts_no_program() -> None:
    """It is pure bash."""
    assert os.access(SCRIPT, os.X_OK)
    code = [line for line in SCRIPT.read_text().splitlines() if not line.startswith("#")]
    assert not re.search(r"\b(cat|curl|jq|python|sed)\b", "\n".join(code))


def fire(home: Path, **env: str) -> "subprocess.CompletedProcess[bytes]":
    """Run the plugin's hook as the client does."""
    return subprocess.run(
        [str(SCRIPT), "Stop"],
        input=PAYLOAD,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin", "CLAUDE_PID": "0", **env},
        capture_output=True,
        timeout=60,
        check=False,
    )


def spooled(state: Path) -> int:
    """The number of events in the spool."""
    return len(list((state / "spool").glob("*.json")))


@pytest.mark.parametrize(
    ("directory", "env"),
    [
        (".local/state/headspace", {}),
        ("Library/Application Support/headspace", {}),
        ("x/headspace", {"XDG_STATE_HOME": "{home}/x"}),
        ("own", {"HEADSPACE_HOME": "{home}/own"}),
    ],
)
def test_it_finds_headspace(tmp_path: Path, directory: str, env: dict[str, str]) -> None:
    """In the default state directories, and where the environment says."""
    state = tmp_path / directory
    (state / "spool").mkdir(parents=True)
    write_script(ConfigDir(state), state, "token")
    done = fire(tmp_path, **{name: value.format(home=tmp_path) for name, value in env.items()})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert spooled(state) == 1


def test_without_headspace_nothing_happens(tmp_path: Path) -> None:
    """The plugin may be installed before Headspace: no error, no output, no file."""
    done = fire(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_it_does_nothing_if_the_settings_have_the_hooks(tmp_path: Path) -> None:
    """With both, an event is reported once. After `uninstall` the plugin reports it."""
    hooks = Hooks(tmp_path)
    state = tmp_path
    write_script(ConfigDir(state), state, "token")
    hooks.fire("Stop", PAYLOAD)
    fire(tmp_path, HEADSPACE_HOME=str(state))
    assert spooled(state) == 1
    hooks.headspace("uninstall", "--yes")
    fire(tmp_path, HEADSPACE_HOME=str(state))
    assert spooled(state) == 2
