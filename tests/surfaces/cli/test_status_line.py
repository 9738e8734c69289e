"""The lines for tmux."""

import os
import re
import subprocess
from pathlib import Path

from tests.surfaces.cli.conftest import run_headspace


def test_tmux_shows_the_board_only_while_the_daemon_runs(tmp_path: Path) -> None:
    """The files of a killed daemon are still there, but its process is not. Nothing is an error."""
    found = re.search(r"status-right ' #\((.*)\)'", run_headspace(tmp_path, "tmux").stdout)
    assert found is not None

    def shown() -> tuple[str, str]:
        done = subprocess.run(["/bin/sh", "-c", found[1]], capture_output=True, encoding="utf-8", check=False)
        return done.stdout, done.stderr

    assert shown() == ("", "")
    (tmp_path / "glance").write_text("◆ 1 able-ant\n")
    (tmp_path / "address").write_text(f"127.0.0.1 5055 {os.getpid()}\n")
    assert shown() == ("◆ 1 able-ant\n", "")
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()
    (tmp_path / "address").write_text(f"127.0.0.1 5055 {gone.pid}\n")
    assert shown() == ("", "")
