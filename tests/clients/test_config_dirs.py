"""Which config dirs of Claude Code are known."""

from pathlib import Path

from claude_headspace.clients.config_dirs import known_config_dirs, update_config_dirs
from claude_headspace.config import Settings, find_paths


def test_config_dirs_with_hooks_are_recorded(tmp_path: Path) -> None:
    """Each is listed once, while it exists and until its hooks are removed."""
    paths = find_paths({"HEADSPACE_HOME": str(tmp_path / "headspace")})
    work, gone, env = tmp_path / "work", tmp_path / "gone", {"CLAUDE_CONFIG_DIR": str(tmp_path / "own")}
    work.mkdir()
    paths.create_directories()
    usual = known_config_dirs(Settings(), paths, env)
    update_config_dirs(paths, installed=[work, work, gone])
    update_config_dirs(paths, installed=[work])
    assert known_config_dirs(Settings(), paths, env) == (*usual, work)
    update_config_dirs(paths, removed=[work])
    assert known_config_dirs(Settings(), paths, env) == usual
