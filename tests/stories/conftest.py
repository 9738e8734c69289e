"""Fixtures that several stories share."""

import subprocess
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def client_pid() -> Iterator[int]:
    """A process that represents the client."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process.pid
        process.kill()
