"""`headspace demo` from outside: a live board, answers that take effect, and nothing left behind."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from claude_headspace.clients import claude_code
from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.config import find_paths
from claude_headspace.demo.sandbox import environment as sandbox_environment
from claude_headspace.surfaces.client.api_client import ApiClient
from tests.support import LIMIT_SECONDS, environment, wait_until


@contextmanager
def running_demo(tmp_path: Path, *options: str, ignores_sigint: bool = False) -> Iterator["subprocess.Popen[str]"]:
    """A demo in its own directory. `ignores_sigint`: as a script starts it in the background."""
    shell = ["sh", "-c", 'trap "" INT; exec "$0" "$@"'] if ignores_sigint else []
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


def api_client(tmp_path: Path) -> ApiClient:
    """A client of the demo's daemon."""
    return ApiClient.local(find_paths(sandbox_environment(tmp_path / "demo")))


def read_until(process: "subprocess.Popen[str]", words: str) -> str:
    """The output up to the line with these words."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if words in line:
            return text
    raise AssertionError(text)


def descendants(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """All processes that it started."""
    return psutil.Process(process.pid).children(recursive=True)


def assert_nothing_is_left(tmp_path: Path, started: list[psutil.Process]) -> None:
    """No file and no process."""
    wait_until(lambda: not any(each.is_running() for each in started), "the end of all processes")
    assert not (tmp_path / "demo").exists()


def test_the_board_at_the_start(tmp_path: Path) -> None:
    """The board shows every state, context, cost, sub-agents and a day of history."""
    with running_demo(tmp_path, "--speed", "0") as process:
        printed = read_until(process, "headspace up")
        assert "http://127.0.0.1:" in printed
        assert ":5055" not in printed
        client = api_client(tmp_path)
        held = wait_until(lambda: [wait for wait in client.waits() if wait["held_until"]][3:], "held hooks")
        agents = {agent["name"]: agent for agent in client.agents(include_old=True)}
        assert len(agents) >= 12
        states = [agent["state"] for agent in agents.values()]
        assert {"waiting", "working", "idle", "error", "ended"} <= set(states)
        assert {agent["waiting_for"] for agent in agents.values()} >= {"permission", "question", "plan"}
        assert agents["quiet-lynx"]["subagents"]
        assert agents["golden-trout"]["background_tasks"]
        clients = {agent["client"] for agent in agents.values()}
        assert clients == set(CLIENTS)
        alive = [a for a in agents.values() if a["state"] != "ended" and a["client"] == claude_code.NAME]
        assert all(agent["tokens"] and agent["cost_usd"] and agent["branch"] for agent in alive)
        assert all(agent["cwd"].startswith("/home/sam/code/") for agent in agents.values())
        assert all(agent["pid"] is None for agent in agents.values())
        assert client.search("expired cards")["hits"]
        assert len(client.commands("snug-plover")) == 3
        assert {wait["kind"] for wait in client.waits() if wait["held_until"]} == {"permission", "question", "plan"}
        assert held
        assert client.status()["anomalies"] == 0


def test_an_agent_continues_with_an_answer(tmp_path: Path) -> None:
    """An answer through Headspace reaches the simulated agent."""
    with running_demo(tmp_path, "--speed", "2") as process:
        read_until(process, "headspace up")
        client = api_client(tmp_path)
        [wait] = wait_until(
            lambda: [w for w in client.waits(agent="nimble-kestrel") if w["held_until"]], "the question"
        )
        client.answer(wait["id"], {"answers": {"Which database should the tests run against?": "Both"}})
        wait_until(
            lambda: any("Both it is." in turn["text"] for turn in client.turns("nimble-kestrel")), "its next text"
        )
        assert client.agent("nimble-kestrel")["state"] == "working"


def test_an_agent_of_another_client_continues_with_an_answer(tmp_path: Path) -> None:
    """A permission of opencode is allowed through Headspace, and its next call runs."""
    with running_demo(tmp_path, "--speed", "2") as process:
        read_until(process, "headspace up")
        client = api_client(tmp_path)
        [wait] = wait_until(lambda: [w for w in client.waits(agent="rosy-newt") if w["held_until"]], "the permission")
        client.answer(wait["id"], {"decision": "allow"})
        wait_until(lambda: client.agent("rosy-newt")["state"] == "working", "the next state")
        wait_until(lambda: "search-index" in str(client.tool_calls("rosy-newt")), "its next call")


def test_events_continue_after_the_start(tmp_path: Path) -> None:
    """Hooks arrive through the real script, and no agent is considered ended by mistake."""
    with running_demo(tmp_path, "--speed", "20") as process:
        read_until(process, "headspace up")
        client = api_client(tmp_path)
        before = client.status()["events_total"]
        wait_until(lambda: client.status()["events_total"] > before + 60, "sixty more events")
        assert [a["name"] for a in client.agents(include_old=True) if a["state"] == "ended"] == ["merry-wren"]
        assert client.db_verify()["ok"]


@pytest.mark.parametrize(
    ("number", "ignores_sigint"),
    [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGHUP, False)],
)
def test_nothing_is_left_behind(tmp_path: Path, number: signal.Signals, ignores_sigint: bool) -> None:
    """After Ctrl+C, SIGTERM and a closed terminal: every process ends, all files are removed, no traceback."""
    with running_demo(tmp_path, ignores_sigint=ignores_sigint) as process:
        read_until(process, "headspace up")
        client = api_client(tmp_path)
        wait_until(lambda: [wait for wait in client.waits() if wait["held_until"]], "held hooks")
        started = descendants(process)
        assert started
        process.send_signal(number)
        assert process.wait(LIMIT_SECONDS) == 0
        assert process.stdout is not None
        rest = process.stdout.read()
        assert "All its files were removed." in rest
        assert "Traceback" not in rest
        assert_nothing_is_left(tmp_path, started)


def test_nothing_is_left_behind_after_repeated_interrupts(tmp_path: Path) -> None:
    """Ctrl+C while it starts, and once more while it cleans up."""
    with running_demo(tmp_path) as process:
        wait_until((tmp_path / "demo" / "headspace").exists, "its directory")
        started = descendants(process)
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.wait(LIMIT_SECONDS)
        assert_nothing_is_left(tmp_path, started)


def test_no_process_survives_a_killed_demo(tmp_path: Path) -> None:
    """The daemon ends with the demo, and the hooks with the daemon. Only the files remain."""
    with running_demo(tmp_path) as process:
        read_until(process, "headspace up")
        started = descendants(process)
        process.kill()
        process.wait(LIMIT_SECONDS)
        wait_until(lambda: not any(each.is_running() for each in started), "the end of all processes")


def test_it_ends_after_the_given_time(tmp_path: Path) -> None:
    """`--for` sets the time. The user's home is not used."""
    with running_demo(tmp_path, "--for", "1s") as process:
        assert process.wait(LIMIT_SECONDS) == 0
    assert not (tmp_path / "demo").exists()
    assert list((tmp_path / "home").iterdir()) == []


def test_an_invalid_time_is_an_error(tmp_path: Path) -> None:
    """The error explains the format, and nothing is started."""
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


def test_more_agents_than_scenarios(tmp_path: Path) -> None:
    """Scenarios repeat, and every agent has its own name."""
    with running_demo(tmp_path, "--agents", "40", "--speed", "0") as process:
        read_until(process, "headspace up")
        names = {agent["name"] for agent in api_client(tmp_path).agents(include_old=True)}
        assert len(names) == 40


def test_the_users_settings_are_not_read(tmp_path: Path) -> None:
    """The demo is independent of the user's own daemon."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('database = "postgresql://nobody@127.0.0.1:1/none"\n')
    with running_demo(tmp_path, "--speed", "0") as process:
        assert "http://127.0.0.1:" in read_until(process, "headspace up")
    assert sorted(path.name for path in home.iterdir()) == ["config.toml"]
