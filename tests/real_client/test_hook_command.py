"""The real Claude Code with `headspace hook …` in its settings, as they were written for plate-spinner."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.clients.plate_spinner.hook_types import HOOK_TYPES
from tests.real_client.client import Home, Terminals
from tests.real_client.headless import HeadlessRunner
from tests.real_client.installation import Installation
from tests.real_client.model import bash, reply, text
from tests.real_client.program import VERSIONS, Unavailable
from tests.support import LIMIT_SECONDS, wait_until


class ReportingRunner(HeadlessRunner):
    """Runs clients whose hooks only report."""

    options = ("--permission-mode", "default", "--allowedTools", "Bash")

    def register(self) -> None:
        """Write the five hooks of plate-spinner into the settings."""
        program = self.home.root / "bin" / "headspace"
        hooks = {
            event: [{"hooks": [{"type": "command", "command": f"{program} hook {name}"}]}]
            for name, event in HOOK_TYPES.items()
        }
        (self.home.config_dir / "settings.json").write_text(json.dumps({"hooks": hooks}))

    def headspace(self, *arguments: str) -> str:
        """The output of a command."""
        command = [str(self.home.root / "bin" / "headspace"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=True).stdout


@pytest.fixture(params=VERSIONS)
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ReportingRunner]:
    """A runner for each client version."""
    try:
        home = Home(tmp_path / "home", request.param)
        with Terminals() as terminals, Installation(tmp_path / "headspace", terminals, [home]) as installation:
            installation.start()
            found = ReportingRunner(installation, home)
            found.register()
            yield found
            assert installation.daemon.verified()
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")


def test_why_says_that_the_hooks_only_report(runner: ReportingRunner) -> None:
    """“We register handlers for these hooks in `~/.claude/settings.json`: `sp hook pre-tool-use`.”

    They report every event. The guard rules cannot apply, and `why` gives this reason although the daemon runs.
    """
    script = {"Set the key": [reply(bash("echo KEY=1 > .env")), reply(text("I set the key."))]}
    runner.run("Set the key", script)
    daemon = runner.installation.daemon
    wait_until(lambda: any(event["name"] == "Stop" for event in daemon.events()), "the end of the turn")
    [agent] = daemon.agents()
    why = " ".join(runner.headspace("why", agent["id"]).split())
    assert "guard off: `headspace hook` only reports; `headspace install` registers hooks that ask" in why
    assert "daemon was down" not in why
