"""The commands `install`, `uninstall`, `doctor` and `up` with other clients than Claude Code."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import LIMIT_SECONDS, RunningDaemon, environment, wait_until
from tests.surfaces.cli.conftest import run_headspace

NO_PROGRAMS = "/usr/bin:/bin"
CONFIG = '# mine\nmodel = "x"'


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home with config dirs of Codex and Gemini CLI; a daemon that was started is stopped."""
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(CONFIG)
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text('{ "ui": {} }')
    yield tmp_path
    run_headspace(tmp_path, "down")


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command without any client in the path."""
    return run_headspace(home, *arguments, PATH=NO_PROGRAMS)


def client_files(home: Path) -> dict[str, bytes]:
    """All files of the two clients."""
    found = [*(home / ".codex").rglob("*"), *(home / ".gemini").rglob("*")]
    return {str(path.relative_to(home)): path.read_bytes() for path in found if path.is_file()}


def test_all_clients_on_the_machine(home: Path) -> None:
    """Each client with a config dir; everything is removed without a trace."""
    (home / ".claude").mkdir()
    before = client_files(home)
    done = run(home, "install", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Hooks of Codex installed in" in done.stdout
    assert "Hooks of Gemini CLI installed in" in done.stdout
    assert "Codex asks you to review these hooks at its next start" in done.stdout
    assert (home / ".claude/hooks/notify-headspace.sh").exists()
    assert (home / ".codex/headspace/notify-headspace.sh").exists()
    assert (home / ".gemini/headspace/notify-headspace.conf").read_text().startswith("token=hs_")
    assert not (home / ".copilot").exists()
    done = run(home, "uninstall", "--yes")
    assert "Hooks of Codex removed from" in done.stdout
    assert client_files(home) == before


def test_yes_is_no_consent_for_codex(home: Path) -> None:
    """The review of its hooks is written only with its own option."""
    run(home, "install", "--yes")
    assert (home / ".codex/config.toml").read_text() == CONFIG
    done = run(home, "install", "--yes", "--trust-codex-hooks")
    assert "trusted_hash" in (home / ".codex/config.toml").read_text()
    assert "asks you to review" not in done.stdout
    run(home, "uninstall", "--yes")
    assert (home / ".codex/config.toml").read_text() == CONFIG


def test_named_clients_only(home: Path) -> None:
    """Others are not touched; a client that is not there can be named."""
    run(home, "install", "--yes", "--client", "gemini", "--client", "copilot")
    assert not (home / ".claude").exists()
    assert not (home / ".codex/hooks.json").exists()
    assert json.loads((home / ".copilot/hooks/headspace.json").read_text())["version"] == 1
    run(home, "uninstall", "--yes", "--client", "copilot")
    assert not (home / ".copilot").exists()
    assert "hooks" in json.loads((home / ".gemini/settings.json").read_text())


def test_a_config_dir_of_a_named_client(home: Path) -> None:
    """It is recorded, so that a removal finds it."""
    other = home / "other codex"
    assert run(home, "install", "--yes", "--client", "codex", "-c", str(other)).returncode == 0
    assert (other / "hooks.json").exists()
    run(home, "uninstall", "--yes")
    assert not other.exists()


def test_a_config_dir_belongs_to_one_client(home: Path) -> None:
    """The error says what to do; an unknown client lists the known ones."""
    done = run(home, "install", "--yes", "--client", "codex", "--client", "gemini", "-c", str(home / "x"))
    assert done.returncode == 1
    assert "Name one client" in done.stderr
    done = run(home, "install", "--yes", "--client", "emacs")
    assert done.returncode == 1
    assert "gemini" in done.stderr


def test_dry_run_shows_every_file(home: Path) -> None:
    """Also the review, if it would be written."""
    before = client_files(home)
    done = run(home, "install", "--dry-run", "--trust-codex-hooks")
    assert f"+++ {home}/.gemini/settings.json" in done.stdout
    assert f"+++ {home}/.codex/hooks.json" in done.stdout
    assert "+trusted_hash" in done.stdout
    assert client_files(home) == before


def test_a_failure_in_one_client_does_not_stop_the_others(home: Path) -> None:
    """The error names the file and says what to do. If nothing can be installed, nothing is changed."""
    (home / ".claude").mkdir()
    (home / ".gemini/settings.json").write_text("{ broken")
    before = client_files(home)
    done = run(home, "install", "--yes", "--client", "gemini")
    assert (done.returncode, client_files(home)) == (1, before)
    done = run(home, "install", "--yes")
    assert done.returncode == 1
    assert ".gemini/settings.json" in done.stderr
    assert "Correct or move the file" in done.stderr
    assert "Hooks of Codex installed in" in done.stdout
    assert (home / ".claude/hooks/notify-headspace.sh").exists()
    assert (home / ".codex/hooks.json").exists()
    assert (home / ".gemini/settings.json").read_text() == "{ broken"


def test_broken_settings_of_one_client_do_not_stop_the_removal_of_the_others(home: Path) -> None:
    """The error names the file, and does not say that nothing was changed. `doctor` says what to do."""
    before = client_files(home)
    run(home, "install", "--yes")
    installed = (home / ".gemini/settings.json").read_text()
    (home / ".gemini/settings.json").write_text(installed[:-2])
    done = run(home, "uninstall", "--yes")
    error = " ".join(done.stderr.split())
    assert (done.returncode, "Hooks of Codex removed from" in done.stdout) == (1, True), done.stdout
    assert f"Not removed from {home}/.gemini: {home}/.gemini/settings.json cannot be changed safely" in error
    assert "Correct or move the file" in error
    assert "Nothing was changed" not in error
    left = {name for name, data in client_files(home).items() if before.get(name) != data}
    assert {name.split("/")[0] for name in left} == {".gemini"}
    report = " ".join(run(home, "doctor", "--client", "gemini").stdout.split())
    assert "settings.json cannot be read, so it has no hooks" in report
    assert "Correct or move the file" in report
    done = run(home, "uninstall", "--yes", "--client", "gemini")
    assert (done.returncode, "Nothing was changed" in done.stderr) == (1, True)


def test_broken_settings_without_hooks_are_no_installation(home: Path) -> None:
    """A removal ignores them, and `doctor` does not recommend an installation that would fail."""
    run(home, "install", "--yes", "--client", "codex")
    (home / ".gemini/settings.json").write_text("{ broken")
    done = run(home, "uninstall", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    report = " ".join(run(home, "doctor", "--client", "gemini").stdout.split())
    assert "settings.json cannot be read, so it has no hooks" in report
    assert "headspace install" not in report.partition("settings.json cannot be read")[2][:250]


def test_a_failed_write_in_one_client_does_not_stop_the_others(home: Path) -> None:
    """Nothing is left behind in its config dir."""
    (home / ".gemini/headspace/notify-headspace.conf").mkdir(parents=True)
    before = {name: data for name, data in client_files(home).items() if name.startswith(".gemini")}
    done = run(home, "install", "--yes")
    assert done.returncode == 1
    assert f"Not installed in {home}/.gemini" in " ".join(done.stderr.split())
    assert "Hooks of Gemini CLI" not in done.stdout
    assert (home / ".codex/hooks.json").exists()
    assert {name: data for name, data in client_files(home).items() if name.startswith(".gemini")} == before


def test_comments_in_the_settings_of_gemini_stay(home: Path) -> None:
    """The client accepts them. A removal restores the file."""
    settings = home / ".gemini/settings.json"
    settings.write_text('{\n  // mine\n  "ui": {} // dark\n}\n')
    assert run(home, "install", "--yes", "--client", "gemini").returncode == 0
    text = settings.read_text()
    assert text.startswith('{\n  // mine\n  "ui": {}, // dark\n  "hooks": {\n')
    assert run(home, "install", "--yes", "--client", "gemini").returncode == 0
    assert settings.read_text() == text, "a second installation changes nothing"
    run(home, "uninstall", "--yes", "--client", "gemini")
    assert settings.read_text() == '{\n  // mine\n  "ui": {} // dark\n}\n'


def test_the_home_of_gemini_is_honoured(home: Path) -> None:
    """`GEMINI_CLI_HOME` names the directory that contains its config dir; a removal finds it without the variable."""
    other = home / "other"
    (other / ".gemini").mkdir(parents=True)
    done = run_headspace(home, "install", "--yes", "--client", "gemini", PATH=NO_PROGRAMS, GEMINI_CLI_HOME=str(other))
    assert done.returncode == 0
    assert "hooks" in json.loads((other / ".gemini/settings.json").read_text())
    assert (home / ".gemini/settings.json").read_text() == '{ "ui": {} }'
    run(home, "uninstall", "--yes")
    assert not (other / ".gemini/settings.json").exists()


def test_hooks_over_http_are_refused_where_the_client_cannot(home: Path) -> None:
    """If other clients are installed at the same time, the output says that they use the script."""
    done = run(home, "install", "--yes", "--client", "gemini", "--transport", "http")
    assert done.returncode == 1
    assert "Hooks of Gemini CLI are commands: it sends none over HTTP." in done.stderr
    assert not (home / ".gemini/headspace").exists()
    (home / ".claude").mkdir()
    done = run(home, "install", "--yes", "--transport", "http")
    assert done.returncode == 0
    assert "Hooks of Gemini CLI are commands: it sends none over HTTP." in done.stdout
    assert "http://" in (home / ".claude/settings.json").read_text()
    assert (home / ".gemini/headspace/notify-headspace.sh").exists()


def test_a_plugin_of_the_user_is_not_replaced(home: Path) -> None:
    """The output says why, and what to do."""
    plugin = home / ".config/opencode/plugin/headspace.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("export const Mine = 1\n")
    done = run(home, "install", "--yes")
    assert done.returncode == 1
    assert "is not a file of Headspace" in done.stderr
    assert "Rename that file" in done.stderr
    done = run(home, "up", "--yes", "--no-open")
    assert done.returncode == 0
    assert "is not a file of Headspace" in " ".join(done.stdout.split())
    assert plugin.read_text() == "export const Mine = 1\n"


def typed(home: Path, answers: str, *arguments: str) -> str:
    """The output of a command in a terminal, with these answers."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "claude_headspace", *arguments],
        env={**environment(home), "PATH": NO_PROGRAMS},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        os.write(ours, answers.encode())
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    os.close(ours)
    os.close(theirs)
    return out


@pytest.mark.parametrize(("answer", "trusted"), [("\n", False), ("y\n", True)])
def test_the_review_is_a_separate_question(home: Path, answer: str, trusted: bool) -> None:
    """Its default is no."""
    out = typed(home, f"y\n{answer}", "install", "--client", "codex")
    assert "Interrupt" in out
    assert "Accept them now" in out
    assert ("trusted_hash" in (home / ".codex/config.toml").read_text()) is trusted


def test_up_asks_once_for_all_clients(home: Path) -> None:
    """The question lists every file that it would change."""
    (home / ".claude").mkdir()
    out = typed(home, "y\nn\n", "up", "--no-open")
    assert out.count("Install the hooks of Headspace in") == 1
    for name in (".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json"):
        assert f"\n  {home}/{name}\n" in out
    assert (home / ".codex/hooks.json").exists()
    assert "trusted_hash" not in (home / ".codex/config.toml").read_text()
    assert "Install the hooks" not in typed(home, "", "up", "--no-open"), "they are installed"


def test_a_client_that_is_not_on_the_machine_is_left_out(home: Path) -> None:
    """Also Claude Code: neither its program nor its config dir is there."""
    out = typed(home, "y\nn\n", "up", "--no-open")
    assert f"\n  {home}/.codex/hooks.json\n" in out
    assert ".claude" not in out
    assert not (home / ".claude").exists()


def test_up_leaves_out_a_client_whose_settings_cannot_be_changed(home: Path) -> None:
    """The rest works, and the output says why. If it is the only one, that is an error."""
    (home / ".gemini/settings.json").write_text("{ broken")
    done = run(home, "up", "--yes", "--no-open")
    assert done.returncode == 0
    assert f"not installed in {home}/.gemini: " in " ".join(done.stdout.split())
    assert (home / ".codex/hooks.json").exists()
    assert run(home, "up", "--yes", "--no-open", "--client", "gemini").returncode == 1


# --- doctor and status ---


def checks(home: Path, *arguments: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """The exit code of `doctor`, and its checks by group."""
    done = run(home, "doctor", "--json", *arguments)
    return done.returncode, {place["name"]: place["checks"] for place in json.loads(done.stdout)["places"]}


def test_doctor_checks_every_client(daemon: RunningDaemon) -> None:
    """The test event passes the script with the name of the client; missing consent is a warning."""
    home = daemon.home
    (home / ".codex").mkdir()
    (home / ".gemini").mkdir()
    run(home, "install", "--yes", "--client", "codex", "--client", "gemini", "--client", "claude-code")
    wait_until((home / "address").exists, "the daemon's sign")
    code, found = checks(home)
    codex = {check["name"]: check for check in found[f"{home}/.codex"]}
    assert code == 0
    assert codex["review"]["status"] == "warning"
    assert "accept" in codex["review"]["hint"]
    assert {codex[name]["status"] for name in ("hooks", "script", "conf", "token", "event")} == {"ok"}
    gemini = {check["name"]: check["status"] for check in found[f"{home}/.gemini"]}
    assert set(gemini.values()) == {"ok"}
    assert {event["client"] for event in daemon.events() if event["name"] == "HeadspaceDoctor"} >= {"codex", "gemini"}
    summary = daemon.status["hooks"]["summary"]
    assert "Codex does not run the hooks" in summary
    (home / ".gemini/settings.json").write_text("{}")
    code, found = checks(home, "--client", "gemini")
    assert code == 1
    assert [check["hint"] for check in found[f"{home}/.gemini"] if check["status"] == "failed"] == [
        "Run `headspace install`."
    ]


def test_doctor_succeeds_if_only_another_client_is_set_up(daemon: RunningDaemon) -> None:
    """Missing hooks of Claude Code are a warning then. Without any hooks they are a failure."""
    home = daemon.home
    (home / ".gemini").mkdir()
    (home / ".claude").mkdir(exist_ok=True)
    wait_until((home / "address").exists, "the daemon's sign")
    assert checks(home)[0] == 1
    run(home, "install", "--yes", "--client", "gemini")
    code, found = checks(home)
    assert code == 0
    assert {check["status"] for check in found[f"{home}/.claude"] if check["hint"]} == {"warning"}
    shown = run(home, "doctor").stdout
    assert f"Claude Code: {home}/.claude" in shown
    assert f"Gemini CLI: {home}/.gemini" in shown


def test_a_client_without_hooks_is_a_warning(home: Path) -> None:
    """Somebody may not want Headspace there."""
    _, found = checks(home, "--client", "gemini")
    hooks = [check for check in found[f"{home}/.gemini"] if check["name"] == "hooks"]
    assert [(check["status"], check["detail"]) for check in hooks] == [("warning", "none registered")]
