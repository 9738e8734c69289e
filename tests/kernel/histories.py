"""Plausible sessions of Claude Code as lists of hooks, generated with hypothesis from blocks that follow each other.

Each block has the hooks that the real client fires in one situation. `plausible` combines blocks into a history
whose times strictly increase. Unfinished blocks leave something open: they are last, or precede an Esc, which fires
no hook.

Three situations cannot be decoded in every order (`ONLY_IN_ORDER` leaves them out):
- A dialog that only a notification reports. If it arrives while another dialog seems open, it is matched with that one.
- A prompt typed while a tool runs. Only the end of the tool shows that the turn included it. If that arrives after the
  Stop, the prompt seems to run as the next turn, until a newer event arrives.
- A reminder that the client is idle while sub-agents run. It is not known whether the client sends it then.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.facts import Event
from tests.kernel.story import (
    Payload,
    answered,
    bash,
    batch,
    envelope,
    in_subagent,
    plan,
    question,
    running,
    task_notification,
)

Draw = Callable[[st.SearchStrategy[Any]], Any]
Block = Callable[["Session"], None]

STATEMENTS = ("All tests pass now.", "I renamed the module.", "")
QUESTIONS = ("Shall I delete the old files?",)


class Session:
    """A simulated client: its clock, its ids, and what runs in its background."""

    def __init__(self, draw: Draw, *, in_any_order: bool) -> None:
        self.draw = draw
        self.in_any_order = in_any_order
        self.fired: list[tuple[float, str, Payload]] = []
        self.now = 0.0
        self.session_id = "session-1"
        self.prompt_id = ""
        self._numbers: dict[str, int] = {}
        self.subagents: list[str] = []
        self.shells: list[str] = []
        self.earlier_sessions: list[str] = []

    def new(self, kind: str) -> str:
        """A unique id."""
        self._numbers[kind] = self._numbers.get(kind, 0) + 1
        return f"{kind}-{self._numbers[kind]}"

    def one_of(self, blocks: list[Block]) -> Block:
        """A block that is possible now."""
        allowed = [block for block in blocks if not self.in_any_order or block not in ONLY_IN_ORDER]
        chosen: Block = self.draw(st.sampled_from(allowed))
        return chosen

    def flip(self) -> bool:
        """A random boolean."""
        return bool(self.draw(st.booleans()))

    def fire(self, name: str, payload: Payload | None = None, *, after: float = 0.05) -> None:
        """Fire a hook shortly after the previous one."""
        self.now += after
        common: Payload = {"session_id": self.session_id}
        if self.prompt_id:
            common["prompt_id"] = self.prompt_id
        self.fired.append((self.now, name, common | (payload or {})))

    def begin_turn(self) -> None:
        """Give the next turn its id."""
        self.prompt_id = self.new("prompt")

    def listed(self) -> list[Payload]:
        """What a Stop lists as still running."""
        return [task for sub in self.subagents for task in running(subagent_id=sub)] + [
            task for shell in self.shells for task in running(shell_id=shell)
        ]


# --- steps of a turn --------------------------------------------------------------------------------------------------


def tool(session: Session, **thread: Any) -> None:
    """A shell command that is allowed. The end of the step may be reported or not."""
    call = session.new("call")
    session.fire("PreToolUse", bash(call, call) | thread, after=2.0)
    session.fire("PostToolUse", bash(call, call) | thread, after=0.5)
    if session.flip():
        session.fire("PostToolBatch", batch(call) | thread)


def failing_tool(session: Session) -> None:
    """A shell command that fails."""
    call = session.new("call")
    session.fire("PreToolUse", bash(call, call), after=2.0)
    session.fire("PostToolUseFailure", bash(call, call) | {"error": "Exit code 1"}, after=0.5)
    session.fire("PostToolBatch", batch(call))


def parallel_tools(session: Session) -> None:
    """Commands of one step start together and end in any order."""
    calls = [session.new("call") for _ in range(3)]
    for number, call in enumerate(calls):
        session.fire("PreToolUse", bash(call, call), after=0.01 if number else 2.0)
    for call in session.draw(st.permutations(calls)):
        session.fire("PostToolUse", bash(call, call), after=0.5)
    session.fire("PostToolBatch", batch(*calls))


def permission(session: Session, **thread: Any) -> None:
    """A dialog for a command: approved, denied with a reason (only the end of the step shows it), or reported late."""
    call = session.new("call")
    asked = {"tool_name": "Bash", "tool_input": {"command": call}}
    session.fire("PreToolUse", bash(call, call) | thread, after=2.0)
    session.fire("PermissionRequest", asked | thread)
    if session.flip():
        session.fire("Notification", {"notification_type": "permission_prompt", "message": "Claude needs you"}, after=6)
    approved = session.flip()
    if approved:
        session.fire("PostToolUse", bash(call, call) | thread, after=1.0)
    if not approved or session.flip():
        session.fire("PostToolBatch", batch(call) | thread, after=0.2)


def refusal(session: Session) -> None:
    """Auto mode refuses a command."""
    call = session.new("call")
    session.fire("PreToolUse", bash(call, call), after=2.0)
    session.fire("PermissionDenied", bash(call, call) | {"reason": "not safe"})
    session.fire("PostToolBatch", batch(call))


def asked_question(session: Session) -> None:
    """A question with options that is answered, sometimes with a parallel command that ends first."""
    call, beside = session.new("call"), session.new("call") if session.flip() else ""
    if beside:
        session.fire("PreToolUse", bash(beside, beside), after=2.0)
    session.fire("PreToolUse", question(call, call), after=0.01 if beside else 2.0)
    session.fire("PermissionRequest", question(None, call))
    if beside:
        session.fire("PostToolUse", bash(beside, beside), after=0.3)
    if session.flip():
        session.fire("Notification", {"notification_type": "permission_prompt", "message": "Claude needs you"}, after=6)
    session.fire("PostToolUse", answered(call, call), after=3.0)
    session.fire("PostToolBatch", batch(call))


def approved_plan(session: Session) -> None:
    """A plan that is approved; the client reports an empty input."""
    call = session.new("call")
    session.fire("PreToolUse", plan(call), after=2.0)
    session.fire("PermissionRequest", plan(None))
    session.fire("PostToolUse", plan(call) | {"tool_input": {}}, after=3.0)
    session.fire("PostToolBatch", batch(call))


def elicitation(session: Session) -> None:
    """An MCP server asks during a call."""
    call, asked = session.new("call"), {"mcp_server_name": "tickets", "message": "Which board?"}
    session.fire("PreToolUse", bash(call, call), after=2.0)
    session.fire("Elicitation", asked)
    session.fire("ElicitationResult", asked | {"action": "accept"}, after=2.0)
    session.fire("PostToolUse", bash(call, call))
    session.fire("PostToolBatch", batch(call))


def unexplained_dialog(session: Session) -> None:
    """A dialog that only a notification reports."""
    call = session.new("call")
    session.fire("PreToolUse", bash(call, call), after=2.0)
    session.fire("Notification", {"notification_type": "agent_needs_input", "message": "Choose"}, after=6.0)
    session.fire("PostToolUse", bash(call, call), after=2.0)
    session.fire("PostToolBatch", batch(call))


def foreground_subagent(session: Session) -> None:
    """A sub-agent that the turn waits for."""
    call, sub = session.new("call"), session.new("sub")
    session.fire("PreToolUse", bash(call, call) | {"tool_name": "Agent"}, after=2.0)
    session.fire("SubagentStart", in_subagent(sub))
    if session.flip():
        session.draw(st.sampled_from([tool, permission]))(session, **in_subagent(sub))
    session.fire("SubagentStop", in_subagent(sub) | {"background_tasks": running(subagent_id=sub)})
    session.fire("PostToolUse", bash(call, call) | {"tool_name": "Agent", "tool_response": {"status": "completed"}})
    session.fire("PostToolBatch", batch(call))


def background_subagent(session: Session) -> None:
    """A sub-agent that outlives the step."""
    call, sub = session.new("call"), session.new("sub")
    response = {"tool_response": {"status": "async_launched", "agentId": sub}}
    session.fire("PreToolUse", bash(call, call) | {"tool_name": "Agent"}, after=2.0)
    launched = [
        ("SubagentStart", in_subagent(sub)),
        ("PostToolUse", bash(call, call) | {"tool_name": "Agent"} | response),
    ]
    for name, payload in session.draw(st.permutations(launched)):
        session.fire(name, payload)
    session.fire("PostToolBatch", batch(call))
    session.subagents.append(sub)


def background_shell(session: Session) -> None:
    """A command that outlives the step."""
    call, shell = session.new("call"), session.new("shell")
    session.fire("PreToolUse", bash(call, call), after=2.0)
    session.fire("PostToolUse", bash(call, call) | {"tool_response": {"backgroundTaskId": shell}})
    session.fire("PostToolBatch", batch(call))
    session.shells.append(shell)


def subagent_works(session: Session) -> None:
    """A sub-agent in the background calls a tool or asks for permission."""
    if session.subagents:
        sub = session.draw(st.sampled_from(session.subagents))
        session.draw(st.sampled_from([tool, permission]))(session, **in_subagent(sub))


def subagent_ends(session: Session) -> None:
    """A background sub-agent ends while the turn continues."""
    if session.subagents:
        sub = session.subagents.pop()
        session.fire("SubagentStop", in_subagent(sub) | {"background_tasks": running(subagent_id=sub)}, after=1.0)


def queued_prompt(session: Session) -> None:
    """A prompt typed while a tool runs: reported immediately, included when the tool ends."""
    call = session.new("call")
    session.fire("PreToolUse", bash(call, call), after=2.0)
    session.fire("UserPromptSubmit", {"prompt": f"and {call} too"}, after=1.0)
    session.fire("PostToolUse", bash(call, call), after=1.0)


def auto_compaction(session: Session) -> None:
    """The client compacts automatically. A stop without a type belongs to no sub-agent."""
    session.fire("PreCompact", {"trigger": "auto"}, after=1.0)
    if session.flip():
        session.fire("SubagentStop", {"agent_id": session.new("nobody"), "agent_type": ""}, after=1.0)
        session.fire("SessionStart", {"source": "compact"})
        session.fire("PostCompact", {"trigger": "auto"})


def unrelated_hooks(session: Session) -> None:
    """Hooks without information about the turn."""
    session.fire(
        session.draw(st.sampled_from(["ConfigChange", "InstructionsLoaded", "TaskCreated", "CwdChanged", "NewHook"])),
        {"task_id": "1", "new_cwd": "/home/dev/app/sub"},
        after=1.0,
    )


STEPS: list[Block] = [
    tool,
    failing_tool,
    parallel_tools,
    permission,
    refusal,
    asked_question,
    approved_plan,
    elicitation,
    unexplained_dialog,
    foreground_subagent,
    background_subagent,
    background_shell,
    subagent_works,
    subagent_ends,
    queued_prompt,
    auto_compaction,
    unrelated_hooks,
]


# --- turns ------------------------------------------------------------------------------------------------------------


def prompted(session: Session) -> None:
    """A turn starts with a prompt."""
    session.begin_turn()
    session.fire("UserPromptSubmit", {"prompt": f"Please do {session.prompt_id}"}, after=3.0)


def steps(session: Session) -> None:
    """The steps of a turn."""
    for _ in range(session.draw(st.integers(0, 3))):
        session.one_of(STEPS)(session)


def stop(session: Session) -> None:
    """A turn ends with a statement or a question."""
    message = session.draw(st.sampled_from(STATEMENTS + QUESTIONS))
    session.fire("Stop", {"last_assistant_message": message, "background_tasks": session.listed()}, after=2.0)


def plain_turn(session: Session) -> None:
    """From the prompt to its Stop. Background work is reported in separate turns."""
    prompted(session)
    steps(session)
    stop(session)
    while session.subagents or (session.shells and session.flip()):
        if session.flip():
            subagent_works(session)
        task_notification_turn(session)


def task_notification_turn(session: Session) -> None:
    """Background work ends and the client informs the model, in a turn without a prompt."""
    if session.subagents:
        task = session.subagents.pop()
        session.fire("SubagentStop", in_subagent(task) | {"background_tasks": running(subagent_id=task)}, after=2.0)
    else:
        task = session.shells.pop()
    session.begin_turn()
    session.fire("UserPromptSubmit", {"prompt": task_notification(task)}, after=0.1)
    if session.flip():
        tool(session)
    stop(session)


def failed_turn(session: Session) -> None:
    """A turn ends in an API error."""
    prompted(session)
    steps(session)
    session.fire("StopFailure", {"error": "rate_limit", "last_assistant_message": "API Error"}, after=2.0)


def shell_turn(session: Session) -> None:
    """A `!` command: no hook reports the start of the turn."""
    session.begin_turn()
    session.fire("Stop", {"last_assistant_message": "It printed 42.", "background_tasks": session.listed()}, after=3.0)


def queued_turn(session: Session) -> None:
    """A prompt typed while the last text streams: it runs as a separate turn whose start no hook reports."""
    prompted(session)
    steps(session)
    session.fire("UserPromptSubmit", {"prompt": f"and then {session.prompt_id}"}, after=1.0)
    stop(session)
    session.begin_turn()
    if session.flip():
        tool(session)
    stop(session)


def dismissed_turn(session: Session) -> None:
    """Esc at a dialog or in a tool fires no hook; the next event belongs to another turn."""
    prompted(session)
    steps(session)
    session.one_of(UNFINISHED_STEPS)(session)
    prompted(session)
    stop(session)


TURNS: list[Block] = [plain_turn, failed_turn, shell_turn, queued_turn, dismissed_turn]


# --- between turns ----------------------------------------------------------------------------------------------------


def manual_compaction(session: Session) -> None:
    """`/compact`."""
    session.fire("PreCompact", {"trigger": "manual"}, after=2.0)
    session.fire("SubagentStop", {"agent_id": session.new("nobody"), "agent_type": ""}, after=1.0)
    session.fire("SessionStart", {"source": "compact"})
    session.fire("PostCompact", {"trigger": "manual"})


def clear(session: Session) -> None:
    """`/clear`: the same client with a new session."""
    session.fire("SessionEnd", {"reason": "clear"}, after=2.0)
    session.earlier_sessions.append(session.session_id)
    session.session_id, session.prompt_id = session.new("session-of-clear"), ""
    session.subagents.clear()
    session.fire("SessionStart", {"source": "clear"})


def resume_inside(session: Session) -> None:
    """`/resume`: the same client continues another session, maybe an earlier one of its own."""
    session.fire("SessionEnd", {"reason": "resume"}, after=2.0)
    known = session.draw(st.sampled_from([*session.earlier_sessions, session.new("session-of-resume")]))
    session.earlier_sessions.append(session.session_id)
    session.session_id, session.prompt_id = known, ""
    session.subagents.clear()
    session.fire("SessionStart", {"source": "resume"})


def restart(session: Session) -> None:
    """`/exit`, and later `--continue` with the same session."""
    exits(session)
    session.fire("SessionStart", {"source": "resume"}, after=60.0)


def idle_reminder(session: Session) -> None:
    """The reminder after a minute of idle time."""
    if not (session.in_any_order and session.subagents):
        session.fire("Notification", {"notification_type": "idle_prompt", "message": "Claude is waiting"}, after=60.0)


BETWEEN: list[Block] = [manual_compaction, clear, resume_inside, restart, idle_reminder, unrelated_hooks]


# --- last things ------------------------------------------------------------------------------------------------------


def exits(session: Session) -> None:
    """The client ends."""
    session.fire("SessionEnd", {"reason": "prompt_input_exit"}, after=2.0)
    session.prompt_id = ""
    session.subagents.clear()
    session.shells.clear()


def tool_runs(session: Session) -> None:
    """A command is running, sometimes beside a finished one."""
    calls = [session.new("call") for _ in range(2)]
    for number, call in enumerate(calls):
        session.fire("PreToolUse", bash(call, call), after=0.01 if number else 2.0)
    if session.flip():
        session.fire("PostToolUse", bash(calls[0], calls[0]), after=0.5)


def permission_open(session: Session, **thread: Any) -> None:
    """A permission dialog is open."""
    call = session.new("call")
    session.fire("PreToolUse", bash(call, call) | thread, after=2.0)
    session.fire("PermissionRequest", {"tool_name": "Bash", "tool_input": {"command": call}} | thread)
    if session.flip():
        session.fire("Notification", {"notification_type": "permission_prompt", "message": "Claude needs you"}, after=6)


def question_open(session: Session) -> None:
    """A question is open; a parallel command has ended."""
    call, beside = session.new("call"), session.new("call")
    session.fire("PreToolUse", bash(beside, beside), after=2.0)
    session.fire("PreToolUse", question(call, call), after=0.01)
    session.fire("PermissionRequest", question(None, call))
    session.fire("PostToolUse", bash(beside, beside), after=0.3)
    if session.flip():
        session.fire("Notification", {"notification_type": "permission_prompt", "message": "Claude needs you"}, after=6)


def plan_open(session: Session) -> None:
    """A plan waits for approval."""
    call = session.new("call")
    session.fire("PreToolUse", plan(call), after=2.0)
    session.fire("PermissionRequest", plan(None))


def elicitation_open(session: Session) -> None:
    """An MCP server waits for its answer."""
    call = session.new("call")
    session.fire("PreToolUse", bash(call, call), after=2.0)
    session.fire("Elicitation", {"mcp_server_name": "tickets", "message": "Which board?"})


def dialog_open(session: Session) -> None:
    """A dialog is open that only a notification reported."""
    call = session.new("call")
    session.fire("PreToolUse", bash(call, call), after=2.0)
    session.fire("Notification", {"notification_type": "agent_needs_input", "message": "Choose"}, after=6.0)


UNFINISHED_STEPS: list[Block] = [
    tool_runs,
    permission_open,
    question_open,
    plan_open,
    elicitation_open,
    dialog_open,
]


def unfinished_turn(session: Session) -> None:
    """The history ends in the middle of a turn."""
    prompted(session)
    steps(session)
    if session.flip():
        session.one_of(UNFINISHED_STEPS)(session)


def subagent_runs(session: Session) -> None:
    """The turn has ended, and a sub-agent still runs and may ask for permission."""
    prompted(session)
    background_subagent(session)
    stop(session)
    if session.flip():
        permission_open(session, **in_subagent(session.subagents[-1]))


LAST: list[Block] = [unfinished_turn, subagent_runs, exits, manual_compaction, idle_reminder]


ONLY_IN_ORDER: list[Block] = [unexplained_dialog, dialog_open, queued_prompt]


@st.composite
def plausible(draw: Draw, *, in_any_order: bool = False, most: int = 3) -> list[Event]:
    """The hooks of one session, decoded, in the order in which they fired."""
    session = Session(draw, in_any_order=in_any_order)
    session.fire("SessionStart", {"source": "startup", "model": "claude-opus-5-5"})
    for _ in range(draw(st.integers(0, most - 1))):
        session.one_of(TURNS + BETWEEN)(session)
    session.one_of(TURNS + BETWEEN + LAST)(session)
    return [decode(envelope(name, seconds, payload)) for seconds, name, payload in session.fired]
