"""The texts and symbols of agents and components, the same on every surface. Pure."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from claude_headspace.clients.tools import FILE_KINDS, find_tool, permission_verb
from claude_headspace.kernel.text import count
from claude_headspace.kernel.wait.request_text import arguments_text
from claude_headspace.surfaces.text.clients import clients_without_guards
from claude_headspace.surfaces.text.formatting import (
    Json,
    ago,
    clock_time,
    cut,
    dollars,
    duration,
    one_line,
    parse_timestamp,
)

SHAPES = {"waiting": "◆", "error": "✕", "working": "●", "idle": "○", "starting": "◌", "ended": "–"}
"""The symbols of states, in the order of the board: agents that need a person first."""

UNKNOWN_SHAPE = "?"

# --- agents ----------------------------------------------------------------------------------------------------------

WAIT_KINDS = {
    "question": "an answer",
    "elicitation": "an answer",
    "plan": "plan approval",
    "permission": "permission",
    "dialog": "input in its terminal",
}
"""What an agent waits for, by kind of wait."""


SILENT_START_SECONDS = 15.0
"""A client that starts reports earlier than this, unless it asks something first."""

MAY_ASK = "its terminal may show a question"


def shape(state: str) -> str:
    """The symbol of a state."""
    return SHAPES.get(state, UNKNOWN_SHAPE)


def summary(agent: Json, now: datetime | None) -> str:
    """What an agent does, in a few words. With `now` also how long ago it finished."""
    match agent.get("state"):
        case "waiting":
            return _waiting(agent)
        case "error":
            return f"stopped: {(agent.get('error') or 'unknown error').replace('_', ' ')}"
        case "working":
            return _working(agent)
        case "idle":
            return _idle(agent, now)
        case "ended":
            return _when("ended", agent.get("ended_at"), now)
        case "starting":
            return _starting(agent, now)
        case other:
            return str(other or "unknown")


def activity(agent: Json, now: datetime | None) -> str:
    """What an agent does, with its note. If it needs a person, without the note."""
    words, note = summary(agent, now), agent.get("note")
    if not note or agent.get("state") not in ("working", "idle", "starting"):
        return words
    return f"{words} · {one_line(note['text'])}"


def note_text(agent: Json, now: datetime) -> str:
    """The note of an agent and its age."""
    note = agent.get("note")
    return f"{one_line(note['text'])} ({ago(note['at'], now)})" if note else ""


def badges(agent: Json) -> list[str]:
    """Badges of an agent: its mode on a mission, the number of finished workers, and its pending prompts."""
    news = len(agent.get("news") or ())
    prompts = agent.get("pending_prompts") or ()
    failed = sum(1 for prompt in prompts if prompt["status"] == "failed")
    waiting = len(prompts) - failed
    return [
        *([agent["mode"]] if agent.get("mission") and agent.get("mode") else []),
        *([f"{count(news, 'worker')} finished"] if news else []),
        *([f"{count(waiting, 'prompt')} pending"] if waiting else []),
        *([f"{count(failed, 'prompt')} not sent"] if failed else []),
    ]


def summary_has_time(agent: Json) -> bool:
    """Whether the summary contains a time."""
    return agent.get("state") == "ended" or (agent.get("state") == "idle" and _is_done(agent))


def state_text(state: str, waiting_for: str | None) -> str:
    """A state in a sentence: "waiting for an answer"."""
    return f"waiting for {WAIT_KINDS.get(waiting_for or '', 'input')}" if state == "waiting" else state


def _waiting(agent: Json) -> str:
    waits: Sequence[Json] = agent.get("waits") or ()
    if not waits:
        return state_text("waiting", agent.get("waiting_for"))
    more = f" (and {len(waits) - 1} more)" if len(waits) > 1 else ""
    return wait_text(first_wait(waits)) + more


def first_wait(waits: Sequence[Json]) -> Json:
    """The wait that every surface names first: the oldest without an answer, as clients show their dialogs.

    One that can be answered is named before one that cannot: several hooks at once may arrive in another order than
    that of the dialogs on the screen.
    """
    unanswered = [wait for wait in waits if not wait.get("answered")] or waits
    return next((wait for wait in unanswered if wait.get("held_until")), unanswered[0])


def wait_text(wait: Json) -> str:
    """What an agent wants from a person."""
    text, tool = one_line(wait["text"]), wait.get("tool") or ""
    match wait["kind"]:
        case "permission":
            about = _about(tool, wait.get("summary") or "")
            verb = f"wants to {permission_verb(tool) or f'use {tool}'}" if tool else "asks"
            about = about or text
            if tool and about == tool:
                return verb
            return f"{verb}: {about}" if about else "asks for permission"
        case "plan":
            return f"wants to {verb}" if (verb := permission_verb(tool)) else "has a plan"
        case "dialog":
            return f"shows a dialog: {text}" if text else "shows a dialog"
        case _:
            return f"asks: {_question(wait)}" if text else "asks a question"


def answer_result(agent: str, wait: Json, answer: Json) -> str:
    """What was answered, with the labels of the options: "Allowed: calm-otter wants to run: npm test"."""
    if answers := answer.get("answers"):
        return f"Answered {agent}: {'; '.join(f'{one_line(name)} {_given(given)}' for name, given in answers.items())}"
    done = _ANSWERED[answer.get("action") or answer.get("decision") or ""]
    reason = f" Message: {one_line(answer['message'])}" if answer.get("message") else ""
    if wait["kind"] == "plan":
        return f"{'Denied' if done == 'Denied' else 'Approved'} the plan of {agent}.{reason}"
    if answer.get("input") is not None:
        given = one_line(arguments_text(answer["input"])) or "no arguments"
        return f"{done} with a changed input: {cut(given, MAX_INPUT)}. Originally {agent} {wait_text(wait)}"
    return f"{done}: {agent} {wait_text(wait)}{reason and f'.{reason}'}"


MAX_INPUT = 300
"""Characters of a changed input in the result of an answer."""

_ANSWERED = {
    "allow": "Allowed",
    "deny": "Denied",
    "accept": "Accepted",
    "decline": "Declined",
    "cancel": "Cancelled",
    "": "Answered",
}


def _given(given: str | Sequence[str]) -> str:
    return f"“{given if isinstance(given, str) else ', '.join(given)}”"


def _question(wait: Json) -> str:
    """The question to answer; for a message that ends with a question, its last sentence."""
    if wait.get("questions") or wait.get("tool"):
        return one_line(wait["text"])
    last_line = wait["text"].rstrip().rpartition("\n")[2].strip()
    return re.split(r"(?<=[.!?:])\s+", last_line)[-1]


def _working(agent: Json) -> str:
    subagents: Sequence[Json] = agent.get("subagents") or ()
    if tool := agent.get("tool"):
        return tool_text(tool)
    if len(subagents) > 1:
        return f"{len(subagents)} sub-agents working"
    if subagents:
        return f"sub-agent: {subagent_text(subagents[0])}"
    command = agent.get("command") or {}
    text = one_line(command.get("text") or "") if command.get("ended_at") is None else ""
    return f"working: {text}" if text else "working"


def subagent_text(subagent: Json) -> str:
    """What a sub-agent does."""
    kind = subagent.get("type") or "sub-agent"
    if subagent.get("tool"):
        return f"{kind}, {tool_text(subagent['tool'])}"
    return f"{kind}, {one_line(subagent['description'])}" if subagent.get("description") else str(kind)


def tool_text(tool: Json) -> str:
    """The tool in flight: "editing auth.py", or the tool with its main input."""
    name, about = tool["name"], _about(tool["name"], tool.get("summary") or "")
    if about and (doing := find_tool(name).doing):
        return f"{doing} {about}"
    return f"{name}: {about}" if about else str(name)


def _about(tool: str, text: str) -> str:
    """What a tool call is about; for a file only its name, unless its path has unusual characters."""
    is_plain_path = find_tool(tool).kind in FILE_KINDS and text.isprintable() and " " not in text
    return text.rstrip("/").rpartition("/")[2] if is_plain_path else one_line(text)


def _is_done(agent: Json) -> bool:
    """Whether the agent finished a command in this session and has no background tasks."""
    ended = (agent.get("command") or {}).get("ended_at")
    if not ended or agent.get("background_tasks"):
        return False
    session = agent.get("session")
    return session is None or parse_timestamp(session["started_at"]) <= parse_timestamp(ended)


def _idle(agent: Json, now: datetime | None) -> str:
    if tasks := agent.get("background_tasks"):
        kind = "shell" if all(task["kind"] == "shell" for task in tasks) else "task"
        return f"idle, {count(len(tasks), kind)} running"
    if not _is_done(agent):
        return "idle"
    command = agent["command"]
    word = "done" if command.get("outcome") in (None, "completed") else command["outcome"]
    return _when(word, command["ended_at"], now)


def _starting(agent: Json, now: datetime | None) -> str:
    supervision = agent.get("supervision") or {}
    if supervision.get("under_way"):
        return f"restarting: {supervision['reason']}"
    return f"starting: {MAY_ASK}" if now is not None and may_ask_at_start(agent, now) else "starting"


def may_ask_at_start(agent: Json, now: datetime) -> bool:
    """Whether a client has been silent for so long that its terminal may show a question, such as to trust a folder."""
    if agent["state"] != "starting" or not (agent.get("tmux") or {}).get("pane"):
        return False
    silent = now - parse_timestamp(agent["state_since"])
    return silent.total_seconds() >= SILENT_START_SECONDS


def effort_text(effort: Json | None) -> str:
    """An effort by its name: "fix #2, phase look"."""
    if not effort:
        return ""
    return f"{effort['skill']} #{effort['ordinal']}" + (f", phase {effort['phase']}" if effort["phase"] else "")


def supervision_text(agent: Json, now: datetime) -> str:
    """How often a supervised client was restarted, when and why."""
    found = agent.get("supervision")
    if not found:
        return ""
    often = f"restarted {count(found['restarts'], 'time')}" if found["restarts"] else "not restarted yet"
    condition = "" if agent.get("effort") or found["ended"] else "; restarts need an effort"
    last = f", {ago(found['restarted_at'], now)}: {found['reason']}" if found["restarted_at"] else ""
    end = f"; supervision ended: {found['ended']}" if found["ended"] else ""
    return f"{often}{last}{end}{condition}"


def _when(word: str, time: str | None, now: datetime | None) -> str:
    return f"{word} {ago(time, now)}" if time and now else word


_INTERRUPTED = {
    "confirmed": "{agent} was interrupted. It is {state}.",
    "pressed": "Esc was pressed, but {agent} is still {state}.",
}


def interrupt_result(done: Json) -> str:
    """The result of an interrupt."""
    return _INTERRUPTED.get(done["status"], "{agent} is {state}.").format(agent=done["agent"], state=done["state"])


_STOPPED = {
    "exited": "{agent} has ended.",
    "terminated": "{agent} has ended, after SIGTERM.",
    "killed": "{agent} was killed: it did not end by itself.",
}


def stop_result(done: Json) -> str:
    """The result of stopping an agent."""
    return _STOPPED.get(done["status"], "{agent} is {state}.").format(agent=done["agent"], state=done["state"])


_SENT = {
    "confirmed": "{agent} received the prompt.",
    "typed": "Typed into the terminal of {agent}; not confirmed yet.",
    "duplicate": "{agent} already received this prompt.",
    "pending": "Queued for {agent}: it is sent when the agent is idle.",
}


def send_result(sent: Json) -> str:
    """The result of sending a text, and whether the draft in the input box was restored."""
    result = _SENT.get(sent["status"], "Sent to {agent}.").format(agent=sent["agent"])
    return f"{result}{_DRAFTS.get(sent.get('draft_restored'), '')}"


_DRAFTS: Mapping[bool | None, str] = {
    True: " The draft is back in its input box.",
    False: " The draft is not back yet: Ctrl+S in its terminal restores it.",
}


# --- guards ---------------------------------------------------------------------------------------------------------


def guard_problem_text(problem: Json, now: datetime) -> str:
    """Why guards are off, where, since when, and what to do: "off in Codex since 10:42:07, 13 min: …"."""
    where, since = clients_without_guards([problem]), guard_problem_since(problem, now)
    return f"off{where} since {since}: {problem['text']}. {problem['hint']}"


def guard_problem_since(problem: Json, now: datetime) -> str:
    """When a problem began, and how long it lasts: "10:42:07, 13 min"."""
    seconds = max((now - parse_timestamp(problem["since"])).total_seconds(), 0)
    return f"{clock_time(problem['since'], now)}, {duration(seconds)}"


# --- components of the daemon ---------------------------------------------------------------------------------------

COMPONENT_LABELS = {
    "writer": "event queue",
    "reconciler": "session checks",
    "conversations": "mission results",
    "prompts": "pending prompts",
    "holds": "open requests",
    "answers": "open dialogs",
}
"""The labels of components whose name is not one."""


def component_label(name: str) -> str:
    """The label of a component."""
    return COMPONENT_LABELS.get(name, name)


def is_database_unavailable(parts: Mapping[str, Json]) -> bool:
    """Whether the database is unavailable."""
    return "journal" in parts and str(parts["journal"]["status"]) != "ok"


def waiting_for_database(parts: Mapping[str, Json]) -> list[str]:
    """The components that wait for the database, or fail with the same reason."""
    if not is_database_unavailable(parts):
        return []
    reason = parts["journal"]["detail"]
    others = ((name, part) for name, part in parts.items() if name != "journal" and part["status"] != "ok")
    return [name for name, part in others if part["status"] == "waiting" or part["detail"] in reason]


def total_cost(agent: Json) -> str:
    """What all sessions of an agent cost; empty if that is not known."""
    cost = agent.get("total_cost_usd")
    cost = agent["cost_usd"] if cost is None else cost
    return "" if cost is None else dollars(cost)
