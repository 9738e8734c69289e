"""Efforts with the real Claude Code: what the engine answers reaches the model, and what it denies is not run.

The client runs without a terminal (`-p`), its hooks are the installed script, and the agent runs `headspace` itself.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.desk import Desk, a_place
from tests.real_client.model import bash, helper, reply, text, tool
from tests.real_client.program import VERSIONS
from tests.support import wait_until
from tests.support_rpc import call


class EffortDesk(Desk):
    """A desk at which an effort is made."""

    options = ("--permission-mode", "default", "--allowedTools", "Bash,Agent,Task")

    def do(self, name: str, **args: Any) -> dict[str, Any]:
        """Do something to the effort, as a person in the project."""
        found: dict[str, Any] = call(self.house.daemon, f"effort.{name}", {"cwd": str(self.home.project), **args})
        return found

    def ran(self) -> list[str]:
        """The steps that were really run."""
        path = self.home.project / "ran"
        return path.read_text().split() if path.exists() else []


@pytest.fixture(params=VERSIONS)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EffortDesk]:
    """A desk for a client of every version."""
    with a_place(request.param, tmp_path) as (house, home):
        yield EffortDesk(house, home)


def step(name: object) -> dict[str, Any]:
    """A shell command that leaves its name behind."""
    return bash(f"echo {name} >>ran")


def last_words(requests: list[dict[str, Any]], prompt: str) -> str:
    """The last request of a conversation, as one text."""
    return next(each for each in map(json.dumps, reversed(requests)) if prompt in each)


def test_what_to_read_and_what_was_handed_over_reaches_the_model(desk: EffortDesk) -> None:
    """The file to preload, the handover and the session's line stand in the model's own request."""
    (desk.home.project / "notes.md").write_text("PRELOADED-7311")
    desk.do("start", skill="fix", preload=["notes.md"])
    desk.do("dehydrate", text="HANDED-OVER-7312")
    sent = last_words(desk.run("Begin with it", {"Begin with it": [reply(text("Good."))]}), "Begin with it")
    for part in ("PRELOADED-7311", "HANDED-OVER-7312", "effort fix #1"):
        assert part in sent


def test_the_tenth_call_is_denied_and_a_log_entry_frees_the_next(desk: EffortDesk) -> None:
    """The denial is what the model reads, the call is not run; after `headspace effort log` calls run again."""
    desk.do("start", skill="fix")
    steps = [reply(step(number)) for number in range(1, 11)]
    steps += [reply(bash("headspace effort log 'ten steps'")), reply(step("after")), reply(text("Done."))]
    requests = desk.run("Go through it", {"Go through it": steps})
    assert desk.ran() == [*(str(number) for number in range(1, 10)), "after"]
    assert "10 tool calls without a log entry: this one was not run." in last_words(requests, "Go through it")
    assert [each["text"] for each in desk.do("show")["messages"] if each["kind"] == "log"] == ["ten steps"]
    assert desk.do("show")["sessions"][0]["heartbeat"] == 1


def test_five_parallel_sub_agents_do_not_trip_their_parent(desk: EffortDesk) -> None:
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


def test_a_message_and_instructions_are_seen_once(desk: EffortDesk) -> None:
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


def test_a_full_context_is_handed_over_to_the_next_session(desk: EffortDesk) -> None:
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
