"""`headspace demo` as somebody sees it first: a live board, answers that count, and nothing left behind."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from claude_headspace.config import find_paths
from claude_headspace.demo.stage import environment as on_stage
from claude_headspace.surfaces.client.api_client import ApiClient
from tests.support import LIMIT_SECONDS, environment, wait_until


@contextmanager
def running_demo(tmp_path: Path, *options: str, deaf: bool = False) -> Iterator["subprocess.Popen[str]"]:
    """A demo in a directory of its own; ended at the latest here. `deaf`: as a script starts it in the background."""
    shell = ["sh", "-c", 'trap "" INT; exec "$0" "$@"'] if deaf else []
    command = [
        *shell,
        sys.executable,
        "-m",
        "claude_headspace",
        "demo",
        "--print",
        "--directory",
        str(tmp_path / "demo"),
    ]
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    with subprocess.Popen(
        [*command, *options], env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(LIMIT_SECONDS)


def look(tmp_path: Path) -> ApiClient:
    """Speaks to the daemon of the demo, once it is up."""
    places = find_paths(on_stage(tmp_path / "demo"))
    return ApiClient.local(places)


def read_until(process: "subprocess.Popen[str]", words: str) -> str:
    """What it prints, until these words."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if words in line:
            return text
    raise AssertionError(text)


def descendants(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Everything that it started."""
    return psutil.Process(process.pid).children(recursive=True)


def assert_nothing_is_left(tmp_path: Path, started: list[psutil.Process]) -> None:
    """No file and no process."""
    wait_until(lambda: not any(each.is_running() for each in started), "the end of everything that it started")
    assert not (tmp_path / "demo").exists()


def test_the_first_look(tmp_path: Path) -> None:
    """All that can happen to agents is on the board at once: states, context, cost, sub-agents, a day of history."""
    with running_demo(tmp_path, "--speed", "0") as process:
        told = read_until(process, "headspace up")
        assert "http://127.0.0.1:" in told
        assert ":5055" not in told
        client = look(tmp_path)
        held = wait_until(lambda: [wait for wait in client.waits() if wait["held_until"]][3:], "hooks that are held")
        agents = {agent["name"]: agent for agent in client.agents(include_old=True)}
        assert len(agents) >= 12
        states = [agent["state"] for agent in agents.values()]
        assert {"waiting", "working", "idle", "error", "ended"} <= set(states)
        assert {agent["waiting_for"] for agent in agents.values()} >= {"permission", "question", "plan"}
        assert agents["quiet-lynx"]["subagents"]
        assert agents["golden-trout"]["background_tasks"]
        alive = [agent for agent in agents.values() if agent["state"] != "ended"]
        assert all(agent["tokens"] and agent["cost_usd"] and agent["branch"] for agent in alive)
        assert all(agent["cwd"].startswith("/home/sam/code/") for agent in agents.values())
        assert all(agent["pid"] is None for agent in agents.values())
        assert client.search("expired cards")["hits"]
        assert len(client.commands("snug-plover")) == 3
        assert {wait["kind"] for wait in client.waits() if wait["held_until"]} == {"permission", "question", "plan"}
        assert held
        assert client.status()["anomalies"] == 0


def test_an_answer_is_taken_up(tmp_path: Path) -> None:
    """Whoever answers on the page sees the agent go on with it."""
    with running_demo(tmp_path, "--speed", "2") as process:
        read_until(process, "headspace up")
        client = look(tmp_path)
        [wait] = wait_until(
            lambda: [w for w in client.waits(agent="nimble-kestrel") if w["held_until"]], "the question of kestrel"
        )
        client.answer(wait["id"], {"answers": {"Which database should the tests run against?": "Both"}})
        wait_until(
            lambda: any("Both it is." in turn["text"] for turn in client.turns("nimble-kestrel")), "what it makes of it"
        )
        assert client.agent("nimble-kestrel")["state"] == "working"


def test_it_goes_on(tmp_path: Path) -> None:
    """Time passes: hooks arrive through the real script, and nobody is taken for dead."""
    with running_demo(tmp_path, "--speed", "20") as process:
        read_until(process, "headspace up")
        client = look(tmp_path)
        before = client.status()["events_total"]
        wait_until(lambda: client.status()["events_total"] > before + 60, "sixty more events")
        assert [a["name"] for a in client.agents(include_old=True) if a["state"] == "ended"] == ["merry-wren"]
        assert client.db_verify()["ok"]


@pytest.mark.parametrize(
    ("number", "deaf"),
    [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGHUP, False)],
)
def test_nothing_is_left_behind(tmp_path: Path, number: signal.Signals, deaf: bool) -> None:
    """Ctrl+C, a polite kill and a closed terminal alike: every process ends, every file goes, calmly."""
    with running_demo(tmp_path, deaf=deaf) as process:
        read_until(process, "headspace up")
        client = look(tmp_path)
        wait_until(lambda: [wait for wait in client.waits() if wait["held_until"]], "hooks that are held")
        started = descendants(process)
        assert started
        process.send_signal(number)
        assert process.wait(LIMIT_SECONDS) == 0
        assert process.stdout is not None
        rest = process.stdout.read()
        assert "nothing of it is left" in rest
        assert "Traceback" not in rest
        assert_nothing_is_left(tmp_path, started)


def test_an_impatient_person_leaves_nothing_either(tmp_path: Path) -> None:
    """Ctrl+C while it is still being set up, and once more while it cleans up."""
    with running_demo(tmp_path) as process:
        wait_until((tmp_path / "demo" / "headspace").exists, "its beginning")
        started = descendants(process)
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.wait(LIMIT_SECONDS)
        assert_nothing_is_left(tmp_path, started)


def test_a_killed_demo_takes_its_processes_along(tmp_path: Path) -> None:
    """The daemon ends with the demo, and the hooks with the daemon; only the scratch files stay."""
    with running_demo(tmp_path) as process:
        read_until(process, "headspace up")
        started = descendants(process)
        process.kill()
        process.wait(LIMIT_SECONDS)
        wait_until(lambda: not any(each.is_running() for each in started), "the end of everything that it started")


def test_it_ends_by_itself(tmp_path: Path) -> None:
    """`--for` says how long; nothing of the user's home was used."""
    with running_demo(tmp_path, "--for", "1s") as process:
        assert process.wait(LIMIT_SECONDS) == 0
    assert not (tmp_path / "demo").exists()
    assert list((tmp_path / "home").iterdir()) == []


def test_a_length_that_is_none_is_explained(tmp_path: Path) -> None:
    """And nothing is started."""
    done = subprocess.run(
        [sys.executable, "-m", "claude_headspace", "demo", "--for", "ever"],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert "Write 60s, 5m or 2h." in done.stderr


def test_as_many_as_wanted(tmp_path: Path) -> None:
    """For load: more agents than the team has, each with a name of its own."""
    with running_demo(tmp_path, "--agents", "40", "--speed", "0") as process:
        read_until(process, "headspace up")
        names = {agent["name"] for agent in look(tmp_path).agents(include_old=True)}
        assert len(names) == 40


def test_it_can_be_started_beside_the_users_own(tmp_path: Path) -> None:
    """A daemon that runs is neither asked nor stopped, and its settings are not read."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('database = "postgresql://nobody@127.0.0.1:1/none"\n')
    with running_demo(tmp_path, "--speed", "0") as process:
        assert "http://127.0.0.1:" in read_until(process, "headspace up")
    assert sorted(path.name for path in home.iterdir()) == ["config.toml"]
