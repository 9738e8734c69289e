"""Efforts with the real Claude Code: the engine's replies reach the model, and denied tool calls do not run.

The client runs without a terminal (`-p`) with the installed hook script, and the agent itself runs `headspace`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import Client
from tests.real_client.headless import HeadlessRunner, installed_home
from tests.real_client.model import ScriptedModel, bash, helper, reply, text, tool
from tests.real_client.program import VERSIONS
from tests.support import wait_until
from tests.support_rpc import call


class EffortRunner(HeadlessRunner):
    """Runs clients in a project with an effort."""

    options = ("--permission-mode", "default", "--allowedTools", "Bash,Agent,Task")

    def do(self, name: str, **args: Any) -> dict[str, Any]:
        """Run an effort method, as a user in the project."""
        found: dict[str, Any] = call(
            self.installation.daemon, f"effort.{name}", {"cwd": str(self.home.project), **args}
        )
        return found

    def ran(self) -> list[str]:
        """The steps that ran."""
        path = self.home.project / "ran"
        return path.read_text().split() if path.exists() else []


@pytest.fixture(params=VERSIONS)
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EffortRunner]:
    """A runner for each client version."""
    with installed_home(request.param, tmp_path) as (installation, home):
        yield EffortRunner(installation, home)


def step(name: object) -> dict[str, Any]:
    """A shell command that records its name in a file."""
    return bash(f"echo {name} >>ran")


def last_words(requests: list[dict[str, Any]], prompt: str) -> str:
    """The last request of a conversation, as one text."""
    return next(each for each in map(json.dumps, reversed(requests)) if prompt in each)


def test_preloaded_files_and_the_handover_reach_the_model(runner: EffortRunner) -> None:
    """The model's request contains the preloaded file, the handover and the session's line."""
    (runner.home.project / "notes.md").write_text("PRELOADED-7311")
    runner.do("start", skill="fix", preload=["notes.md"])
    runner.do("dehydrate", text="HANDED-OVER-7312")
    sent = last_words(runner.run("Begin with it", {"Begin with it": [reply(text("Good."))]}), "Begin with it")
    for part in ("PRELOADED-7311", "HANDED-OVER-7312", "effort fix #1"):
        assert part in sent


def test_the_tenth_call_is_denied_until_a_log_entry(runner: EffortRunner) -> None:
    """The model receives the denial and the call does not run. After `headspace effort log` calls run again."""
    runner.do("start", skill="fix")
    steps = [reply(step(number)) for number in range(1, 11)]
    steps += [reply(bash("headspace effort log 'ten steps'")), reply(step("after")), reply(text("Done."))]
    requests = runner.run("Go through it", {"Go through it": steps})
    assert runner.ran() == [*(str(number) for number in range(1, 10)), "after"]
    assert "10 tool calls without a log entry: this one was not run." in last_words(requests, "Go through it")
    assert [each["text"] for each in runner.do("show")["messages"] if each["kind"] == "log"] == ["ten steps"]
    assert runner.do("show")["sessions"][0]["heartbeat"] == 1


def test_calls_of_five_parallel_sub_agents_do_not_count_for_their_parent(runner: EffortRunner) -> None:
    """Fifteen calls of sub-agents count in separate sessions. None is denied."""
    runner.do("start", skill="fix")
    script: dict[str, Any] = {
        f"Errand {name}": [reply(step(f"{name}1")), reply(step(f"{name}2")), reply(step(f"{name}3"))]
        for name in "abcde"
    }
    script["Send all"] = [
        reply(*(helper(f"Errand {name}", f"errand {name}") for name in "abcde")),
        reply(text("Sent.")),
    ]
    runner.run("Send all", script)
    assert sorted(runner.ran()) == sorted(f"{name}{number}" for name in "abcde" for number in (1, 2, 3))
    main, *subs = runner.do("show")["sessions"]
    assert (main["subagent_id"], main["heartbeat"]) == (None, 5)
    assert [sub["heartbeat"] for sub in subs] == [3] * 5


def test_a_message_and_instructions_are_seen_once(runner: EffortRunner) -> None:
    """A message and the instructions of a directory arrive with the first step. The transcript confirms the message."""
    library = runner.home.project / "library"
    (library / ".directives").mkdir(parents=True)
    (library / ".directives" / "AGENTS.md").write_text("INSTRUCTED-7316")
    (library / "code.py").write_text("pass")
    runner.do("start", skill="fix")
    runner.do("inject", text="INJECTED-7313")
    steps = [reply(tool("Read", file_path=str(library / "code.py"))), reply(step(1)), reply(step(2))]
    sent = last_words(runner.run("Work on", {"Work on": [*steps, reply(text("Done."))]}), "Work on")
    assert (sent.count("INJECTED-7313"), sent.count("INSTRUCTED-7316")) == (1, 1)
    wait_until(lambda: runner.do("show")["injections"][0]["delivery"] == "confirmed", "the transcript to confirm it")


def test_a_full_context_is_handed_over_to_the_next_session(runner: EffortRunner) -> None:
    """The agent is warned once and hands over. The next client receives the handover."""
    runner.do("start", skill="fix", metadata={"overflow_at": 1})
    hand_over = bash("headspace effort dehydrate 'NEXT-IS-7314'")
    # The transcript is written shortly after the reply, so the first step waits for it.
    slow = reply(bash("sleep 4; echo 1 >>ran"))
    script = {"Fill it": [slow, reply(step(2)), reply(step(3)), reply(hand_over), reply(text("Done."))]}
    sent = last_words(runner.run("Fill it", script), "Fill it")
    assert sent.count("Hand over now") == 1
    again = last_words(runner.run("Take over", {"Take over": [reply(text("Yes."))]}), "Take over")
    assert "NEXT-IS-7314" in again
    first, second = runner.do("show")["sessions"]
    assert (second["prev_session_id"], first["dehydrated"]) == (first["id"], True)


def test_an_idle_teammate_is_shown_as_done(runner: EffortRunner) -> None:
    """Requirement: "Update teammate's agents.status = 'done'. Signal coordinator if one exists."."""
    home, installation = runner.home, runner.installation
    settings_file = home.config_dir / "settings.json"
    variables = {"env": {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}}
    settings_file.write_text(json.dumps({**json.loads(settings_file.read_text()), **variables}))
    runner.do("start", skill="fix")
    teammate = {"prompt": "Errand one", "description": "errand", "subagent_type": "general-purpose", "name": "bo"}
    script = {
        "Send a teammate": [
            reply({"type": "tool_use", "name": "Agent", "input": {**teammate, "run_in_background": True}}),
            reply(bash("while [ ! -e go_on ]; do sleep 0.1; done")),
            reply(text("Sent.")),
        ],
        "Errand one": [reply(step(1)), reply(text("Errand done."))],
    }
    with ScriptedModel(script) as model:
        client = Client(installation.terminals, home, model.url, *runner.options)
        client.wait_until_ready()
        client.write("Send a teammate")
        client.send()
        idle = wait_until(
            lambda: [each for each in installation.daemon.events() if each["name"] == "TeammateIdle"], "the teammate"
        )
        assert idle[0]["payload"]["teammate_name"] == "bo"
        [agent] = installation.daemon.agents()
        assert (agent["subagents"], agent["state"]) == ([], "working")
        (home.project / "go_on").touch()
        client.close()


def test_typing_a_skill_starts_an_effort(runner: EffortRunner) -> None:
    """Requirement: "Running `/brainstorm`, `/implement`, or `/fix` creates an effort". The model gets its context."""
    home, installation = runner.home, runner.installation
    skill = home.project / ".claude" / "skills" / "implement" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: implement\ndescription: builds\nphases: [plan, build]\n---\nBUILD-IT $ARGUMENTS\n")
    script = {"BUILD-IT": [reply(bash("sleep 2")), reply(step(1)), reply(text("Built."))]}
    with ScriptedModel(script) as model:
        client = Client(installation.terminals, home, model.url, *runner.options)
        client.wait_until_ready()
        client.write("/implement the cart")
        client.send()
        wait_until(lambda: "Built." in client.screen, "the end of the turn")
        found = runner.do("show")
        assert (found["skill"], found["phase"], found["agent_id"]) == (
            "implement",
            "plan",
            installation.daemon.agents()[0]["id"],
        )
        assert json.dumps(model.requests).count("You work on effort implement #1") >= 1
        wait_until(
            lambda: runner.do("show")["injections"][0]["delivery"] == "confirmed", "the transcript to confirm it"
        )
        client.close()
