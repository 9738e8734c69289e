"""The user's review of hooks in `config.toml` of Codex: recognised, written with consent, removed without a trace."""

import json
import tomllib
from pathlib import Path

import pytest

from claude_headspace.clients.codex import trust
from claude_headspace.clients.codex.installation import INSTALLER
from claude_headspace.clients.installation import needs_review
from claude_headspace.clients.settings_change import install, uninstall
from claude_headspace.errors import BadConfiguration

TOKEN = "hs_ingest_1"
ENTRIES = {
    "/home/me/.codex/hooks.json:stop:0:0": "sha256:aa",
    "/home/me/.codex/hooks.json:pre_tool_use:1:0": "sha256:bb",
}

ODD_FILES = {
    "comments": '# mine\nmodel = "x"   # the model\n\n[projects."/a b"]  # trusted\ntrust_level = "trusted"\n',
    "no last newline": 'model = "x"',
    "empty": "",
    "CRLF": '# mine\r\nmodel = "x"\r\n[features]\r\nweb = true\r\n',
    "byte order mark": '\ufeffmodel = "x"\n',
    "other hooks": '[hooks.state]\n\n[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "cc"\n\n[tui]\na = 1\n',
    "hooks here": '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "mine"\n',
    "multi-line": 'a = """\n[hooks.state."x"]\n"""\nb = [\n  1, # one\n]\n',
}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state directory of Headspace."""
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


def test_the_hash_is_that_of_codex() -> None:
    """Recorded from Codex 0.166.0: what it wrote when a person accepted this hook."""
    hook = {
        "type": "command",
        "command": "/tmp/inst/codexhome/.codex/headspace/notify-headspace.sh PreToolUse codex",
        "timeout": 5,
    }
    expected = "sha256:4be0042e2552ed58e8df97cef97483d42ad7fe728cf2f6ea6904a46510329d0e"
    assert trust.hook_hash("pre_tool_use", hook) == expected


@pytest.mark.parametrize("text", ODD_FILES.values(), ids=ODD_FILES)
def test_a_review_is_added_and_removed_byte_for_byte(text: str) -> None:
    """Everything else stays as it is, and Codex can read the result."""
    added = trust.add(text, ENTRIES, "config.toml", is_new=False)
    assert added.startswith(text)
    found = trust.states(trust.parse(added, ""))
    assert {key: found[key]["trusted_hash"] for key in ENTRIES} == ENTRIES
    assert trust.add(added, ENTRIES, "config.toml", is_new=False) == added
    assert trust.remove(added, ENTRIES, "config.toml") == text
    assert trust.remove(added, [], "config.toml") == text, "the block is recognised without the hooks"


def test_a_review_by_codex_is_removed() -> None:
    """As Codex 0.166.0 writes it, between other tables."""
    before = 'model = "x"\n\n[tui]\nseen = true\n'
    written = "".join(f'\n[hooks.state."{key}"]\ntrusted_hash = "{value}"\n' for key, value in ENTRIES.items())
    text = f"{before}\n[hooks.state]\n{written}\n[notice]\n# mine\na = 1\n"
    assert trust.remove(text, ENTRIES, "config.toml") == f"{before}\n[notice]\n# mine\na = 1\n"


def test_a_table_inside_of_our_block_stays() -> None:
    """Codex writes new tables before the last comment of the file."""
    added = trust.add('model = "x"\n', ENTRIES, "config.toml", is_new=False)
    text = added.replace(trust.END, f"[notice]\nb = 2\n{trust.END}")
    assert tomllib.loads(trust.remove(text, ENTRIES, "config.toml")) == {"model": "x", "notice": {"b": 2}}


@pytest.mark.parametrize("text", ["[hooks]\nstate = { x = { trusted_hash = 'y' } }\n", "hooks.state = 1\n"])
def test_a_form_that_cannot_be_changed_is_refused(text: str) -> None:
    """The error says what to do instead."""
    with pytest.raises(BadConfiguration) as caught:
        trust.add(text, ENTRIES, "config.toml", is_new=False)
    assert "/hooks" in caught.value.hint


def test_nothing_is_accepted_without_consent(tmp_path: Path, state: Path) -> None:
    """An installation leaves `config.toml` alone, and the missing review is a problem with a hint."""
    config = tmp_path / "config.toml"
    config.write_text('model = "x"')
    plan = INSTALLER.plan_install(tmp_path)
    assert needs_review("codex", plan)
    install(plan, state, TOKEN)
    assert config.read_text() == 'model = "x"'
    [problem] = INSTALLER.problems(tmp_path, state)
    assert problem.is_review
    assert "/hooks" in problem.hint
    assert not INSTALLER.registration(tmp_path, state).is_active


@pytest.mark.parametrize("existed", [True, False])
def test_consent_is_written_and_removed(tmp_path: Path, state: Path, existed: bool) -> None:
    """With it the hooks run; a removal restores the file, or removes it if there was none."""
    config = tmp_path / "codex" / "config.toml"
    config.parent.mkdir()
    if existed:
        config.write_bytes(b'# mine\r\nmodel = "x"')
    plan = INSTALLER.plan_install(config.parent, trusted=True)
    assert any("trusted_hash" in line for line in plan.diff())
    assert not needs_review("codex", plan)
    install(plan, state, TOKEN)
    assert list(INSTALLER.problems(config.parent, state)) == []
    assert INSTALLER.registration(config.parent, state).is_active
    assert not needs_review("codex", INSTALLER.plan_install(config.parent))
    uninstall(INSTALLER.plan_uninstall(config.parent))
    assert list(config.parent.iterdir()) == ([config] if existed else [])
    assert not existed or config.read_bytes() == b'# mine\r\nmodel = "x"'


def test_the_review_is_removed_without_the_hooks(tmp_path: Path, state: Path) -> None:
    """Our hooks are recognised by their hashes if somebody removed `hooks.json` before."""
    config = tmp_path / "config.toml"
    install(INSTALLER.plan_install(tmp_path, trusted=True), state, TOKEN)
    lines = config.read_text().splitlines(keepends=True)
    config.write_text('model = "x"\n' + "".join(line for line in lines if not line.startswith("#")))
    (tmp_path / "hooks.json").unlink()
    uninstall(INSTALLER.plan_uninstall(tmp_path))
    assert tomllib.loads(config.read_text()) == {"model": "x"}


def test_a_failed_removal_restores_everything(tmp_path: Path, state: Path) -> None:
    """The second file cannot be written: the first one is put back, and the hooks still run."""
    codex = tmp_path / "codex"
    codex.mkdir()
    (codex / "config.toml").write_text('model = "x"')
    install(INSTALLER.plan_install(codex, trusted=True), state, TOKEN)
    plan = INSTALLER.plan_uninstall(codex)
    before = (codex / "hooks.json").read_bytes()
    (codex / "config.toml").unlink()
    (codex / "config.toml").mkdir()
    with pytest.raises(BadConfiguration):
        uninstall(plan)
    assert (codex / "hooks.json").read_bytes() == before
    assert (codex / "headspace" / "notify-headspace.sh").exists()


def test_the_review_of_other_hooks_stays_valid(tmp_path: Path, state: Path) -> None:
    """Codex knows hooks by their places: ours come after them, and keep their places at the next installation."""
    hooks = tmp_path / "hooks.json"
    mine = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}'
    hooks.write_text(mine)
    install(INSTALLER.plan_install(tmp_path), state, TOKEN)
    changed = hooks.read_text().replace("timeout", "timeOut")
    hooks.write_text(changed)
    [stop] = [key for key in trust.own_hashes(plan_settings(tmp_path), hooks) if ":stop:" in key]
    assert stop.endswith(":stop:1:0")


def plan_settings(path: Path) -> dict[str, object]:
    """The hooks that the next installation writes."""
    found: dict[str, object] = json.loads(INSTALLER.plan_install(path).new or b"{}")
    return found


@pytest.mark.parametrize("feature", ["hooks", "codex_hooks"])
def test_a_feature_that_turns_hooks_off_is_a_problem(tmp_path: Path, state: Path, feature: str) -> None:
    """Also if the user has accepted the hooks."""
    (tmp_path / "config.toml").write_text(f"[features]\n{feature} = false\n")
    install(INSTALLER.plan_install(tmp_path, trusted=True), state, TOKEN)
    [problem] = INSTALLER.problems(tmp_path, state)
    assert f"`features.{feature}`" in problem.text


def test_a_hook_that_was_disabled_in_codex_is_a_problem(tmp_path: Path, state: Path) -> None:
    """With `/hooks`."""
    install(INSTALLER.plan_install(tmp_path, trusted=True), state, TOKEN)
    config = tmp_path / "config.toml"
    config.write_text(config.read_text().replace("trusted_hash", "enabled = false\ntrusted_hash", 1))
    [problem] = INSTALLER.problems(tmp_path, state)
    assert "turned off" in problem.text
