"""Runs clients without a terminal (`-p`), with installed hooks and `headspace` on their PATH."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import Home, Terminals
from tests.real_client.installation import Installation
from tests.real_client.model import Script, ScriptedModel
from tests.real_client.program import Unavailable
from tests.support import LIMIT_SECONDS


class HeadlessRunner:
    """Runs headless clients in one home."""

    options: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()

    def __init__(self, installation: Installation, home: Home) -> None:
        self.installation, self.home = installation, home
        program = home.root / "bin" / "headspace"
        own = f"HEADSPACE_HOME={installation.root} HEADSPACE_PORT=0"
        program.write_text(f'#!/bin/sh\n{own} exec {sys.executable} -m claude_headspace "$@"\n')
        program.chmod(0o755)

    def run(self, prompt: str, script: Script, *options: str) -> list[dict[str, Any]]:
        """Run a client to its end; return the requests to the model."""
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
def installed_home(version: str, root: Path) -> Iterator[tuple[Installation, Home]]:
    """A home with installed hooks and its own daemon, whose journal is verified at the end."""
    try:
        home = Home(root / "home", version)
        with Terminals() as terminals, Installation(root / "headspace", terminals, [home]) as installation:
            installation.start()
            installation.install()
            yield installation, home
            assert installation.daemon.verified()
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")
