"""Installation into a config dir: installed, updated and removed without changing anything else."""

import json
import os
import stat
from pathlib import Path

import pytest

from claude_headspace.clients import settings_change as installed
from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir, plan_install, plan_uninstall
from claude_headspace.clients.hook_files import HOOK_SCRIPT
from claude_headspace.errors import BadConfiguration

ORIGINAL = b'{\n    "model":   "opus",  "permissions": {"allow": ["Bash(ls)"]},\n    "pi": 3.10\n}'
"""Written by hand: rendering it would give other bytes."""


@pytest.fixture
def config(tmp_path: Path) -> ConfigDir:
    """A config dir with settings that were written by hand."""
    found = ConfigDir(tmp_path / "with space" / ".claude")
    found.path.mkdir(parents=True)
    found.settings.write_bytes(ORIGINAL)
    return found


def install(config: ConfigDir, url: str | None = None, number: int = 1) -> None:
    """Install, with a token."""
    installed.install(plan_install(config, REGISTERED, url), Path("/var/state/headspace"), f"hs_ingest_{number}")


def uninstall(config: ConfigDir) -> None:
    """Remove."""
    installed.uninstall(plan_uninstall(config))


def mode(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def files(folder: Path) -> dict[str, bytes | None]:
    """All files below a directory, with their content."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def test_all_files_are_installed(config: ConfigDir) -> None:
    """The script is executable, its conf is private, and the settings name it by its absolute path."""
    install(config)
    assert mode(config.script) == 0o700
    assert mode(config.conf) == 0o600
    assert config.conf.read_text() == "token=hs_ingest_1\n"
    assert config.state_link.readlink() == Path("/var/state/headspace")
    assert config.script.read_text() == HOOK_SCRIPT.read_text()
    hook = json.loads(config.settings.read_text())["hooks"]["Stop"][0]["hooks"][0]
    assert hook["command"] == str(config.path / "hooks" / "notify-headspace.sh")
    assert Path(hook["command"]).is_absolute()


def test_uninstall_restores_the_directory(config: ConfigDir) -> None:
    """Byte for byte, also after two installations."""
    before = files(config.path)
    install(config)
    first = files(config.path)
    install(config)
    assert files(config.path) == first
    uninstall(config)
    assert files(config.path) == before


def test_a_created_settings_file_is_removed(tmp_path: Path) -> None:
    """There was none before."""
    config = ConfigDir(tmp_path / ".claude")
    install(config)
    assert mode(config.settings) == 0o600
    install(config)
    uninstall(config)
    assert files(config.path) == {}


@pytest.mark.parametrize("original", [b"", b"\n", b"{}"])
def test_an_empty_settings_file_is_restored(config: ConfigDir, original: bytes) -> None:
    """Byte for byte."""
    config.settings.write_bytes(original)
    install(config)
    uninstall(config)
    assert config.settings.read_bytes() == original


def test_later_changes_of_others_stay(config: ConfigDir) -> None:
    """After another change, uninstall removes only the hooks of Headspace."""
    install(config)
    changed = json.loads(config.settings.read_text()) | {"model": "sonnet"}
    changed["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "say done"}]})
    config.settings.write_text(json.dumps(changed, indent=4))
    install(config)
    uninstall(config)
    assert json.loads(config.settings.read_text()) == {
        "model": "sonnet",
        "permissions": {"allow": ["Bash(ls)"]},
        "pi": 3.1,
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
    }
    assert not config.hooks_dir.exists()


def test_a_link_stays_a_link(config: ConfigDir, tmp_path: Path) -> None:
    """The file behind it is changed, for instance in a repository of dotfiles."""
    elsewhere = tmp_path / "dotfiles" / "claude.json"
    elsewhere.parent.mkdir()
    config.settings.rename(elsewhere)
    config.settings.symlink_to(Path("..") / ".." / "dotfiles" / "claude.json")
    install(config)
    assert config.settings.is_symlink()
    assert b"notify-headspace.sh" in elsewhere.read_bytes()
    uninstall(config)
    assert config.settings.is_symlink()
    assert elsewhere.read_bytes() == ORIGINAL


def test_a_link_to_a_missing_file(config: ConfigDir, tmp_path: Path) -> None:
    """The file is created, and removed again."""
    config.settings.unlink()
    config.settings.symlink_to(tmp_path / "later.json")
    install(config)
    assert (tmp_path / "later.json").exists()
    uninstall(config)
    assert config.settings.is_symlink()
    assert not config.settings.exists()


@pytest.mark.parametrize("rights", [0o600, 0o640, 0o644])
def test_the_mode_of_the_settings_stays(config: ConfigDir, rights: int) -> None:
    """Nobody gains or loses access."""
    config.settings.chmod(rights)
    install(config)
    assert mode(config.settings) == rights
    uninstall(config)
    assert mode(config.settings) == rights


def test_another_script_with_the_same_name_is_restored(config: ConfigDir) -> None:
    """With its mode."""
    config.hooks_dir.mkdir()
    config.script.write_text("#!/bin/sh\necho mine\n")
    config.script.chmod(0o755)
    before = files(config.path)
    install(config)
    install(config)
    uninstall(config)
    assert files(config.path) == before
    assert mode(config.script) == 0o755


def test_other_files_in_the_hooks_directory_stay(config: ConfigDir) -> None:
    """The directory is removed only if it is empty."""
    install(config)
    (config.hooks_dir / "theirs.sh").write_text("true\n")
    uninstall(config)
    assert list(config.hooks_dir.iterdir()) == [config.hooks_dir / "theirs.sh"]


def test_installing_again_updates_token_and_script(config: ConfigDir) -> None:
    """Old files are replaced."""
    install(config)
    config.script.write_text("an old version")
    install(config, number=2)
    assert "hs_ingest_2" in config.conf.read_text()
    assert config.script.read_text() == HOOK_SCRIPT.read_text()


def test_the_transport_can_be_changed(config: ConfigDir) -> None:
    """From the script to HTTP and back, without leftovers."""
    install(config)
    install(config, "http://127.0.0.1:5055")
    text = config.settings.read_text()
    assert text.count("notify-headspace.sh") == 1
    assert "http://127.0.0.1:5055/hook/stop" in text
    install(config)
    assert "http://" not in config.settings.read_text()
    uninstall(config)
    assert config.settings.read_bytes() == ORIGINAL


def test_invalid_settings_are_not_changed(config: ConfigDir) -> None:
    """Both installation and removal stop before anything is written."""
    config.settings.write_text('{"model": "opus",}')
    before = files(config.path)
    with pytest.raises(BadConfiguration, match=r"line 1, column \d+"):
        plan_install(config, REGISTERED)
    config.settings.write_bytes(b'{"model": "\xff"}')
    with pytest.raises(BadConfiguration, match="not UTF-8"):
        plan_uninstall(config)
    assert files(config.path).keys() == before.keys()


def test_uninstall_without_its_own_files(config: ConfigDir) -> None:
    """Only the hooks are removed from the settings."""
    install(config)
    for path in config.own_files:
        path.unlink(missing_ok=True)
    uninstall(config)
    assert json.loads(config.settings.read_text()) == json.loads(ORIGINAL)


def test_uninstall_without_an_installation_changes_nothing(config: ConfigDir, tmp_path: Path) -> None:
    """Also without a config dir."""
    before = files(tmp_path)
    uninstall(config)
    uninstall(ConfigDir(tmp_path / "nowhere"))
    assert files(tmp_path) == before


def test_a_plan_shows_the_difference(config: ConfigDir) -> None:
    """It writes nothing."""
    before = files(config.path)
    plan = plan_install(config, REGISTERED)
    assert plan.changes
    assert any(line.startswith("+") and "notify-headspace.sh" in line for line in plan.diff())
    assert files(config.path) == before
    install(config)
    assert not plan_install(config, REGISTERED).changes
    assert plan_install(config, ["Stop"]).changes


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_is_not_writable_is_reported(config: ConfigDir) -> None:
    """The settings stay unchanged."""
    config.path.chmod(0o500)
    try:
        with pytest.raises((BadConfiguration, PermissionError)):
            install(config)
    finally:
        config.path.chmod(0o700)
    assert config.settings.read_bytes() == ORIGINAL


@pytest.mark.parametrize("backup", [None, b"", b"{}", b"no JSON", b'{"model": "opus"}'])
def test_a_damaged_backup_costs_no_settings(config: ConfigDir, backup: bytes | None) -> None:
    """Without a usable backup only the hooks of Headspace are removed."""
    install(config)
    config.settings_backup.unlink()
    if backup is not None:
        config.settings_backup.write_bytes(backup)
    uninstall(config)
    assert json.loads(config.settings.read_text()) == json.loads(ORIGINAL)
    assert sorted(files(config.path)) == ["settings.json"]


def test_a_missing_backup_stays_harmless_after_another_installation(config: ConfigDir) -> None:
    """The second installation does not conclude that there was no file before."""
    install(config)
    config.settings_backup.unlink()
    install(config, number=2)
    uninstall(config)
    assert json.loads(config.settings.read_text()) == json.loads(ORIGINAL)


def test_a_changed_record_costs_no_settings(config: ConfigDir) -> None:
    """The record says that there was no file before, but the file has other content than our hooks."""
    install(config)
    record = json.loads(config.record.read_text())
    config.record.write_text(json.dumps({**record, "existed": False}))
    uninstall(config)
    assert json.loads(config.settings.read_text()) == json.loads(ORIGINAL)


def test_a_status_line_without_its_backup_is_restored(config: ConfigDir) -> None:
    """It is in the backup of the settings, too."""
    config.settings.write_text('{"statusLine": {"type": "command", "command": "mine"}}')
    installed.install(plan_install(config, REGISTERED, status_line=True), Path("/var/state/headspace"), "hs_ingest_1")
    config.status_line_backup.unlink()
    uninstall(config)
    assert json.loads(config.settings.read_text())["statusLine"]["command"] == "mine"


@pytest.mark.parametrize("kind", ["settings", "script", "settings_backup", "record", "status_line_backup"])
def test_a_pipe_is_refused_or_ignored(config: ConfigDir, kind: str) -> None:
    """Neither command waits for a writer, and the settings of the user stay."""
    path: Path = getattr(config, kind)
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    if kind in ("settings", "script"):
        with pytest.raises(BadConfiguration, match="not a regular file"):
            install(config)
        assert {name for name, content in files(config.path).items() if content is not None} <= {"settings.json"}
    else:
        install(config)
    if kind != "settings":
        uninstall(config)
        assert json.loads(config.settings.read_text()) == json.loads(ORIGINAL)


@pytest.mark.parametrize("obstacle", ["conf", "state_link", "record", "settings_backup", "hooks_dir"])
def test_a_failed_installation_leaves_nothing_behind(config: ConfigDir, obstacle: str) -> None:
    """Every file that was written before the failing step is removed or restored."""
    path: Path = getattr(config, obstacle)
    if obstacle == "hooks_dir":
        path.write_text("a file where a directory is needed")
    else:
        path.mkdir(parents=True)
    before = files(config.path)
    with pytest.raises(BadConfiguration):
        install(config)
    assert files(config.path) == before


def test_a_failed_update_restores_the_installation(config: ConfigDir) -> None:
    """The hooks of before keep working."""
    install(config)
    before = files(config.path)
    config.conf.unlink()
    config.conf.mkdir()
    with pytest.raises(BadConfiguration):
        install(config, "http://127.0.0.1:5055", number=2)
    config.conf.rmdir()
    before.pop("hooks/notify-headspace.conf")
    assert files(config.path) == before
