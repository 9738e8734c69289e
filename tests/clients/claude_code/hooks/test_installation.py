"""Our files in a configuration directory: put there, renewed and taken away, and nothing else touched."""

import json
import os
import stat
from pathlib import Path

import pytest

from claude_headspace.clients.claude_code.hooks import installation as installed
from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir, plan_install, plan_uninstall
from claude_headspace.errors import BadConfiguration

ORIGINAL = b'{\n    "model":   "opus",  "permissions": {"allow": ["Bash(ls)"]},\n    "pi": 3.10\n}'
"""Written by hand: rendering it anew would give other bytes."""


@pytest.fixture
def config(tmp_path: Path) -> ConfigDir:
    """A configuration directory with settings that somebody wrote by hand."""
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
    """Who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)


def files(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def test_everything_lies_where_it_belongs(config: ConfigDir) -> None:
    """The script can be run and its conf is private; the settings name the script by its whole path."""
    install(config)
    assert mode(config.script) == 0o700
    assert mode(config.conf) == 0o600
    assert config.conf.read_text() == "token=hs_ingest_1\n"
    assert config.state.readlink() == Path("/var/state/headspace")
    assert config.script.read_text() == installed.SHIPPED.read_text()
    hook = json.loads(config.settings.read_text())["hooks"]["Stop"][0]["hooks"][0]
    assert hook["command"] == str(config.path / "hooks" / "notify-headspace.sh")
    assert Path(hook["command"]).is_absolute()


def test_install_install_uninstall_leaves_no_trace(config: ConfigDir) -> None:
    """The directory is byte for byte what it was, however the settings were written."""
    before = files(config.path)
    install(config)
    first = files(config.path)
    install(config)
    assert files(config.path) == first
    uninstall(config)
    assert files(config.path) == before


def test_without_a_settings_file_there_is_none_afterwards(tmp_path: Path) -> None:
    """A file that only we needed goes with us."""
    config = ConfigDir(tmp_path / ".claude")
    install(config)
    assert mode(config.settings) == 0o600
    install(config)
    uninstall(config)
    assert files(config.path) == {}


@pytest.mark.parametrize("original", [b"", b"\n", b"{}"])
def test_an_empty_file_is_empty_again(config: ConfigDir, original: bytes) -> None:
    """Also a file without settings is given back as it was."""
    config.settings.write_bytes(original)
    install(config)
    uninstall(config)
    assert config.settings.read_bytes() == original


def test_what_others_change_meanwhile_stays(config: ConfigDir) -> None:
    """After somebody else's change only our hooks go, whether installed again in between or not."""
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
    assert not config.folder.exists()


def test_a_link_stays_a_link(config: ConfigDir, tmp_path: Path) -> None:
    """Settings that live elsewhere, in a repository of dotfiles perhaps, are changed there."""
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


def test_a_link_to_nothing_is_filled_and_emptied(config: ConfigDir, tmp_path: Path) -> None:
    """A link whose file does not exist yet gets it, and loses it again."""
    config.settings.unlink()
    config.settings.symlink_to(tmp_path / "later.json")
    install(config)
    assert (tmp_path / "later.json").exists()
    uninstall(config)
    assert config.settings.is_symlink()
    assert not config.settings.exists()


@pytest.mark.parametrize("rights", [0o600, 0o640, 0o644])
def test_the_mode_of_the_settings_stays(config: ConfigDir, rights: int) -> None:
    """Who could read the settings before can do so afterwards, and nobody else."""
    config.settings.chmod(rights)
    install(config)
    assert mode(config.settings) == rights
    uninstall(config)
    assert mode(config.settings) == rights


def test_another_script_of_that_name_comes_back(config: ConfigDir) -> None:
    """A script that somebody else had put there is kept, and returned with its mode."""
    config.folder.mkdir()
    config.script.write_text("#!/bin/sh\necho mine\n")
    config.script.chmod(0o755)
    before = files(config.path)
    install(config)
    install(config)
    uninstall(config)
    assert files(config.path) == before
    assert mode(config.script) == 0o755


def test_hooks_of_others_in_the_folder_stay(config: ConfigDir) -> None:
    """The folder goes only if it was ours alone."""
    install(config)
    (config.folder / "theirs.sh").write_text("true\n")
    uninstall(config)
    assert list(config.folder.iterdir()) == [config.folder / "theirs.sh"]


def test_a_new_token_and_a_new_script_are_taken_over(config: ConfigDir) -> None:
    """Installing again brings the files up to date."""
    install(config)
    config.script.write_text("an old version")
    install(config, number=2)
    assert "hs_ingest_2" in config.conf.read_text()
    assert config.script.read_text() == installed.SHIPPED.read_text()


def test_the_transport_can_be_changed(config: ConfigDir) -> None:
    """From the script to HTTP and back, without anything left of the other, and back to the beginning."""
    install(config)
    install(config, "http://127.0.0.1:5055")
    text = config.settings.read_text()
    assert text.count("notify-headspace.sh") == 1
    assert "http://127.0.0.1:5055/hook/stop" in text
    install(config)
    assert "http://" not in config.settings.read_text()
    uninstall(config)
    assert config.settings.read_bytes() == ORIGINAL


def test_a_file_that_cannot_be_read_is_left_alone(config: ConfigDir) -> None:
    """Broken settings stop both ways before anything is written."""
    config.settings.write_text('{"model": "opus",}')
    before = files(config.path)
    with pytest.raises(BadConfiguration, match=r"line 1, column \d+"):
        plan_install(config, REGISTERED)
    config.settings.write_bytes(b'{"model": "\xff"}')
    with pytest.raises(BadConfiguration, match="not UTF-8"):
        plan_uninstall(config)
    assert files(config.path).keys() == before.keys()


def test_without_its_notes_only_our_hooks_go(config: ConfigDir) -> None:
    """An installation whose own files were deleted can still be removed."""
    install(config)
    for path in config.ours:
        path.unlink(missing_ok=True)
    uninstall(config)
    assert json.loads(config.settings.read_text()) == json.loads(ORIGINAL)


def test_removing_what_is_not_there_changes_nothing(config: ConfigDir, tmp_path: Path) -> None:
    """Also where there is no configuration at all."""
    before = files(tmp_path)
    uninstall(config)
    uninstall(ConfigDir(tmp_path / "nowhere"))
    assert files(tmp_path) == before


def test_the_difference_is_shown(config: ConfigDir) -> None:
    """A plan tells in advance which lines come and go, and writes nothing."""
    before = files(config.path)
    plan = plan_install(config, REGISTERED)
    assert plan.changes
    assert any(line.startswith("+") and "notify-headspace.sh" in line for line in plan.diff())
    assert files(config.path) == before
    install(config)
    assert not plan_install(config, REGISTERED).changes
    assert plan_install(config, ["Stop"]).changes


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written_is_named(config: ConfigDir) -> None:
    """The error says which file, and nothing is left half done."""
    config.path.chmod(0o500)
    try:
        with pytest.raises((BadConfiguration, PermissionError)):
            install(config)
    finally:
        config.path.chmod(0o700)
    assert config.settings.read_bytes() == ORIGINAL
