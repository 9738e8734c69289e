"""State × event: the state after every hook in every state, as tables.

A row is a hook, a column the state of the agent when it fires, five seconds after that state started. The payloads
are those of the real client, of the running turn, and of *another* call than the one that the agent waits for.
`=` means that the state stays; `wait:p` is the state waiting, for a permission (`SHORT` has the others). The second
table is the same for hooks that a sub-agent fires.
"""

import pytest

from claude_headspace.clients.claude_code.wire import HOOKS
from claude_headspace.kernel.state import state_of
from tests.kernel.story import Payload, Story, bash, batch, in_subagent, plan, question, running, task_notification

TABLE = """
on                  starting idle    working tool    question plan    perm    elicit  dialog  text    error   ended
SessionStart        idle     idle    idle    idle    idle     idle    idle    idle    idle    idle    idle    idle
SessionEnd          ended    ended   ended   ended   ended    ended   ended   ended   ended   ended   ended   ended
SessionEnd:clear    idle     idle    idle    idle    idle     idle    idle    idle    idle    idle    idle    =
Setup               idle     =       =       =       =        =       =       =       =       =       =       idle
InstructionsLoaded  idle     =       =       =       =        =       =       =       =       =       =       idle
UserPromptSubmit    working  working working working working  working working working working working working working
UserPromptSubmit:new working working working working working  working working working working working working working
UserPromptSubmit:task working working working working =       =       =       =       =       working working working
UserPromptExpansion idle     =       =       =       =        =       =       =       =       =       =       idle
MessageDisplay      idle     =       =       =       =        =       =       =       =       =       =       idle
PreToolUse          working  working working working working  working working working working working working working
PreToolUse:ask      wait:q   wait:q  wait:q  wait:q  wait:q   wait:q  wait:q  wait:q  wait:q  wait:q  wait:q  wait:q
PreToolUse:plan     wait:pl  wait:pl wait:pl wait:pl wait:pl  wait:pl wait:pl wait:pl wait:pl wait:pl wait:pl wait:pl
PermissionRequest   wait:p   wait:p  wait:p  wait:p  wait:p   wait:p  wait:p  wait:p  wait:p  wait:p  wait:p  wait:p
PermissionDenied    working  working working working =        =       =       =       working =       =       working
PostToolUse         working  working working working =        =       =       =       working =       =       working
PostToolUseFailure  working  working working working =        =       =       =       working =       =       working
PostToolBatch       working  working working working working  working working working working =       =       working
Notification:perm   wait:p   wait:p  wait:p  wait:p  =        =       =       =       =       =       wait:p  wait:p
Notification:needs  wait:d   wait:d  wait:d  wait:d  =        =       =       =       =       =       wait:d  wait:d
Notification:idle   idle     =       idle    idle    idle     idle    idle    idle    idle    =       =       idle
Notification:other  idle     =       =       =       =        =       =       =       =       =       =       idle
SubagentStart       idle     =       =       =       =        =       =       =       =       =       =       idle
SubagentStop        idle     =       =       =       =        =       =       =       =       =       =       idle
TaskCreated         idle     =       =       =       =        =       =       =       =       =       =       idle
TaskCompleted       idle     =       =       =       =        =       =       =       =       =       =       idle
Stop                idle     idle    idle    idle    idle     idle    idle    idle    idle    idle    idle    idle
Stop:asks           wait:q   wait:q  wait:q  wait:q  wait:q   wait:q  wait:q  wait:q  wait:q  wait:q  wait:q  wait:q
Stop:shell          idle     idle    idle    idle    idle     idle    idle    idle    idle    idle    idle    idle
Stop:subagent       working  working working working working  working working working working working working working
StopFailure         error    error   error   error   error    error   error   error   error   error   error   error
PreCompact          working  working working working =        =       =       =       =       =       working working
PreCompact:auto     idle     =       =       =       =        =       =       =       =       =       =       idle
PostCompact         idle     =       =       =       =        =       =       =       =       =       =       idle
PreModelSwitch      idle     =       =       =       =        =       =       =       =       =       =       idle
PostModelSwitch     idle     =       =       =       =        =       =       =       =       =       =       idle
ConfigChange        idle     =       =       =       =        =       =       =       =       =       =       idle
CwdChanged          idle     =       =       =       =        =       =       =       =       =       =       idle
DirectoryAdded      idle     =       =       =       =        =       =       =       =       =       =       idle
FileChanged         idle     =       =       =       =        =       =       =       =       =       =       idle
WorktreeCreate      idle     =       =       =       =        =       =       =       =       =       =       idle
WorktreeRemove      idle     =       =       =       =        =       =       =       =       =       =       idle
TeammateIdle        idle     =       idle    idle    idle     idle    idle    idle    idle    =       =       idle
Elicitation         wait:e   wait:e  wait:e  wait:e  wait:e   wait:e  wait:e  wait:e  wait:e  wait:e  wait:e  wait:e
ElicitationResult   working  working working working =        =       =       =       working =       =       working
BrainTransplant     idle     =       =       =       =        =       =       =       =       =       =       idle
"""

IN_SUBAGENT = """
on                  starting idle    working tool    question plan    perm    elicit  dialog  text    error   ended
SessionStart        idle     =       =       =       =        =       =       =       =       =       =       idle
SessionEnd          idle     =       =       =       =        =       =       =       =       =       =       idle
SessionEnd:clear    idle     =       =       =       =        =       =       =       =       =       =       idle
Setup               idle     =       =       =       =        =       =       =       =       =       =       idle
InstructionsLoaded  idle     =       =       =       =        =       =       =       =       =       =       idle
UserPromptSubmit    idle     =       =       =       =        =       =       =       =       =       =       idle
UserPromptSubmit:new idle    =       =       =       =        =       =       =       =       =       =       idle
UserPromptSubmit:task idle   =       =       =       =        =       =       =       =       =       =       idle
UserPromptExpansion idle     =       =       =       =        =       =       =       =       =       =       idle
MessageDisplay      idle     =       =       =       =        =       =       =       =       =       =       idle
PreToolUse          working  working working working =        =       =       =       =       =       working working
PreToolUse:ask      wait:q   wait:q  wait:q  wait:q  wait:q   wait:q  wait:q  wait:q  wait:q  wait:q  wait:q  wait:q
PreToolUse:plan     wait:pl  wait:pl wait:pl wait:pl wait:pl  wait:pl wait:pl wait:pl wait:pl wait:pl wait:pl wait:pl
PermissionRequest   wait:p   wait:p  wait:p  wait:p  wait:p   wait:p  wait:p  wait:p  wait:p  wait:p  wait:p  wait:p
PermissionDenied    working  working working working =        =       =       =       =       =       working working
PostToolUse         working  working working working =        =       =       =       =       =       working working
PostToolUseFailure  working  working working working =        =       =       =       =       =       working working
PostToolBatch       working  working working working =        =       =       =       =       =       working working
Notification:perm   wait:p   wait:p  wait:p  wait:p  =        =       =       =       =       =       wait:p  wait:p
Notification:needs  wait:d   wait:d  wait:d  wait:d  =        =       =       =       =       =       wait:d  wait:d
Notification:idle   idle     =       =       =       =        =       =       =       =       =       =       idle
Notification:other  idle     =       =       =       =        =       =       =       =       =       =       idle
SubagentStart       working  working working working =        =       =       =       =       =       working working
SubagentStop        idle     =       =       =       =        =       =       =       =       =       =       idle
TaskCreated         idle     =       =       =       =        =       =       =       =       =       =       idle
TaskCompleted       idle     =       =       =       =        =       =       =       =       =       =       idle
Stop                idle     =       =       =       =        =       =       =       =       =       =       idle
Stop:asks           idle     =       =       =       =        =       =       =       =       =       =       idle
Stop:shell          idle     =       =       =       =        =       =       =       =       =       =       idle
Stop:subagent       idle     =       =       =       =        =       =       =       =       =       =       idle
StopFailure         idle     =       =       =       =        =       =       =       =       =       =       idle
PreCompact          idle     =       =       =       =        =       =       =       =       =       =       idle
PreCompact:auto     idle     =       =       =       =        =       =       =       =       =       =       idle
PostCompact         idle     =       =       =       =        =       =       =       =       =       =       idle
PreModelSwitch      idle     =       =       =       =        =       =       =       =       =       =       idle
PostModelSwitch     idle     =       =       =       =        =       =       =       =       =       =       idle
ConfigChange        idle     =       =       =       =        =       =       =       =       =       =       idle
CwdChanged          idle     =       =       =       =        =       =       =       =       =       =       idle
DirectoryAdded      idle     =       =       =       =        =       =       =       =       =       =       idle
FileChanged         idle     =       =       =       =        =       =       =       =       =       =       idle
WorktreeCreate      idle     =       =       =       =        =       =       =       =       =       =       idle
WorktreeRemove      idle     =       =       =       =        =       =       =       =       =       =       idle
TeammateIdle        idle     =       =       =       =        =       =       =       =       =       =       idle
Elicitation         wait:e   wait:e  wait:e  wait:e  wait:e   wait:e  wait:e  wait:e  wait:e  wait:e  wait:e  wait:e
ElicitationResult   working  working working working =        =       =       =       =       =       working working
BrainTransplant     idle     =       =       =       =        =       =       =       =       =       =       idle
"""

SHORT = {"q": "question", "pl": "plan", "p": "permission", "e": "elicitation", "d": "dialog"}
FROM = TABLE.split("\n")[1].split()[1:]


def cells(table: str) -> list[tuple[str, str, str]]:
    """Every cell: the hook, the state before, the state expected."""
    return [
        (hook, state, expected)
        for hook, *row in map(str.split, table.split("\n")[2:-1])
        for state, expected in zip(FROM, row, strict=True)
    ]


TURN: Payload = {"prompt_id": "p1"}
PAYLOADS: dict[str, Payload] = {
    "SessionStart": {"source": "resume"},
    "SessionEnd": {"reason": "prompt_input_exit"},
    "SessionEnd:clear": {"reason": "clear"},
    "Setup": {"trigger": "init"},
    "InstructionsLoaded": {"file_path": "/home/dev/app/CLAUDE.md", "memory_type": "Project"},
    "UserPromptSubmit": {"prompt": "And the tests", "prompt_id": "p1"},
    "UserPromptSubmit:new": {"prompt": "Something else", "prompt_id": "p9"},
    "UserPromptSubmit:task": {"prompt": task_notification("b1"), "prompt_id": "p1"},
    "UserPromptExpansion": {"command_name": "greet", "prompt": "/greet", "prompt_id": "p1"},
    "MessageDisplay": {"delta": "Hi", "final": True, "prompt_id": "p1"},
    "PreToolUse": bash("other", "pytest"),
    "PreToolUse:ask": question("other", "Which size?"),
    "PreToolUse:plan": plan("other") | {"tool_input": {"plan": "Another plan"}},
    "PermissionRequest": {"tool_name": "Bash", "tool_input": {"command": "pytest"}},
    "PermissionDenied": bash("other", "pytest") | {"reason": "unsafe"},
    "PostToolUse": bash("other", "pytest") | {"tool_response": {"stdout": ""}},
    "PostToolUseFailure": bash("other", "pytest") | {"error": "Exit code 1"},
    "PostToolBatch": batch("other"),
    "Notification:perm": {"notification_type": "permission_prompt", "message": "Claude needs your permission"},
    "Notification:needs": {"notification_type": "agent_needs_input", "message": "Choose"},
    "Notification:idle": {"notification_type": "idle_prompt", "message": "Claude is waiting for your input"},
    "Notification:other": {"notification_type": "auth_success", "message": "Welcome"},
    "SubagentStart": {},
    "SubagentStop": {"agent_transcript_path": "/nowhere.jsonl"},
    "TaskCreated": {"task_id": "1", "task_subject": "Write it"},
    "TaskCompleted": {"task_id": "1", "task_subject": "Write it"},
    "Stop": {"last_assistant_message": "I renamed it.", "background_tasks": []},
    "Stop:asks": {"last_assistant_message": "Shall I delete the old files?", "background_tasks": []},
    "Stop:shell": {"last_assistant_message": "It runs.", "background_tasks": running(shell_id="b1")},
    "Stop:subagent": {"last_assistant_message": "Sent.", "background_tasks": running("sub-9")},
    "StopFailure": {"error": "rate_limit", "last_assistant_message": "API Error"},
    "PreCompact": {"trigger": "manual"},
    "PreCompact:auto": {"trigger": "auto"},
    "PostCompact": {"trigger": "manual", "compact_summary": "short"},
    "PreModelSwitch": {"to_model": "sonnet"},
    "PostModelSwitch": {"to_model": "sonnet"},
    "ConfigChange": {"source": "user_settings"},
    "CwdChanged": {"new_cwd": "/home/dev/app/sub"},
    "DirectoryAdded": {"directory": "/home/dev/other"},
    "FileChanged": {"file_path": "/home/dev/app/a.py", "event": "change"},
    "WorktreeCreate": {"name": "feature"},
    "WorktreeRemove": {"worktree_path": "/home/dev/feature"},
    "TeammateIdle": {"teammate_name": "anna", "team_name": "core"},
    "Elicitation": {"mcp_server_name": "mail", "elicitation_id": "other", "message": "To whom?"},
    "ElicitationResult": {"mcp_server_name": "mail", "elicitation_id": "other", "action": "accept"},
    "BrainTransplant": {"surprise": True},
}


def agent_that_is(state: str) -> Story:
    """Bring an agent into a state, at second 10."""
    story = Story()
    if state == "starting":
        return story
    story.starts(at=1)
    if state == "idle":
        return story
    story.prompted(at=2)
    match state:
        case "tool":
            story.calls("t1", at=10)
        case "question":
            story.hook("PreToolUse", at=10, prompt_id="p1", **question("t1"))
            story.hook("PermissionRequest", at=10.05, prompt_id="p1", **question(None))
        case "plan":
            story.hook("PreToolUse", at=10, prompt_id="p1", **plan("t1"))
            story.hook("PermissionRequest", at=10.05, prompt_id="p1", **plan(None))
        case "perm":
            story.calls("t1", "rm x", at=10, prompt_id="p1")
            story.asks_permission("rm x", at=10.05, prompt_id="p1")
        case "elicit":
            story.hook("Elicitation", at=10, mcp_server_name="tickets", elicitation_id="el-1", message="Which board?")
        case "dialog":
            story.hook("Notification", at=10, notification_type="agent_needs_input", message="Choose")
        case "text":
            story.stops("Shall I delete the old files?", at=10)
        case "error":
            story.hook("StopFailure", at=10, prompt_id="p1", error="server_error", last_assistant_message="API Error")
        case "ended":
            story.hook("SessionEnd", at=10, reason="other")
    return story


def board_of(expected: str, before: tuple[str, str | None]) -> tuple[str, str | None]:
    """The state that a cell of the table means."""
    if expected == "=":
        return before
    state, _, kind = expected.partition(":")
    return ("waiting", SHORT[kind]) if state == "wait" else (state, None)


def test_the_tables_are_complete() -> None:
    """All hooks and an unknown one are in both tables, each with a payload, from twelve states."""
    for table in (TABLE, IN_SUBAGENT):
        rows = [line.split()[0] for line in table.split("\n")[2:-1]]
        assert rows == list(PAYLOADS)
        assert {row.partition(":")[0] for row in rows} == {*HOOKS, "BrainTransplant"}
    assert len(FROM) == 12


@pytest.mark.parametrize(
    ("state", "board"),
    [
        ("starting", ("starting", None)),
        ("idle", ("idle", None)),
        ("working", ("working", None)),
        ("tool", ("working", None)),
        ("question", ("waiting", "question")),
        ("plan", ("waiting", "plan")),
        ("perm", ("waiting", "permission")),
        ("elicit", ("waiting", "elicitation")),
        ("dialog", ("waiting", "dialog")),
        ("text", ("waiting", "question")),
        ("error", ("error", None)),
        ("ended", ("ended", None)),
    ],
)
def test_every_column_starts_in_its_state(state: str, board: tuple[str, str | None]) -> None:
    """The state in the heading of the column."""
    assert agent_that_is(state).board == board


@pytest.mark.parametrize(("hook", "state", "expected"), cells(TABLE))
def test_a_hook_in_a_state(hook: str, state: str, expected: str) -> None:
    """A hook of the main thread leads from each state to the one in the table."""
    story = agent_that_is(state)
    before = story.board
    story.hook(hook.partition(":")[0], at=15, **(TURN | PAYLOADS[hook]))
    assert story.board == board_of(expected, before)
    assert state_of(story.agent) == (story.agent.state, story.agent.waiting_for)


@pytest.mark.parametrize(("hook", "state", "expected"), cells(IN_SUBAGENT))
def test_a_subagents_hook_in_a_state(hook: str, state: str, expected: str) -> None:
    """A hook of a sub-agent leads from each state to the one in the table, and never ends its parent's turn."""
    story = agent_that_is(state)
    before, command = story.board, story.agent.command
    story.hook(hook.partition(":")[0], at=15, **(TURN | PAYLOADS[hook] | in_subagent()))
    assert story.board == board_of(expected, before)
    assert story.agent.command is None or command is None or story.agent.command.id == command.id
