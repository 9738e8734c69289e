"""Programs that are never clients."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from claude_headspace.inputs.watch.never_clients import NEVER_CLIENTS, can_be_client


def can_process(*command: str, executable: str | None = None) -> bool:
    """Whether the process of a command that waits for its input can be a client."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, executable=executable) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = can_be_client(process.pid)
        process.kill()
    return found


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_shell_is_no_client(shell: str) -> None:
    """Interactive or not, and as a login shell."""
    assert not can_process(shell, "-c", "echo; read x; true")
    assert not can_process(f"-{shell}", "-c", "echo; read x; true", executable=shutil.which(shell))


def test_the_executable_decides(tmp_path: Path) -> None:
    """A client with the name of a shell is a client, and a shell with the name of a client is none."""
    wait = "print(flush=True); input()"
    assert can_process("bash", "-c", wait, executable=sys.executable)
    script = tmp_path / "claude"
    script.write_text("#!/bin/sh\necho\nread x\ntrue\n")
    script.chmod(0o755)
    assert not can_process(str(script))


def test_the_first_process_is_no_client() -> None:
    """Everything runs in it."""
    assert not can_be_client(1)
    assert can_be_client(os.getpid())


def test_no_client_is_in_the_table() -> None:
    """Clients run as their own program or in a runtime."""
    assert NEVER_CLIENTS.keys().isdisjoint({"claude", "node", "bun", "deno", "python3", "headspace"})
