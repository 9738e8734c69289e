"""The plugin in the real Claude Code: it reports all events, and none twice if hooks are also installed."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_client.client import Home, Terminals
from tests.real_client.installation import Installation
from tests.real_client.model import ScriptedModel, bash, reply, text
from tests.real_client.program import VERSIONS, Unavailable
from tests.support import LIMIT_SECONDS, wait_until

PLUGIN = Path(__file__).resolve().parents[2] / "plugin"
OPTIONS = ("--permission-mode", "default", "--allowedTools", "Bash", "--plugin-dir", str(PLUGIN))


@pytest.fixture(params=VERSIONS)
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Installation, Home]]:
    """A daemon and a client of each version, without installed hooks."""
    try:
        home = Home(tmp_path / "home", request.param)
        with Terminals() as terminals, Installation(tmp_path / "headspace", terminals, [home]) as installation:
            installation.start()
            yield installation, home
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")


def run(installation: Installation, home: Home) -> None:
    """Run a client with the plugin to its end: one turn with one tool call."""
    with ScriptedModel({"Say hello": [reply(bash("echo hello")), reply(text("Done."))]}) as model:
        done = subprocess.run(
            [
                "env",
                "-i",
                f"HEADSPACE_HOME={installation.root}",
                *home.command(model.url, "-p", "Say hello.", *OPTIONS),
            ],
            cwd=home.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_SECONDS * 3,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def received(installation: Installation) -> Counter[str]:
    """The number of received hooks, by event."""
    return Counter(event["name"] for event in installation.daemon.events() if event["origin"] == "hook")


ONCE = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")


def test_the_plugin_reports_all_events_without_an_installation(installation: tuple[Installation, Home]) -> None:
    """The plugin finds the running Headspace without any settings."""
    run(*installation)
    wait_until(lambda: received(installation[0])["SessionEnd"], "the end of the session")
    assert [received(installation[0])[event] for event in ONCE] == [1] * len(ONCE)


def test_the_plugin_reports_nothing_if_the_hooks_are_installed(installation: tuple[Installation, Home]) -> None:
    """The settings contain the hooks too, so the plugin sends nothing."""
    installation[0].install()
    run(*installation)
    wait_until(lambda: received(installation[0])["SessionEnd"], "the end of the session")
    assert [received(installation[0])[event] for event in ONCE] == [1] * len(ONCE)
