"""The installation of hooks in every client: complete, idempotent, and removed byte for byte."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.config_dirs import config_variables
from claude_headspace.clients.installation import INSTALLERS, Installer, default_config_dir, detected_clients
from claude_headspace.clients.settings_change import install, uninstall
from claude_headspace.errors import BadConfiguration

TOKEN = "hs_ingest_1"
ALL = sorted(INSTALLERS)
MERGED = ("claude-code", "codex", "gemini")
"""Clients whose settings also belong to the user."""
OWN_FILE = ("copilot", "opencode")
"""Clients with a file of Headspace alone."""
WITH_SCRIPT = ("claude-code", "codex", "copilot", "gemini")

ODD_FILES = {
    "by hand": b'{\n    "model":   "opus",  "x": {"allow": ["a"]},\n    "pi": 3.10\n}',
    "byte order mark": b'\xef\xbb\xbf{\n\t"a": 1\n}\n',
    "CRLF": b'{\r\n  "a": 1,\r\n  "b": [ ]\r\n}\r\n',
    "one line": b'{"a":1}',
    "empty": b"",
    "blank": b"\n\n",
    "empty object": b"{}",
    "with hooks": b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}], "Empty": []}, "z": 1}\n',
}

BAD_FILES = [b"{", b"[]", b'{"hooks": 1}', b'{"hooks": {"Stop": {}}}', b"\xff", b'{"a": 1, "a": 2}']


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state directory of Headspace."""
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


def files(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """All files below a directory, with their modes and contents."""
    found = sorted(folder.rglob("*"))
    return {str(p.relative_to(folder)): (p.lstat().st_mode, p.read_bytes() if p.is_file() else None) for p in found}


def put(installer: Installer, path: Path, content: bytes) -> Path:
    """Write a settings file."""
    settings = installer.files(path).settings
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_bytes(content)
    settings.chmod(0o640)
    return settings


@pytest.mark.parametrize("client", ALL)
def test_an_installation_is_complete(client: str, tmp_path: Path, state: Path) -> None:
    """The client runs the hooks, or waits only for the user's review; the token is private."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    install(installer.plan_install(path), state, TOKEN)
    found = installer.files(path)
    assert installer.has_hooks(path)
    assert found.state_link.readlink() == state
    assert (found.conf.read_text(), stat.S_IMODE(found.conf.stat().st_mode)) == (f"token={TOKEN}\n", 0o600)
    assert found.script.exists() == (client in WITH_SCRIPT)
    problems = [problem.text for problem in installer.problems(path, state)]
    assert [text for text in problems if "before you accept them" not in text] == []
    assert installer.registration(path, state).is_active == (not problems)


@pytest.mark.parametrize("client", ALL)
def test_a_removal_leaves_nothing(client: str, tmp_path: Path, state: Path) -> None:
    """Also the directories that the installation created are removed."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    before = files(tmp_path)
    install(installer.plan_install(path), state, TOKEN)
    uninstall(installer.plan_uninstall(path))
    assert files(tmp_path) == before


@pytest.mark.parametrize("content", ODD_FILES.values(), ids=ODD_FILES)
@pytest.mark.parametrize("client", MERGED)
def test_a_removal_restores_every_byte(client: str, content: bytes, tmp_path: Path, state: Path) -> None:
    """Whatever the settings looked like, also after a second installation."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    put(installer, path, content)
    before = files(path)
    for _ in range(2):
        install(installer.plan_install(path), state, TOKEN)
    assert installer.has_hooks(path)
    uninstall(installer.plan_uninstall(path))
    assert files(path) == before


@pytest.mark.parametrize("client", ALL)
def test_a_second_installation_changes_nothing(client: str, tmp_path: Path, state: Path) -> None:
    """Installing is idempotent."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    install(installer.plan_install(path), state, TOKEN)
    before, plan = files(path), installer.plan_install(path)
    assert not plan.changes
    install(plan, state, TOKEN)
    assert files(path) == before


@pytest.mark.parametrize("client", MERGED)
def test_a_link_stays_a_link(client: str, tmp_path: Path, state: Path) -> None:
    """Settings in a repository of dotfiles are changed there."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    settings = installer.files(path).settings
    settings.parent.mkdir(parents=True)
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles" / "settings"
    target.write_bytes(b'{"a": 1}')
    settings.symlink_to(target)
    install(installer.plan_install(path), state, TOKEN)
    assert settings.is_symlink()
    assert target.read_bytes() != b'{"a": 1}'
    uninstall(installer.plan_uninstall(path))
    assert settings.is_symlink()
    assert target.read_bytes() == b'{"a": 1}'


@pytest.mark.parametrize("client", MERGED)
def test_later_changes_of_the_user_stay(client: str, tmp_path: Path, state: Path) -> None:
    """A removal takes out only our entries."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    settings = put(installer, path, b'{"a": 1}')
    install(installer.plan_install(path), state, TOKEN)
    changed = json.loads(settings.read_text())
    changed["b"] = 2
    changed["hooks"]["Mine"] = [{"hooks": [{"type": "command", "command": "mine"}]}]
    settings.write_text(json.dumps(changed))
    uninstall(installer.plan_uninstall(path))
    expected = {"a": 1, "b": 2, "hooks": {"Mine": [{"hooks": [{"type": "command", "command": "mine"}]}]}}
    assert json.loads(settings.read_text()) == expected


@pytest.mark.parametrize("client", OWN_FILE)
def test_a_file_of_somebody_else_is_not_replaced(client: str, tmp_path: Path, state: Path) -> None:
    """The error names it. Neither does a removal touch it."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    settings = put(installer, path, b"of somebody else\n")
    with pytest.raises(BadConfiguration, match="not a file of Headspace"):
        installer.plan_install(path)
    uninstall(installer.plan_uninstall(path))
    assert settings.read_bytes() == b"of somebody else\n"


@pytest.mark.parametrize("client", ALL)
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_failed_installation_in_a_read_only_directory(client: str, tmp_path: Path, state: Path) -> None:
    """Nothing is left behind."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    path.mkdir(mode=0o500)
    with pytest.raises(BadConfiguration):
        install(installer.plan_install(path), state, TOKEN)
    assert files(path) == {}


@pytest.mark.parametrize("client", ALL)
def test_a_failed_installation_restores_everything(client: str, tmp_path: Path, state: Path) -> None:
    """A directory where the record belongs stops the installation in the middle."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    put(installer, path, b'{"a": 1}')
    installer.files(path).record.mkdir(parents=True)
    (installer.files(path).record / "x").touch()
    before = files(path)
    with pytest.raises(BadConfiguration) as caught:
        install(installer.plan_install(path), state, TOKEN)
    assert caught.value.hint
    assert files(path) == before


@pytest.mark.parametrize("client", MERGED)
@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"hooks": 1}', b'{"hooks": {"Stop": {}}}', b"\xff", b'{"a":1,"a":2}']
)
def test_a_file_that_cannot_be_changed_safely_is_refused(client: str, content: bytes, tmp_path: Path) -> None:
    """The error names the file, and says what to do."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    settings = put(installer, path, content)
    with pytest.raises(BadConfiguration) as caught:
        installer.plan_install(path)
    assert str(settings) in caught.value.message
    assert caught.value.hint
    assert settings.read_bytes() == content


@pytest.mark.parametrize("client", WITH_SCRIPT)
def test_each_hook_runs_the_script_with_its_event_and_client(client: str, tmp_path: Path, state: Path) -> None:
    """A path with a space is quoted. Claude Code's hooks use the exec form, and the script's default."""
    installer, path = INSTALLERS[client], tmp_path / "with space"
    install(installer.plan_install(path), state, TOKEN)
    written = json.loads(installer.files(path).settings.read_text())["hooks"]
    expected = {event: f"'{installer.files(path).script}' {event} {client}" for event in installer.registered}
    if client == "claude-code":
        assert {hook["args"][0] for hook in all_hooks(written)} <= installer.registered.keys()
    else:
        found = {hook.get("command") or hook["bash"] for hook in all_hooks(written)}
        assert found == set(expected.values())


def all_hooks(hooks: dict[str, Any]) -> list[dict[str, Any]]:
    """All hooks in a file, in groups or not."""
    return [hook for entries in hooks.values() for entry in entries for hook in entry.get("hooks", [entry])]


@pytest.mark.parametrize("client", ALL)
def test_every_event_has_a_reason(client: str) -> None:
    """No event is registered and left out at the same time."""
    installer = INSTALLERS[client]
    assert all(installer.registered.values())
    assert all(installer.not_registered.values())
    assert not installer.registered.keys() & installer.not_registered.keys()


def test_timeouts_are_in_the_units_of_the_clients(tmp_path: Path) -> None:
    """Milliseconds in Gemini CLI; seconds elsewhere, and at most three at the end of a session in Codex."""
    plans = {client: INSTALLERS[client].plan_install(tmp_path / client) for client in WITH_SCRIPT}
    hooks = {client: json.loads(plan.new or b"")["hooks"] for client, plan in plans.items()}
    assert {hook["timeout"] for hook in all_hooks(hooks["gemini"])} == {5_000}
    assert {hook["timeoutSec"] for hook in all_hooks(hooks["copilot"])} == {5}
    assert hooks["codex"]["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert hooks["codex"]["PreToolUse"][0]["hooks"][0]["timeout"] == 5


def test_gemini_reports_only_compressions_by_a_person(tmp_path: Path) -> None:
    """The other trigger fires before every request to the model."""
    hooks = json.loads(INSTALLERS["gemini"].plan_install(tmp_path).new or b"")["hooks"]
    assert [group.get("matcher") for group in hooks["PreCompress"]] == ["manual"]
    assert not {"BeforeModel", "AfterModel", "BeforeToolSelection"} & hooks.keys()


# --- problems ---


@pytest.mark.parametrize("client", ALL)
def test_missing_hooks_are_a_problem(client: str, tmp_path: Path, state: Path) -> None:
    """Without its entries, the client reports nothing."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    install(installer.plan_install(path), state, TOKEN)
    installer.files(path).settings.unlink()
    assert any("missing" in problem.text for problem in installer.problems(path, state))
    assert not installer.registration(path, state).is_active


@pytest.mark.parametrize("client", ALL)
def test_changed_hooks_are_a_problem(client: str, tmp_path: Path, state: Path) -> None:
    """A hook with another time limit, or a plugin with another text."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    install(installer.plan_install(path), state, TOKEN)
    settings = installer.files(path).settings
    text = settings.read_text()
    settings.write_text(text.replace("5", "1", 1) if client != "opencode" else text + "\n")
    texts = [problem.text for problem in installer.problems(path, state)]
    assert any("changed" in text or "edited" in text for text in texts)


@pytest.mark.parametrize("client", WITH_SCRIPT)
def test_a_missing_script_is_repaired(client: str, tmp_path: Path, state: Path) -> None:
    """While the settings name it; not during a removal."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    install(installer.plan_install(path), state, TOKEN)
    script = installer.files(path).script
    script.unlink()
    assert any("missing" in problem.text for problem in installer.problems(path, state))
    [what] = installer.repair(path, state, TOKEN)
    assert "was missing" in what
    assert os.access(script, os.X_OK)
    installer.files(path).settings.unlink()
    script.unlink()
    assert installer.repair(path, state, TOKEN) == []


@pytest.mark.parametrize(
    ("client", "file", "content"),
    [
        ("gemini", "settings.json", {"hooksConfig": {"enabled": False}}),
        ("gemini", "settings.json", {"hooksConfig": {"disabled": ["headspace"]}}),
        ("copilot", "config.json", {"disableAllHooks": True}),
        ("claude-code", "settings.json", {"disableAllHooks": True}),
    ],
)
def test_hooks_that_are_turned_off_are_a_problem(
    client: str, file: str, content: dict[str, Any], tmp_path: Path, state: Path
) -> None:
    """The text names the setting, and the hint says what to do."""
    installer, path = INSTALLERS[client], tmp_path / "config"
    path.mkdir()
    (path / file).write_text(json.dumps(content))
    install(installer.plan_install(path), state, TOKEN)
    [problem] = installer.problems(path, state)
    assert "off" in problem.text
    assert str(path / file) in problem.text
    assert problem.hint
    assert installer.registration(path, state).problem == problem.text.replace(
        str(path / file), problem_name(client, path, file)
    )


def problem_name(client: str, path: Path, file: str) -> str:
    """Claude Code's status names its settings without the directory."""
    return file if client == "claude-code" else str(path / file)


# --- detection ---


def test_clients_are_detected_by_program_or_config_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Claude Code also if nothing else is there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    env = {"PATH": str(tmp_path / "bin"), "CODEX_HOME": str(tmp_path / "codex")}
    assert detected_clients(env) == ["claude-code"]
    (tmp_path / "codex").mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "copilot"
    program.touch(0o755)
    assert detected_clients(env) == ["codex", "copilot"]
    (tmp_path / ".claude").mkdir()
    assert detected_clients(env) == ["claude-code", "codex", "copilot"]
    assert default_config_dir("codex", env) == tmp_path / "codex"


def test_the_home_of_gemini_contains_its_config_dir(tmp_path: Path) -> None:
    """Its variable names the directory above, also when a session is resumed in another config dir."""
    assert default_config_dir("gemini", {"GEMINI_CLI_HOME": f"{tmp_path}/"}) == tmp_path / ".gemini"
    assert config_variables("gemini", tmp_path / ".gemini") == {"GEMINI_CLI_HOME": str(tmp_path)}
    assert config_variables("codex", tmp_path / "codex") == {"CODEX_HOME": str(tmp_path / "codex")}
