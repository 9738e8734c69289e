"""A client's home beside a Headspace, its hooks installed and `headspace` in its shell."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import Home, Terminals
from tests.real_client.house import House
from tests.real_client.model import Script, ScriptedModel
from tests.real_client.program import Unavailable
from tests.support import LIMIT_SECONDS


class Desk:
    """Where a client works, and what it is given to do without a terminal."""

    options: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()

    def __init__(self, house: House, home: Home) -> None:
        self.house, self.home = house, home
        program = home.root / "bin" / "headspace"
        own = f"HEADSPACE_HOME={house.root} HEADSPACE_PORT=0"
        program.write_text(f'#!/bin/sh\n{own} exec {sys.executable} -m claude_headspace "$@"\n')
        program.chmod(0o755)

    def run(self, prompt: str, script: Script, *options: str) -> list[dict[str, Any]]:
        """Run a client to its end; what the model was sent."""
        with ScriptedModel(script) as model:
            command = self.home.command(model.url, "-p", prompt, *self.options, *options)
            done = subprocess.run(
                ["env", "-i", *self.environment, *command],
                cwd=self.home.project,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT_SECONDS * 3,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return model.requests


@contextmanager
def a_place(version: str, root: Path) -> Iterator[tuple[House, Home]]:
    """A client of a version, its hooks installed, with a daemon of its own whose journal is checked at the end."""
    try:
        home = Home(root / "home", version)
        with Terminals() as terminals, House(root / "headspace", terminals, [home]) as house:
            house.start()
            house.install()
            yield house, home
            assert house.daemon.verified()
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")
