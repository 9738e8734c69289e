"""Efforts with the real Claude Code: what the engine answers reaches the model, and what it denies is not run.

The client runs without a terminal (`-p`), its hooks are the installed script, and the agent runs `headspace` itself.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import Home, Terminals
from tests.real_client.house import House
from tests.real_client.model import Script, ScriptedModel, bash, helper, reply, text, tool
from tests.real_client.program import VERSIONS, Unavailable
from tests.support import LIMIT_SECONDS, wait_until
from tests.support_rpc import call

OPTIONS = ("--permission-mode", "default", "--allowedTools", "Bash,Agent,Task")


class Desk:
    """A client's home beside a Headspace, in which an effort is made."""

    def __init__(self, house: House, home: Home) -> None:
        self.house = house
        self.home = home
        program = home.root / "bin" / "headspace"
        own = f"HOME={house.root} HEADSPACE_HOME={house.root} HEADSPACE_PORT=0"
        program.write_text(f'#!/bin/sh\n{own} exec {sys.executable} -m claude_headspace "$@"\n')
        program.chmod(0o755)

    def do(self, name: str, **args: Any) -> dict[str, Any]:
        """Do something to the effort, as a person in the project."""
        found: dict[str, Any] = call(self.house.daemon, f"effort.{name}", {"cwd": str(self.home.project), **args})
        return found

    def run(self, prompt: str, script: Script) -> list[dict[str, Any]]:
        """Run a client to its end; what the model was sent."""
        with ScriptedModel(script) as model:
            done = subprocess.run(
                ["env", "-i", *self.home.command(model.url, "-p", prompt, *OPTIONS)],
                cwd=self.home.project,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT_SECONDS * 3,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return model.requests

    def ran(self) -> list[str]:
        """The steps that were really run."""
        path = self.home.project / "ran"
        return path.read_text().split() if path.exists() else []


@pytest.fixture(params=VERSIONS)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """A client of every version, its hooks installed, with a daemon of its own."""
    try:
        home = Home(tmp_path / "home", request.param)
        with Terminals() as terminals, House(tmp_path / "headspace", terminals, [home]) as house:
            house.start()
            house.install()
            yield Desk(house, home)
            assert house.daemon.verified()
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")


def step(name: object) -> dict[str, Any]:
    """A shell command that leaves its name behind."""
    return bash(f"echo {name} >>ran")


def last_words(requests: list[dict[str, Any]], prompt: str) -> str:
    """The last request of a conversation, as one text."""
    return next(each for each in map(json.dumps, reversed(requests)) if prompt in each)


def test_what_to_read_and_what_was_handed_over_reaches_the_model(desk: Desk) -> None:
    """The file to preload, the handover and the session's line stand in the model's own request."""
    (desk.home.project / "notes.md").write_text("PRELOADED-7311")
    desk.do("start", skill="fix", preload=["notes.md"])
    desk.do("dehydrate", text="HANDED-OVER-7312")
    sent = last_words(desk.run("Begin with it", {"Begin with it": [reply(text("Good."))]}), "Begin with it")
    for part in ("PRELOADED-7311", "HANDED-OVER-7312", "effort fix #1"):
        assert part in sent


def test_the_tenth_call_is_denied_and_a_log_entry_frees_the_next(desk: Desk) -> None:
    """The denial is what the model reads, the call is not run; after `headspace effort log` calls run again."""
    desk.do("start", skill="fix")
    steps = [reply(step(number)) for number in range(1, 11)]
    steps += [reply(bash("headspace effort log 'ten steps'")), reply(step("after")), reply(text("Done."))]
    requests = desk.run("Go through it", {"Go through it": steps})
    assert desk.ran() == [*(str(number) for number in range(1, 10)), "after"]
    assert "10 tool calls without a log entry: this one was not run." in last_words(requests, "Go through it")
    assert [each["text"] for each in desk.do("show")["messages"] if each["kind"] == "log"] == ["ten steps"]
    assert desk.do("show")["sessions"][0]["heartbeat"] == 1


def test_five_parallel_sub_agents_do_not_trip_their_parent(desk: Desk) -> None:
    """Fifteen calls of sub-agents, each counted in a session of its own; none is denied."""
    desk.do("start", skill="fix")
    script: dict[str, Any] = {
        f"Errand {name}": [reply(step(f"{name}1")), reply(step(f"{name}2")), reply(step(f"{name}3"))]
        for name in "abcde"
    }
    script["Send all"] = [
        reply(*(helper(f"Errand {name}", f"errand {name}") for name in "abcde")),
        reply(text("Sent.")),
    ]
    desk.run("Send all", script)
    assert sorted(desk.ran()) == sorted(f"{name}{number}" for name in "abcde" for number in (1, 2, 3))
    main, *subs = desk.do("show")["sessions"]
    assert (main["subagent_id"], main["heartbeat"]) == (None, 5)
    assert [sub["heartbeat"] for sub in subs] == [3] * 5


def test_a_message_and_instructions_are_seen_once(desk: Desk) -> None:
    """A message comes with the first step, and the transcript confirms it; so do the instructions of a directory."""
    library = desk.home.project / "library"
    (library / ".directives").mkdir(parents=True)
    (library / ".directives" / "AGENTS.md").write_text("INSTRUCTED-7316")
    (library / "code.py").write_text("pass")
    desk.do("start", skill="fix")
    desk.do("inject", text="INJECTED-7313")
    steps = [reply(tool("Read", file_path=str(library / "code.py"))), reply(step(1)), reply(step(2))]
    sent = last_words(desk.run("Work on", {"Work on": [*steps, reply(text("Done."))]}), "Work on")
    assert (sent.count("INJECTED-7313"), sent.count("INSTRUCTED-7316")) == (1, 1)
    wait_until(lambda: desk.do("show")["injections"][0]["delivery"] == "confirmed", "the transcript to confirm it")


def test_a_full_context_is_handed_over_to_the_next_session(desk: Desk) -> None:
    """Warned once, handed over by the agent itself, and read by the next client."""
    desk.do("start", skill="fix", metadata={"overflow_at": 1})
    hand_over = bash("headspace effort dehydrate 'NEXT-IS-7314'")
    # The transcript reaches the disk a moment after the reply: the first step waits for it.
    slow = reply(bash("sleep 4; echo 1 >>ran"))
    script = {"Fill it": [slow, reply(step(2)), reply(step(3)), reply(hand_over), reply(text("Done."))]}
    sent = last_words(desk.run("Fill it", script), "Fill it")
    assert sent.count("Hand over now") == 1
    again = last_words(desk.run("Take over", {"Take over": [reply(text("Yes."))]}), "Take over")
    assert "NEXT-IS-7314" in again
    first, second = desk.do("show")["sessions"]
    assert (second["prev_session_id"], first["dehydrated"]) == (first["id"], True)
