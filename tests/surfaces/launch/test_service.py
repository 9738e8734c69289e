"""The service files for systemd and launchd."""

import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.launch.service import LABEL, UNIT, Service, command, launchd_plist, systemd_unit

PROGRAM = ["/home/ann lee/50% $done/bin/python", "-m", "claude_headspace", "serve"]
ENV = {"HEADSPACE_HOME": '/home/ann "lee"/a&b 5% $x'}


def test_systemd_unit() -> None:
    """It starts at login and after a crash; special characters are quoted."""
    unit = systemd_unit(PROGRAM, ENV)
    assert 'ExecStart="/home/ann lee/50%% $$done/bin/python" "-m" "claude_headspace" "serve"\n' in unit
    assert 'Environment="HEADSPACE_HOME=/home/ann \\"lee\\"/a&b 5%% $x"\n' in unit
    assert "Restart=on-failure\n" in unit
    assert "WantedBy=default.target\n" in unit


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """`systemd-analyze verify` prints nothing."""
    path = tmp_path / UNIT
    path.write_text(systemd_unit(command(), {"HEADSPACE_HOME": str(tmp_path / "a b")}))
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if UNIT in line]
    assert complaints == []


def test_launchd_plist() -> None:
    """It is a valid property list with the same settings."""
    found = plistlib.loads(launchd_plist(PROGRAM, ENV).encode())
    assert found["Label"] == LABEL
    assert found["ProgramArguments"] == PROGRAM
    assert found["EnvironmentVariables"] == ENV
    assert found["RunAtLoad"] is True
    assert found["KeepAlive"] == {"SuccessfulExit": False}


def test_paths_of_service_files(tmp_path: Path) -> None:
    """In the directories for services of the user."""
    linux = Service({"HOME": str(tmp_path)}, "linux")
    assert linux.path == tmp_path / ".config/systemd/user/headspace.service"
    elsewhere = Service({"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "x")}, "linux")
    assert elsewhere.path == tmp_path / "x/systemd/user/headspace.service"
    assert Service({"HOME": str(tmp_path)}, "darwin").path == tmp_path / f"Library/LaunchAgents/{LABEL}.plist"
    assert not linux.is_installed


def test_the_service_runs_this_installation() -> None:
    """By its absolute path, because a service has another PATH."""
    assert command() == [sys.executable, "-m", "claude_headspace", "serve"]
    assert Path(command()[0]).is_absolute()


def test_a_missing_service_manager_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written."""
    monkeypatch.setenv("PATH", str(tmp_path))
    service = Service({"HOME": str(tmp_path)}, "linux")
    with pytest.raises(HeadspaceError, match="needs systemctl"):
        service.install()
    assert not service.is_installed
    service.remove()


def manager(folder: Path, name: str, code: int = 0) -> Path:
    """A program of that name that writes down how it was called."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$@" >>"{folder}/calls"\nexit {code}\n')
    path.chmod(0o755)
    return folder / "calls"


def test_commands_for_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reload, enable and restart; removing reverts all of it."""
    calls = manager(tmp_path / "bin", "systemctl")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    service = Service({"HOME": str(tmp_path), "HEADSPACE_HOME": "/x"}, "linux")
    service.install()
    assert "HEADSPACE_HOME=/x" in service.path.read_text()
    service.remove()
    assert not service.path.exists()
    assert calls.read_text().splitlines() == [
        "--user daemon-reload",
        "--user enable headspace.service",
        "--user restart headspace.service",
        "--user disable --now headspace.service",
        "--user daemon-reload",
    ]


def test_errors_of_the_service_manager_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For example systemd without a session."""
    manager(tmp_path / "bin", "systemctl", code=1)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    with pytest.raises(HeadspaceError, match="daemon-reload") as raised:
        Service({"HOME": str(tmp_path)}, "linux").install()
    assert "--service" in raised.value.hint
