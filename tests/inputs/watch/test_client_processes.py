"""Client processes: their ancestors, and which of them run."""

import asyncio
import os
import subprocess
import sys

import psutil
import pytest

from claude_headspace.inputs.watch.client_processes import ProcessAncestry, find_ancestry, find_tmux_pane


def test_ancestors_are_listed_nearest_first() -> None:
    """They show which agent started a client."""
    program = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as child:
        found = find_ancestry(child.pid)
        child.kill()
    assert found.ancestor_pids[:2] == (os.getpid(), os.getppid())
    assert found.client_started_at is not None
    assert find_ancestry(child.pid).ancestor_pids == ()


def test_a_process_that_is_just_starting_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it replaces its program it shows no variables: that does not mean that it is outside of tmux."""
    shown = iter([{}, {}, {"TMUX": "/tmp/server,1,0", "TMUX_PANE": "%7"}])
    monkeypatch.setattr(psutil.Process, "environ", lambda _self: next(shown))
    assert find_tmux_pane(os.getpid()) == "%7"


def test_ancestry_is_cached() -> None:
    """One client may fire many hooks a second."""

    async def play() -> bool:
        ancestry = ProcessAncestry()
        first, second = await ancestry(os.getpid()), await ancestry(os.getpid())
        ancestry.close()
        return first is second

    assert asyncio.run(play())
