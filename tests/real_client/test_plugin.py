"""The plugin in the real Claude Code: its hooks alone tell everything, and beside installed ones nothing twice."""

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_client.client import Home, Terminals
from tests.real_client.house import House
from tests.real_client.model import ScriptedModel, bash, reply, text
from tests.real_client.program import VERSIONS, Unavailable
from tests.support import LIMIT_SECONDS, wait_until

PLUGIN = Path(__file__).resolve().parents[2] / "plugin"
OPTIONS = ("--permission-mode", "default", "--allowedTools", "Bash", "--plugin-dir", str(PLUGIN))


@pytest.fixture(params=VERSIONS)
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[House, Home]]:
    """A client of every version beside a daemon; nothing is installed."""
    try:
        home = Home(tmp_path / "home", request.param)
        with Terminals() as terminals, House(tmp_path / "headspace", terminals, [home]) as house:
            house.start()
            yield house, home
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")


def run(house: House, home: Home) -> None:
    """Run a client with the plugin to its end: one turn with one call."""
    with ScriptedModel({"Say hello": [reply(bash("echo hello")), reply(text("Done."))]}) as model:
        done = subprocess.run(
            ["env", "-i", f"HEADSPACE_HOME={house.root}", *home.command(model.url, "-p", "Say hello.", *OPTIONS)],
            cwd=home.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT_SECONDS * 3,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def heard(house: House) -> Counter[str]:
    """Which hooks were told, how often."""
    return Counter(event["name"] for event in house.daemon.events() if event["origin"] == "hook")


ONCE = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")


def test_the_plugin_alone_tells_everything(house: tuple[House, Home]) -> None:
    """No settings are changed: the plugin finds the Headspace that is there."""
    run(*house)
    wait_until(lambda: heard(house[0])["SessionEnd"], "the end of the session")
    assert [heard(house[0])[event] for event in ONCE] == [1] * len(ONCE)


def test_beside_an_installation_nothing_is_told_twice(house: tuple[House, Home]) -> None:
    """The settings have the hooks too: the plugin stays silent."""
    house[0].install()
    run(*house)
    wait_until(lambda: heard(house[0])["SessionEnd"], "the end of the session")
    assert [heard(house[0])[event] for event in ONCE] == [1] * len(ONCE)
