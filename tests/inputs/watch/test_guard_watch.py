"""The watch of the guards: what is wrong, since when, and until when."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients import settings_change as installed
from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.clients.claude_code.hooks.installation import ConfigDir, plan_install
from claude_headspace.clients.config_dirs import update_config_dirs
from claude_headspace.clients.installation import INSTALLERS
from claude_headspace.config import Paths, find_paths
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.guard_watch import HOOKLESS_AFTER, GuardWatch
from claude_headspace.kernel.agent import Agent, Project, Session
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.testing import ManualClock

START: Micros = 1_900_000_000 * SECOND
TOKEN = "hs_ingest_1"


class Watched:
    """A watch over one installation."""

    def __init__(self, root: Path) -> None:
        self.paths: Paths = find_paths({"HEADSPACE_HOME": str(root / "headspace")})
        self.paths.create_directories()
        self.config = ConfigDir(root / ".claude")
        installed.install(plan_install(self.config, REGISTERED), self.paths.state, TOKEN)
        os.utime(self.config.record, (START / SECOND, START / SECOND))
        update_config_dirs(self.paths, installed=[self.config.path])
        self.clock = ManualClock(START + 60 * SECOND)
        self.agents = AgentCache("desk")
        self.others: list[tuple[str, str]] = []
        self.past: list[tuple[str, Micros]] = []
        self.announced: list[list[str]] = []
        self.watch = GuardWatch(
            self.paths,
            TOKEN,
            self.clock,
            self.agents,
            lambda: self.others,
            lambda text, at: self.past.append((text, at)),
            lambda problems: self.announced.append([problem.text for problem in problems]),
        )

    def texts(self) -> list[str]:
        """The problems after another look."""
        asyncio.run(self.watch.check())
        return [problem.text for problem in self.watch.problems]

    def run_agent(
        self,
        cwd: Path,
        config: Path,
        transcript: str = "projects/x/one.jsonl",
        client: str = "claude-code",
        **fields: Any,
    ) -> None:
        """Add a running agent."""
        session = Session(
            id="s",
            agent_id="a",
            client_id="one",
            ordinal=1,
            source="startup",
            started_at=START,
            transcript_path=f"{config}/{transcript}",
        )
        project = Project("p", "shop", str(cwd))
        fields = {"created_at": START + SECOND, **fields}
        self.agents.update(
            Agent(
                id="a",
                name="calm-otter",
                host="desk",
                client=client,
                project=project,
                pid=7,
                session=session,
                **fields,
            )
        )


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    """A watch without problems."""
    found = Watched(tmp_path)
    assert found.texts() == []
    assert found.watch.health()[1:] == (None, "on; hooks in 1 config dir")
    return found


def test_without_an_installation_it_says_that_no_hooks_are_installed(tmp_path: Path) -> None:
    """No tool call is judged then: the guards are not on."""
    found = Watched(tmp_path)
    update_config_dirs(found.paths, removed=[found.config.path])
    assert found.texts() == []
    assert found.watch.health()[1:] == (None, "no hooks are installed: run `headspace install`")


def test_a_problem_lasts_from_the_change_to_the_correction(watched: Watched) -> None:
    """It begins when its file changed, keeps that time, and is recorded when it is over."""
    before = watched.config.settings.read_text()
    watched.config.settings.write_text(json.dumps({**json.loads(before), "disableAllHooks": True}))
    os.utime(watched.config.settings, (START / SECOND + 20, START / SECOND + 20))
    for _ in range(2):
        [text] = watched.texts()
        [problem] = watched.watch.problems
        assert (problem.since, problem.client) == (START + 20 * SECOND, "claude-code")
        os.utime(watched.config.settings, (START / SECOND + 30, START / SECOND + 30))
    assert "Remove it from" in str(watched.watch.health()[1])
    watched.config.settings.write_text(before)
    assert watched.texts() == []
    assert watched.past == [(f"guards were off in Claude Code: {text}", START + 20 * SECOND)]
    assert watched.announced == [[text], []], "only changes are announced"


def test_problems_of_other_components_begin_when_they_are_seen(watched: Watched) -> None:
    """They have no file."""
    watched.others.append(("the preset is off", "Change it."))
    assert watched.texts() == ["the preset is off"]
    assert watched.watch.problems[0].since == watched.clock()
    assert watched.watch.problems[0].client == "", "they affect all clients"


def test_settings_of_an_agent_are_watched_while_it_runs(watched: Watched, tmp_path: Path) -> None:
    """Of its project, and of its config dir if that has no installation (a plugin provides the hooks)."""
    project, config = tmp_path / "shop", tmp_path / "other"
    for path in (project / ".claude" / "settings.local.json", config / "settings.json"):
        path.parent.mkdir(parents=True)
        path.write_text('{"disableAllHooks": true}')
    assert watched.texts() == []
    watched.run_agent(project, config)
    assert len(watched.texts()) == 2
    watched.run_agent(project, config, ended_at=START + 2 * SECOND)
    assert watched.texts() == []


def test_an_agent_that_works_without_a_hook_is_reported(watched: Watched, tmp_path: Path) -> None:
    """After a minute, if it was started after the installation. Its first hook ends the report."""
    watched.run_agent(tmp_path, watched.config.path, busy_at=START + 2 * SECOND)
    assert watched.texts() == []
    watched.clock.now += HOOKLESS_AFTER
    assert watched.texts() == ["calm-otter runs without hooks"]
    watched.run_agent(tmp_path, watched.config.path, busy_at=START + 2 * SECOND, last_hook_at=START + 3 * SECOND)
    assert watched.texts() == []
    watched.run_agent(tmp_path, watched.config.path, busy_at=START + 2 * SECOND, created_at=START - SECOND)
    assert watched.texts() == []
    watched.run_agent(tmp_path, tmp_path / "other", busy_at=START + 2 * SECOND)
    assert watched.texts() == []


def test_settings_that_cannot_be_parsed_do_not_end_the_watch(watched: Watched) -> None:
    """They are a problem, like missing hooks."""
    before = watched.config.settings.read_text()
    for text in (
        '{"n": ' + "9" * 5_000 + "}",
        "[" * 100_000,
        '{"hooks": {"Stop": [7, {"hooks": 7}, {"matcher": []}]}}',
    ):
        watched.config.settings.write_text(text)
        assert watched.texts() != []
    watched.config.settings.write_text(before)
    assert watched.texts() == []


def test_a_repair_is_recorded(watched: Watched) -> None:
    """The file is restored, and no problem remains."""
    watched.config.script.unlink()
    assert watched.texts() == []
    assert "was missing" in watched.past[0][0]
    assert watched.config.script.exists()


# --- other clients ---


@pytest.mark.parametrize("client", ["codex", "copilot", "gemini", "opencode"])
def test_hooks_of_other_clients_are_watched(watched: Watched, tmp_path: Path, client: str) -> None:
    """Changed and removed hooks are a problem until they are installed again; our own files are repaired."""
    installer, path = INSTALLERS[client], tmp_path / client
    installed.install(installer.plan_install(path, trusted=True), watched.paths.state, TOKEN)
    update_config_dirs(watched.paths, installed=[path], client=client)
    assert watched.texts() == []
    assert watched.watch.health()[1:] == (None, "on; hooks in 2 config dirs")
    files = installer.files(path)
    files.conf.unlink()
    assert watched.texts() == []
    assert [text for text, _ in watched.past if str(files.conf) in text]
    files.settings.write_text("{}" if client in ("codex", "gemini") else "")
    assert [text for text in watched.texts() if str(files.settings) in text]
    installed.install(installer.plan_install(path, trusted=True), watched.paths.state, TOKEN)
    assert watched.texts() == []


def test_a_withdrawn_consent_is_noticed(watched: Watched, tmp_path: Path) -> None:
    """Codex then runs no hook, although all are registered. It matters once an agent runs there."""
    path = tmp_path / "codex"
    path.mkdir()
    (path / "config.toml").write_text('model = "x"\n')
    installed.install(INSTALLERS["codex"].plan_install(path, trusted=True), watched.paths.state, TOKEN)
    update_config_dirs(watched.paths, installed=[path], client="codex")
    assert watched.texts() == []
    (path / "config.toml").write_text('model = "x"\n')
    assert watched.texts() == []
    summary = "on; hooks in 1 config dir; Codex runs no hooks until you accept them"
    assert watched.watch.health()[1:] == (None, summary)
    watched.run_agent(tmp_path, path, "sessions/2026/11/16/rollout-1.jsonl", "codex")
    [text] = watched.texts()
    assert "before you accept them" in text
