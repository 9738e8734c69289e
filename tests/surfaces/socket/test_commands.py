"""The hook commands, the effort commands, and the separation of identities."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.claude_code.hooks.events import REGISTERED
from claude_headspace.clients.claude_code.wire import HOOKS
from claude_headspace.surfaces.socket.commands import command_names, snake_case
from claude_headspace.surfaces.socket.results import HOOK_COMMANDS
from tests.support import RunningDaemon, running_daemon
from tests.support_rpc import JsonObject, Socket, call, refusal

_numbers = count(1)

HANDLERS = {
    "sessionStart",
    "sessionEnd",
    "preCompact",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "stop",
    "userPrompt",
    "notification",
    "permissionRequest",
    "teammateIdle",
    "taskCompleted",
    "subagentStart",
    "subagentStop",
    "configChange",
}
"""The engine's handlers, by its own list."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon for all tests."""
    with running_daemon(tmp_path_factory.mktemp("rpc")) as running:
        yield running


class Project:
    """A project in which one session works on one effort."""

    def __init__(self, daemon: RunningDaemon, root: Path) -> None:
        self.daemon = daemon
        self.root = root
        self.session = f"session-{next(_numbers)}"
        (root / ".git").mkdir()

    def hook(self, name: str, **args: Any) -> JsonObject:
        """Send a hook in camel case."""
        payload = {"sessionId": self.session, "cwd": str(self.root), "hookEventName": name, **args}
        result: JsonObject = call(self.daemon, f"hooks.{name}", payload)
        return result

    def do(self, name: str, **args: Any) -> JsonObject:
        """Run an effort command."""
        result: JsonObject = call(self.daemon, f"effort.{name}", {"cwd": str(self.root), **args})
        return result

    def tool(self, **args: Any) -> JsonObject:
        """A tool is about to run."""
        return self.hook("preToolUse", **({"toolName": "Bash", "toolInput": {"command": "make"}} | args))


@pytest.fixture
def project(daemon: RunningDaemon, tmp_path: Path) -> Project:
    """A project without an effort."""
    return Project(daemon, tmp_path)


@pytest.fixture
def work(project: Project) -> Iterator[Project]:
    """A project with an effort, whose session has started."""
    project.do("start", skill="fix", phase="look", metadata={"note": 1})
    project.hook("sessionStart", source="startup")
    yield project
    project.do("finish")


# --- the lists agree ---


def test_hook_commands_and_installed_hooks() -> None:
    """Every command reports an event that exists and is installed. `userPrompt` has two names."""
    assert {name.removeprefix("hooks.") for name in HOOK_COMMANDS} == HANDLERS | {"userPromptSubmit"}
    events = {command.event for command in HOOK_COMMANDS.values()}
    assert len(events) == 15
    assert events <= set(REGISTERED)


def test_installed_events_are_decoded() -> None:
    """An installed hook without a decoder would be a typing error."""
    assert set(REGISTERED) <= set(HOOKS)


def test_hook_commands_are_documented() -> None:
    """The table in the docs has each command with its test."""
    page = (Path(__file__).parents[3] / "docs" / "engine.md").read_text(encoding="utf-8")
    assert [name for name in HOOK_COMMANDS if f"`{name.removeprefix('hooks.')}`" not in page] == []
    assert [name for name in command_names() if name not in page and name not in HOOK_COMMANDS] == []


# --- nothing applies ---


@pytest.mark.parametrize("name", sorted(HANDLERS))
def test_results_without_an_effort(project: Project, name: str) -> None:
    """Ids are null, lists are empty, calls are allowed; and the event is on the board."""
    answer = project.hook(name, toolName="Bash", toolInput={}, agentId="s", agentType="t", reason="clear")
    assert answer.get("effortId") is None
    assert answer.get("sessionId") is None
    assert answer.get("allow", True) is True
    assert answer.get("found", False) is False
    for field in ("heartbeatCount", "skill", "phase", "dialogueEntry", "sessionContext", "coordinator"):
        assert answer.get(field) is None
    for field in ("filesToPreload", "pendingInjections", "pendingPreloads", "firedRules", "directives"):
        assert answer.get(field, []) == []


# --- the fifteen, with an effort ---


def test_session_start(project: Project) -> None:
    """A new session of the effort, linked to the previous one. Snake case works, too."""
    skill = project.root / ".claude" / "skills" / "fix" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nphases: [look, repair]\npreload: [notes.md]\n---\n")
    effort = project.do("start", skill="/fix")
    first = project.hook("sessionStart", source="startup")
    assert set(first) >= {"found", "effortId", "sessionId", "skill", "phase", "filesToPreload", "dehydratedContext"}
    assert (first["found"], first["effortId"], first["skill"], first["phase"]) == (True, effort["id"], "fix", "look")
    assert first["filesToPreload"] == [str(project.root / "notes.md")]
    assert first["dehydratedContext"] is None
    assert first["skillConfig"]["phases"] == ["look", "repair"]
    (project.root / "1_FIX_PLAN.md").write_text("The plan.")
    first = project.hook("sessionStart", source="clear")
    assert first["filesToPreload"] == [
        str(project.root / "notes.md"),
        str(project.root / "1_FIX_PLAN.md"),  # "if no payload: rehydrate by reading effort artifacts"
    ]
    project.do("dehydrate", text="Half done.")
    second = call(
        project.daemon,
        "hooks.sessionStart",
        {"session_id": f"{project.session}-2", "cwd": str(project.root), "source": "startup"},
    )
    assert second["sessionId"] not in (None, first["sessionId"])
    assert project.session not in first["sessionId"] + second["sessionId"], "not Claude Code's session id"
    assert second["prevSessionId"] == first["sessionId"]
    assert "Half done." in second["dehydratedContext"]


def test_session_end(work: Project) -> None:
    """The session ends, the agent is done, the effort continues."""
    ended = work.hook("sessionEnd", reason="other")
    assert ended["agentStatus"] == "done"
    assert ended["effortId"]
    [session] = work.do("show")["sessions"]
    assert (session["id"], session["end_reason"]) == (ended["sessionId"], "other")
    assert work.do("show")["lifecycle"] == "active"


def test_pre_compact(work: Project) -> None:
    """It is recorded and the client continues. A supervisor gets the restart prompt."""
    work.do("log", text="Found the cause.")
    answer = work.hook("preCompact", trigger="auto", customInstructions="")
    assert answer["kill"] is False
    assert "Found the cause." in answer["restartPrompt"]
    assert [each["kind"] for each in work.do("show")["messages"]] == ["log", "compaction"]


def test_pre_tool_use(work: Project) -> None:
    """Counted, with a warning, denied at the tenth call, and allowed again after a log entry."""
    answers = [work.tool(toolUseId=f"t{n}") for n in range(10)]
    assert [each["heartbeatCount"] for each in answers] == list(range(1, 11))
    assert [each["allow"] for each in answers] == [True] * 9 + [False]
    assert [bool(each["warnings"]) for each in answers] == [False] * 6 + [True] * 3 + [False]
    assert "headspace effort log" in answers[-1]["reason"]
    assert "reason" not in answers[0]
    assert set(answers[0]) >= {"contextUsage", "overflowWarning", "pendingPreloads", "firedRules"}
    assert work.tool(toolInput={"command": "headspace effort log 'x'"})["allow"] is True
    work.do("log", text="x")
    assert (work.tool()["allow"], work.do("show")["heartbeat"]) == (True, 1)


def test_guards_of_an_effort(work: Project) -> None:
    """A guard that fires is in the result, and denies if configured."""
    rule = {"field": "heartbeat", "gte": 2, "payload": {"deny": True, "message": "Enough."}}
    work.do("set", metadata={"guards": [rule]})
    assert work.tool()["firedRules"] == []
    refused = work.tool()
    assert (refused["allow"], refused["reason"]) == (False, "Enough.")
    assert refused["firedRules"] == [{"field": "heartbeat", "op": "gte", "value": 2, "payload": rule["payload"]}]


def test_post_tool_use(work: Project) -> None:
    """Messages are delivered once, a dialogue is stored, instruction files of the path are found."""
    (work.root / "AGENTS.md").write_text("Be kind.")
    work.tool()
    work.tool()
    work.do("inject", text="The API changed.")
    first = work.hook("postToolUse", toolName="Edit", toolInput={"file_path": str(work.root / "a.py")})
    assert first["heartbeatCount"] == 2
    assert [each["content"] for each in first["pendingInjections"]] == ["The API changed."]
    assert first["discoveredDirectives"] == [str(work.root / "AGENTS.md")]
    questions = {"questions": [{"question": "Which?", "options": [{"label": "A"}]}]}
    second = work.hook(
        "postToolUse", toolName="AskUserQuestion", toolInput=questions, toolResponse={"answers": {"Which?": "A"}}
    )
    assert second["pendingInjections"] == []
    assert second["dialogueEntry"] == "Question: Which? (A)\nAnswer: Which? A"
    assert [each["kind"] for each in work.do("show")["messages"]] == ["dialogue"]
    assert work.tool()["pendingPreloads"] == [str(work.root / "AGENTS.md")]


def test_post_tool_use_failure(work: Project) -> None:
    """The failure is recorded. A failed tool is no error of the agent."""
    answer = work.hook("postToolUseFailure", toolName="Bash", toolInput={}, error="exit 1", isInterrupt=False)
    assert answer["agentStatus"] == "working"
    assert [each["text"] for each in work.do("show")["messages"]] == ["Bash: exit 1"]


def test_stop(work: Project) -> None:
    """The agent is done."""
    work.hook("userPrompt", prompt="Go")
    assert work.hook("stop", stopHookActive=False, lastAssistantMessage="All done.")["agentStatus"] == "done"


@pytest.mark.parametrize("name", ["userPrompt", "userPromptSubmit"])
def test_user_prompt(work: Project, name: str) -> None:
    """One line with effort and phase for the model, under both names."""
    work.tool()
    answer = work.hook(name, prompt="Go on")
    assert set(answer) == {"sessionContext", "effortId", "sessionId", "taskDir", "skill", "phase", "heartbeat"}
    assert (answer["taskDir"], answer["skill"], answer["phase"]) == (str(work.root), "fix", "look")
    assert answer["heartbeat"] == 1
    for part in ("fix #1", "phase look", "1 tool call since"):
        assert part in answer["sessionContext"]


def test_notification(work: Project) -> None:
    """A dialog sets the status `attention`."""
    work.hook("userPrompt", prompt="Go")
    payload = {"message": "May I?", "notificationType": "permission_prompt"}
    assert work.hook("notification", **payload)["agentStatus"] == "attention"


def test_permission_request(work: Project) -> None:
    """A permission request sets the status `attention`."""
    work.hook("userPrompt", prompt="Go")
    assert work.hook("permissionRequest", toolName="Bash", toolInput={"command": "rm x"})["agentStatus"] == "attention"


def test_teammate_idle(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Requirement: "Update teammate's agents.status = 'done'. Signal coordinator if one exists."."""
    _team(daemon, tmp_path, "hooks.teammateIdle", {"teammateName": "bo", "teamName": "blue"}, "bo (blue) has nothing")


def test_task_completed(daemon: RunningDaemon, tmp_path: Path) -> None:
    """The coordinator receives a message when a teammate's task is completed."""
    payload = {"taskId": "7", "taskSubject": "Parser", "teammateName": "bo"}
    _team(daemon, tmp_path, "hooks.taskCompleted", payload, "bo completed: Parser")


def _team(daemon: RunningDaemon, root: Path, cmd: str, payload: JsonObject, expected: str) -> None:
    (root / ".git").mkdir()
    lead, hand = f"lead-{next(_numbers)}", f"hand-{next(_numbers)}"
    here = {"cwd": str(root)}
    chief = call(daemon, "effort.start", {"skill": "lead", **here}, {"AGENT_ID": lead})
    call(daemon, "effort.start", {"skill": "fix", "manager": lead, **here}, {"AGENT_ID": hand})
    call(daemon, "hooks.userPrompt", {"sessionId": hand, **here, "prompt": "Go"}, {"AGENT_ID": hand})
    answer = call(daemon, cmd, {"sessionId": hand, **here, **payload}, {"AGENT_ID": hand})
    assert answer["coordinator"] == lead
    assert answer["agentStatus"] == ("done" if cmd == "hooks.teammateIdle" else "working")
    [message] = call(daemon, "effort.show", {"effort": chief["id"]})["injections"]
    assert message["text"].startswith(expected)


def test_subagent_start(work: Project) -> None:
    """A session of its own in the same effort, with instructions."""
    answer = work.hook("subagentStart", agentId="sub", agentType="Explore")
    assert answer["effortId"] == work.do("show")["id"]
    assert answer["sessionId"].endswith("/sub")
    assert "headspace effort log" in answer["logTemplate"]
    assert answer["metadata"] == {"note": 1}
    assert "fix #1" in answer["context"]
    assert [each["subagent_id"] for each in work.do("show")["sessions"]] == [None, "sub"]


def test_subagent_stop(work: Project) -> None:
    """Its session ends and its parent's stays. The effort has the files that it loaded."""
    work.hook("subagentStart", agentId="sub", agentType="Explore")
    work.hook("postToolUse", toolName="Read", toolInput={"file_path": "/x.py"}, agentId="sub", agentType="Explore")
    answer = work.hook("subagentStop", agentId="sub", agentType="Explore", lastAssistantMessage="Found.")
    assert answer["loadedFiles"] == ["/x.py"]
    main, child = work.do("show")["sessions"]
    assert (main["ended_at"], child["end_reason"]) == (None, "the sub-agent ended")


def test_config_change(work: Project) -> None:
    """It is recorded. The effort keeps the skill settings from its start."""
    before = work.do("show")
    assert work.hook("configChange", source="user_settings", filePath="/x")["effortId"] == before["id"]
    after = work.do("show")
    assert [after[name] for name in ("skill", "phase", "phases", "lifecycle")] == [
        before[name] for name in ("skill", "phase", "phases", "lifecycle")
    ]


# --- the efforts' own commands ---


def test_discover_instruction_files(project: Project) -> None:
    """For one path or several, relative to the given directory."""
    (project.root / "AGENTS.md").write_text("x")
    here = {"cwd": str(project.root)}
    expected = {"directives": [str(project.root / "AGENTS.md")]}
    assert call(project.daemon, "agent.directives.discover", {"paths": ["a.py", "b/c.py"], **here}) == expected
    assert call(project.daemon, "agent.directives.discover", {"path": str(project.root / "a.py")}) == expected
    assert call(project.daemon, "agent.directives.discover", {}) == {"directives": []}


def test_a_task_is_active_while_an_effort_is(work: Project) -> None:
    """A task never finishes. Without active efforts it is dormant."""

    def status() -> str:
        tasks = call(work.daemon, "effort.list", {"all": True})["tasks"]
        return next(str(task["status"]) for task in tasks if task["dir_path"] == str(work.root))

    assert status() == "active"
    work.do("finish")
    assert status() == "dormant"
    work.do("start", skill="fix")


def test_refusals(project: Project) -> None:
    """No effort, an unknown one, invalid arguments, an unknown command, a hook without a session."""
    daemon, here = project.daemon, {"cwd": str(project.root)}
    assert refusal(daemon, "effort.log", {"text": "x", **here}) == "no_effort"
    assert refusal(daemon, "effort.log", {"text": "x", "effort": "abcdef"}) == "unknown_effort"
    assert refusal(daemon, "effort.log", {"text": 5, **here}) == "bad_arguments"
    assert refusal(daemon, "effort.start", {"skill": "fix", "cwd": "relative"}) == "bad_directory"
    assert refusal(daemon, "effort.nonsense", {}) == "unknown_command"
    assert refusal(daemon, "hooks.stop", {}) == "bad_field"
    assert refusal(daemon, "hooks.stop", [1]) == "bad_arguments"


def test_camel_case_becomes_snake_case() -> None:
    """Only top-level names; values stay unchanged."""
    given = msgspec.Raw(b'{"sessionId":"s","toolInput":{"filePath":1},"tool_use_id":"t","cwd":"/x"}')
    assert snake_case(given) == b'{"session_id":"s","tool_input":{"filePath":1},"tool_use_id":"t","cwd":"/x"}'


def test_concurrent_requests_keep_their_identity(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Eight connections, forty panes, a thousand calls: each is counted for its own effort."""
    (tmp_path / ".git").mkdir()
    here = {"cwd": str(tmp_path)}
    panes = [f"fleet:{number}" for number in range(40)]
    efforts = {
        pane: call(
            daemon, "effort.start", {"skill": "fix", "metadata": {"heartbeat_limit": 99}, **here}, {"AGENT_ID": pane}
        )["id"]
        for pane in panes
    }

    def burst(worker: int) -> list[tuple[str, JsonObject]]:
        connection = Socket(daemon)
        try:
            mine = [panes[(worker + number) % 40] for number in range(125)]
            asked = [
                (pane, connection.ask("hooks.userPrompt", {"sessionId": pane, **here}, {"AGENT_ID": pane}))
                for pane in mine
            ]
        finally:
            connection.close()
        return asked

    with ThreadPoolExecutor(8) as pool:
        answers = [answer for some in pool.map(burst, range(8)) for answer in some]
    assert len(answers) == 1_000
    assert [pane for pane, answer in answers if answer["result"]["effortId"] != efforts[pane]] == []
    for effort in efforts.values():
        shown = call(daemon, "effort.show", {"effort": effort})
        assert len(shown["sessions"]) == 1
        call(daemon, "effort.finish", {"effort": effort})


def test_efforts_can_be_rebuilt(daemon: RunningDaemon) -> None:
    """A replay gives the same efforts, sessions and messages."""
    assert daemon.verified()
