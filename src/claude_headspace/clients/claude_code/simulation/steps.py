"""What can happen in a simulated session, besides tool calls and pauses. A scenario is a list of steps.

session.play([prompt("Fix the login."), read("src/login.py"), done("Fixed."), Pause(60)])
"""

from collections.abc import Callable, Generator
from functools import wraps
from typing import Concatenate, NamedTuple, ParamSpec

from claude_headspace.clients.claude_code.simulation.payloads import Json, running_task, task_notification
from claude_headspace.clients.claude_code.simulation.session import SimulatedSession, Step
from claude_headspace.clients.claude_code.simulation.tool_calls import ToolCall
from claude_headspace.clients.simulation import Events, Reply, ScheduledEvent

Parameters = ParamSpec("Parameters")


def step(function: Callable[Concatenate[SimulatedSession, Parameters], Events]) -> Callable[Parameters, Step]:
    """Make `f(session, …)` a step: then `f(…)` returns a function that runs it on a session later."""

    @wraps(function)
    def configure(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Step:
        return lambda session: function(session, *args, **kwargs)

    return configure


# --- turns ---


@step
def start(session: SimulatedSession) -> Events:
    """The client starts."""
    yield from session.fire("SessionStart", source="startup", model=session.profile.model)
    session.work(5)


@step
def prompt(session: SimulatedSession, text: str) -> Events:
    """The user submits a prompt: a turn starts."""
    yield from session.start_turn(text, is_typed=True)


@step
def say(session: SimulatedSession, text: str) -> Events:
    """The agent writes a text between calls. Only the transcript has it. `{answer}` is the last answer of the user."""
    line = session.assistant_line(text.replace("{answer}", session.last_answer), "tool_use")
    yield from session.send(ScheduledEvent(at=session.now, lines=(line,)))
    session.work(4)


@step
def done(session: SimulatedSession, text: str) -> Events:
    """The turn ends."""
    yield from session.end_turn(text.replace("{answer}", session.last_answer))
    yield from session.report_status()


@step
def fail(session: SimulatedSession, error: str, text: str) -> Events:
    """The turn ends in an API error."""
    yield from session.fire("StopFailure", error=error, last_assistant_message=text)


@step
def interrupt(session: SimulatedSession) -> Events:
    """The user presses Esc. No hook reports it, only the transcript."""
    line = session.user_line([{"type": "text", "text": "[Request interrupted by user for tool use]"}])
    yield from session.send(ScheduledEvent(at=session.now, lines=(line,)))


@step
def leave(session: SimulatedSession) -> Events:
    """The user closes the client."""
    yield from session.fire("SessionEnd", reason="prompt_input_exit")


@step
def compact(session: SimulatedSession, seconds: float) -> Events:
    """The user compacts the context."""
    yield from session.fire("PreCompact", trigger="manual", custom_instructions=None)
    before, session.tokens = round(session.tokens), 22_000.0
    session.work(seconds)
    summary = "The decisions so far, and the remaining work."
    stop: Json = {"stop_hook_active": False, "last_assistant_message": summary, "background_tasks": []}
    yield from session.fire("SubagentStop", agent_id=session.new_id("a"), agent_type="", **stop)
    metadata = {"trigger": "manual", "preTokens": before, "postTokens": round(session.tokens)}
    line = session.line("system", subtype="compact_boundary", compactMetadata=metadata)
    yield from session.fire("SessionStart", line, source="compact", model=session.profile.model)
    yield from session.fire("PostCompact", trigger="manual", compact_summary=summary)
    yield from session.report_status()


# --- dialogs: answered in the terminal after some seconds, unless a person answers through Headspace before ---


@step
def permission(session: SimulatedSession, call: ToolCall, seconds: float) -> Events:
    """A tool call that needs permission."""
    rule = {"toolName": call.tool, "ruleContent": str(call.input.get("command", "")).split(" ", maxsplit=1)[0]}
    suggestion = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"}
    if (yield from _ask(session, "permission", call, seconds, permission_suggestions=[suggestion])):
        session.work(call.seconds)
        yield from session.finish_call(call)
        session.work(2)


@step
def question(session: SimulatedSession, text: str, header: str, options: dict[str, str], seconds: float) -> Events:
    """A question with options. The first option is the answer in the terminal."""
    listed = [{"label": label, "description": description} for label, description in options.items()]
    asked = {"question": text, "header": header, "options": listed, "multiSelect": False}
    call = ToolCall("AskUserQuestion", {"questions": [asked]})
    if reply := (yield from _ask(session, "question", call, seconds)):
        answers = reply.decision.get("updatedInput", {}).get("answers") or {text: next(iter(options))}
        session.last_answer = next(iter(answers.values()))
        answered = {**call.input, "answers": answers, "annotations": {}}
        yield from session.finish_call(ToolCall(call.tool, answered, answered, 0.1))
        session.work(2)


@step
def plan(session: SimulatedSession, text: str, seconds: float) -> Events:
    """A plan that needs approval."""
    session.permission_mode = "plan"
    call = ToolCall("ExitPlanMode", {"plan": text}, {"plan": text, "isAgent": False}, 0.1)
    if (yield from _ask(session, "plan", call, seconds)):
        session.permission_mode = "acceptEdits"
        yield from session.finish_call(call)
        session.work(3)


def _ask(
    session: SimulatedSession, dialog: str, call: ToolCall, seconds: float, **fields: object
) -> Generator[ScheduledEvent, Reply, Reply | None]:
    """Start a call and show its dialog. None if the call was denied: then the turn ends."""
    if not (yield from session.start_call(call)):
        return None
    session.now += 0.05
    request = session.call_fields(call) | fields
    del request["tool_use_id"]
    payload = session.payload("PermissionRequest", **request)
    answered_at = session.now + session.vary(seconds)
    event = ScheduledEvent(
        at=session.now, hook="PermissionRequest", payload=payload, dialog=dialog, is_held=True, answered_at=answered_at
    )
    reply = yield from session.send(event)
    if not reply.is_denied:
        return reply
    session.now += 0.2
    yield from session.reject_call(call, str(reply.decision.get("message") or "The user denied it."))
    session.work(3)
    yield from session.end_turn("Understood, I will not do that. How would you like to continue?")
    yield from session.report_status()
    session.turn_denied = True
    return None


# --- background work and to-do lists ---


class Subagent(NamedTuple):
    """A sub-agent: its task, its calls, and its report."""

    kind: str
    description: str
    report: str
    calls: tuple[ToolCall, ...]


@step
def delegate(session: SimulatedSession, *subagents: Subagent) -> Events:
    """Sub-agents work in parallel in the background. The turn ends, and each report starts another one."""
    running = {session.new_id("a"): subagent for subagent in subagents}
    for agent_id, subagent in running.items():
        yield from _start_subagent(session, agent_id, subagent)
    yield from session.end_turn("The sub-agents are running.", _running_tasks(running))
    for number in range(max(len(subagent.calls) for subagent in subagents)):
        for agent_id, subagent in running.items():
            for call in subagent.calls[number : number + 1]:
                yield from session.run_call(call, agent_id=agent_id, agent_type=subagent.kind)
    for agent_id, subagent in list(running.items()):
        yield from _stop_subagent(session, agent_id, subagent, _running_tasks(running))
        del running[agent_id]
        if running:
            yield from session.end_turn(subagent.report, _running_tasks(running))
        session.work(6)


def _start_subagent(session: SimulatedSession, agent_id: str, subagent: Subagent) -> Events:
    task = subagent.description
    fields = {"description": task, "prompt": task, "subagent_type": subagent.kind}
    result = {"isAsync": True, "status": "async_launched", "agentId": agent_id, "description": task}
    call = ToolCall("Agent", fields, result, 0.1)
    yield from session.start_call(call)
    session.now += 0.1
    yield from session.fire("SubagentStart", agent_id=agent_id, agent_type=subagent.kind)
    yield from session.finish_call(call)
    session.work(1)


def _stop_subagent(session: SimulatedSession, agent_id: str, subagent: Subagent, running: list[Json]) -> Events:
    stop = {"stop_hook_active": False, "last_assistant_message": subagent.report, "background_tasks": running}
    yield from session.fire("SubagentStop", agent_id=agent_id, agent_type=subagent.kind, **stop)
    session.now += 0.2
    notification = task_notification(agent_id, f'Agent "{subagent.description}" completed')
    yield from session.start_turn(notification, is_typed=False)


def _running_tasks(running: dict[str, Subagent]) -> list[Json]:
    return [
        running_task(agent_id, "subagent", subagent.description, agent_type=subagent.kind)
        for agent_id, subagent in running.items()
    ]


@step
def start_shell(session: SimulatedSession, command: str, name: str) -> Events:
    """A shell command starts in the background and continues after the turn."""
    task_id = session.new_id("b")
    session.shells[task_id] = name
    fields = {"command": command, "description": name, "run_in_background": True}
    yield from session.run_call(
        ToolCall("Bash", fields, {"stdout": "", "stderr": "", "backgroundTaskId": task_id}, 0.3)
    )


@step
def finish_shell(session: SimulatedSession, name: str) -> Events:
    """A background shell ends. The notification starts a turn."""
    task_id = next(task_id for task_id, each in session.shells.items() if each == name)
    del session.shells[task_id]
    summary = f'Background command "{name}" completed (exit code 0)'
    yield from session.start_turn(task_notification(task_id, summary), is_typed=False)


@step
def add_todos(session: SimulatedSession, *subjects: str) -> Events:
    """Entries are added to the to-do list."""
    for subject in subjects:
        task_id = str(next(session.todo_ids))
        session.todos.append((task_id, subject))
        yield from session.fire("TaskCreated", task_id=task_id, task_subject=subject, task_description=subject)
        session.now += 0.2


@step
def finish_todo(session: SimulatedSession) -> Events:
    """The first open entry of the to-do list is done."""
    task_id, subject = session.todos.pop(0)
    yield from session.fire("TaskCompleted", task_id=task_id, task_subject=subject, task_description=subject)
