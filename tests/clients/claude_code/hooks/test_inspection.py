"""Why hooks do not run: settings that turn them off, changed entries, missing files."""

import json
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients import settings_change as installed
from claude_headspace.clients.claude_code.hooks import inspection
from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir, plan_install, plan_uninstall
from claude_headspace.clients.claude_code.hooks.installer import INSTALLER
from claude_headspace.clients.hook_inspection import file_problems

TOKEN = "hs_ingest_1"


@pytest.fixture
def config(tmp_path: Path) -> ConfigDir:
    """An installation."""
    found = ConfigDir(tmp_path / ".claude")
    installed.install(plan_install(found, REGISTERED), tmp_path / "state", TOKEN)
    return found


def texts(config: ConfigDir, tmp_path: Path) -> list[str]:
    """All problems of an installation."""
    found = [*inspection.hook_problems(config, "settings"), *file_problems(config, tmp_path / "state")]
    return [problem.text for problem in (*found, *inspection.switch_problems(config.settings, "settings"))]


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:5055"])
def test_a_fresh_installation_has_no_problem(config: ConfigDir, tmp_path: Path, url: str | None) -> None:
    """Also beside hooks of others, and nothing has to be repaired. Hooks over HTTP get no decisions."""
    settings = json.loads(config.settings.read_text())
    settings["hooks"]["Stop"].insert(0, {"matcher": "x", "hooks": [{"type": "command", "command": "mine"}]})
    config.settings.write_text(json.dumps(settings))
    installed.install(plan_install(config, REGISTERED, url), tmp_path / "state", TOKEN)
    expected = ["the hooks in settings use HTTP, which gets no decisions"] if url else []
    assert texts(config, tmp_path) == expected
    assert INSTALLER.repair(config.path, tmp_path / "state", TOKEN) == []


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"disableAllHooks": True}, "`disableAllHooks` in managed turns all hooks off"),
        ({"allowManagedHooksOnly": True}, "`allowManagedHooksOnly` in managed turns off all hooks"),
        ({"env": {"CLAUDE_CODE_SIMPLE": "1"}}, "`CLAUDE_CODE_SIMPLE` in managed turns hooks off"),
    ],
)
def test_settings_of_every_level_can_turn_hooks_off(tmp_path: Path, settings: dict[str, Any], text: str) -> None:
    """Managed settings are one file and a directory of files."""
    (tmp_path / "managed-settings.d").mkdir()
    (tmp_path / "managed-settings.d" / "10-own.json").write_text(json.dumps(settings))
    files = inspection.managed_files(tmp_path)
    assert len(files) == 2
    [found] = [problem for path in files for problem in inspection.switch_problems(path, "managed")]
    assert found.text.startswith(text)
    assert str(files[1]) in found.hint


@pytest.mark.parametrize(
    "content",
    [
        '{"disableAllHooks": false, "disableAllHooks": true}',
        '{"n": ' + "9" * 5_000 + ', "disableAllHooks": true}',
        '{"n": ' + "[" * 3_000 + "]" * 3_000 + ', "disableAllHooks": true}',
        '\ufeff{"disableAllHooks": true}',
        '{"disableAllHooks": true, // a comment\n}',
    ],
    ids=["twice", "digits", "nested", "byte order mark", "comment"],
)
def test_unusual_texts_hide_no_switch(tmp_path: Path, content: str) -> None:
    """What the client may accept is reported."""
    path = tmp_path / "settings.json"
    path.write_text(content)
    assert [problem.file for problem in inspection.switch_problems(path, "x")] == [path]


@pytest.mark.parametrize("content", [b"", b"{}", b"no JSON", b"\xff", b'{"disableAllHooks": false}', b'{"env": []}'])
def test_other_settings_turn_nothing_off(tmp_path: Path, content: bytes) -> None:
    """Nor do files that the client cannot read."""
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    assert list(inspection.switch_problems(path, "x")) == []


def test_unreadable_settings_have_no_hooks(config: ConfigDir, tmp_path: Path) -> None:
    """The client ignores the file, and with it our hooks."""
    config.settings.write_text("{")
    assert texts(config, tmp_path) == ["settings cannot be read, so it has no hooks"]


def test_nothing_is_repaired_after_a_removal(config: ConfigDir, tmp_path: Path) -> None:
    """Nor in the middle of one, when only the settings are removed yet."""
    plan = plan_uninstall(config)
    config.settings.unlink()
    config.script.unlink()
    assert INSTALLER.repair(config.path, tmp_path / "state", TOKEN) == []
    assert not config.script.exists()
    installed.uninstall(plan)
    assert INSTALLER.repair(config.path, tmp_path / "state", TOKEN) == []


def test_the_files_of_another_installation_are_not_touched(config: ConfigDir, tmp_path: Path) -> None:
    """Its token stays, and the problem is reported."""
    assert INSTALLER.repair(config.path, tmp_path / "other", "hs_ingest_2") == []
    assert TOKEN in config.conf.read_text()
    [problem] = file_problems(config, tmp_path / "other")
    assert "another Headspace" in problem.text
