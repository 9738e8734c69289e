"""The hooks as a plugin: the same events as an installation, handed to the Headspace that is there, and told once."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from claude_headspace import __version__
from claude_headspace.clients.claude_code.hooks import plugin
from claude_headspace.clients.claude_code.hooks.events import known_to
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir, put_script
from tests.support_hooks import Hooks

ROOT = Path(__file__).resolve().parents[4]
SCRIPT = ROOT / "plugin/hooks/notify-headspace.sh"
PAYLOAD = json.dumps({"session_id": "one", "cwd": "/projects/shop", "hook_event_name": "Stop"}).encode()


@pytest.mark.parametrize("path", plugin.files())
def test_the_folder_is_made_from_the_table(path: str) -> None:
    """What is in the repository is what the program would write now."""
    assert (ROOT / path).read_text() == plugin.files()[path], "run `.venv/bin/python docs/reference.py`"


def test_it_registers_what_an_installation_does() -> None:
    """The same events in the same form; only the place of the script differs."""
    told: dict[str, Any] = json.loads((ROOT / "plugin/hooks/hooks.json").read_text())["hooks"]
    assert list(told) == known_to(None)
    for event, [group] in told.items():
        [hook] = group["hooks"]
        assert (hook["type"], hook["args"]) == ("command", [event])
        assert hook["command"] == "${CLAUDE_PLUGIN_ROOT}/hooks/notify-headspace.sh"


def test_its_version_is_the_programs() -> None:
    """From one place."""
    assert json.loads((ROOT / "plugin/.claude-plugin/plugin.json").read_text())["version"] == __version__


def test_the_script_can_be_run_and_is_quiet() -> None:
    """It is executable, and what it does not need is not there: no other program is started."""
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


def told(state: Path) -> int:
    """How many events wait."""
    return len(list((state / "spool").glob("*.json")))


@pytest.mark.parametrize(
    ("place", "env"),
    [
        (".local/state/headspace", {}),
        ("Library/Application Support/headspace", {}),
        ("x/headspace", {"XDG_STATE_HOME": "{home}/x"}),
        ("own", {"HEADSPACE_HOME": "{home}/own"}),
    ],
)
def test_it_finds_headspace(tmp_path: Path, place: str, env: dict[str, str]) -> None:
    """Wherever its state directory is by default, and where the environment says."""
    state = tmp_path / place
    (state / "spool").mkdir(parents=True)
    put_script(ConfigDir(state), state, "token")
    done = fire(tmp_path, **{name: value.format(home=tmp_path) for name, value in env.items()})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert told(state) == 1


def test_without_headspace_nothing_happens(tmp_path: Path) -> None:
    """The plugin may be there before Headspace is: no error, no word, no file."""
    done = fire(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_it_is_silent_where_the_settings_have_the_hooks(tmp_path: Path) -> None:
    """Both registered: the event is told once. Taken out of the settings, the plugin tells it."""
    hooks = Hooks(tmp_path)
    state = tmp_path
    put_script(ConfigDir(state), state, "token")
    hooks.fire("Stop", PAYLOAD)
    fire(tmp_path, HEADSPACE_HOME=str(state))
    assert told(state) == 1
    hooks.headspace("uninstall", "--yes")
    fire(tmp_path, HEADSPACE_HOME=str(state))
    assert told(state) == 2
