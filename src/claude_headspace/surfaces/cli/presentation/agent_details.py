"""One agent in full, and the reasons for its state."""

from collections.abc import Sequence
from datetime import datetime

from claude_headspace.clients.catalog import title_of
from claude_headspace.kernel.hidden_characters import mark_controls
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.cli.presentation.board import project_and_branch
from claude_headspace.surfaces.cli.presentation.prompts import pending_texts
from claude_headspace.surfaces.cli.presentation.requests import grant_text, request_lines, suggestion_lines
from claude_headspace.surfaces.text.clients import answer_limit
from claude_headspace.surfaces.text.formatting import Json, ago, clock_time, cut, dollars, one_line, parse_timestamp
from claude_headspace.surfaces.text.labels import (
    effort_text,
    note_text,
    shape,
    state_text,
    subagent_text,
    summary,
    supervision_text,
    total_cost,
    wait_text,
)
from claude_headspace.surfaces.text.worktrees import worktree_text

LABEL = 11
MAX_WIDTH = 120
"""Longer lines are hard to read."""

SOURCES = {
    "hook": "a hook",
    "transcript": "the transcript",
    "registry": "the client's session registry",
    "process": "the process table",
    "status_line": "the status line",
    "operator": "Headspace",
    "timer": "a timer",
}
CONFIDENCES = {
    "high": "reported directly",
    "medium": "derived from files of the client",
    "low": "inferred",
}
RULINGS = {"deny": "denied", "ask": "asked", "warn": "warned"}
SPEAKERS = {"user": "you", "agent": "agent"}


def agent_lines(agent: Json, turns: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """All details of an agent."""
    width = min(width, MAX_WIDTH)
    lines = [
        title(agent, summary(agent, now), width),
        EMPTY_LINE,
    ]
    for label, text in facts(agent, now):
        lines += hanging(line(Span(f"  {label:<{LABEL}}", "dim")), text, width)
    for wait in agent["waits"]:
        lines += [EMPTY_LINE, *wait_lines(wait, now, width, agent)]
    lines += section("Pending prompts", pending_texts(agent, now), width)
    lines += section("Sub-agents", [subagent_text(sub) for sub in agent["subagents"]], width)
    lines += section("Background", [task_text(task, now) for task in agent["background_tasks"]], width)
    lines += section("Rules", [verdict_text(verdict, now) for verdict in agent["verdicts"]], width)
    lines += granted_lines(agent, now, width)
    return lines + _turns(turns, now, width)


def granted_lines(agent: Json, now: datetime, width: int) -> list[Line]:
    """What a session has been granted, by whom and when."""
    return section("Granted", [grant_text(grant, now) for grant in agent.get("grants", ())], min(width, MAX_WIDTH))


def title(agent: Json, words: str, width: int) -> Line:
    """The name of an agent, and what it does."""
    name = f"{shape(agent['state'])} {agent['name']}"
    return line(Span(name, agent["state"]), f"  {cut(words, max(width - len(name) - 2, 10))}")


def facts(agent: Json, now: datetime) -> list[tuple[str, str]]:
    """Details of an agent, as pairs of label and text."""
    since = agent["state_since"]
    pairs = [
        (
            "state",
            f"{state_text(agent['state'], agent['waiting_for'])} since {clock_time(since, now)} ({ago(since, now)})",
        ),
        ("because", _reason_text(agent["evidence"])),
        ("note", note_text(agent, now)),
        ("prompt", _command(agent["command"], now)),
        ("last tool", agent["last_tool"] or ""),
        ("project", f"{project_and_branch(agent)}  {agent['project']['root']}"),
        ("worktree", worktree_text(agent.get("worktree"))),
        ("directory", agent["cwd"] if agent["cwd"] not in (agent["project"]["root"], _checkout(agent)) else ""),
        ("session", _session(agent, now)),
        ("client", _client(agent)),
        ("effort", effort_text(agent.get("effort"))),
        ("supervised", supervision_text(agent, now)),
        ("imported", f"from {agent['imported_from']}" if agent.get("imported_from") else ""),
        ("usage", _usage(agent)),
        ("files", _context_files(agent.get("briefed"))),
        ("mission", _mission(agent)),
        (
            "workers",
            f"{count(len(agent['news']), 'worker')} finished; reported with its next prompt" if agent["news"] else "",
        ),
        ("to-do list", f"{agent['todo']['done']} of {agent['todo']['total']} done" if agent["todo"] else ""),
        (
            "ended",
            f"{ago(agent['ended_at'], now)}, {agent['end_reason'] or 'reason unknown'}" if agent["ended_at"] else "",
        ),
        ("wrapper id", agent.get("wrapper_id") or ""),
        ("AGENT_ID", agent.get("fleet_id") or ""),
        ("id", agent["id"]),
    ]
    return [(label, text) for label, text in pairs if text]


def _checkout(agent: Json) -> str | None:
    worktree = agent.get("worktree")
    return worktree["root"] if worktree else None


def _mission(agent: Json) -> str:
    mission = agent["mission"]
    if mission is None:
        return ""
    goal = cut(one_line(mission["goal"]) or "no goal", 200)
    return f"{goal} ({mission['outcome'] or 'in progress'}, {mission['id'][:8]})"


def verdict_text(verdict: Json, now: datetime) -> str:
    """A verdict about a tool call: "denied 4 min ago: …"."""
    word = RULINGS.get(verdict["ruling"], verdict["ruling"]) if verdict["enforced"] else f"would {verdict['ruling']}"
    about = f"{verdict['tool']}: {one_line(verdict['summary'])}" if verdict["summary"] else verdict["tool"]
    return f"{word} {ago(verdict['timestamp'], now)}: {cut(about, 80)} ({verdict['rule']})"


def _reason_text(evidence: Json | None) -> str:
    if evidence is None:
        return ""
    source = SOURCES.get(evidence["source"], evidence["source"])
    return f"{evidence['why']} ({source}, {evidence['confidence']} confidence)"


def _command(command: Json | None, now: datetime) -> str:
    if command is None:
        return ""
    text = one_line(command["text"]) or {"task_notification": "background task finished"}.get(
        command["trigger"], "unknown"
    )
    end = f"{command['outcome'] or 'ended'} {ago(command['ended_at'], now)}" if command["ended_at"] else ""
    return f"{cut(text, 300)} ({end or 'submitted ' + ago(command['started_at'], now)})"


def _session(agent: Json, now: datetime) -> str:
    session = agent["session"]
    if session is None:
        return ""
    start = f"{session['source']} {ago(session['started_at'], now)}"
    return f"{agent['session_id']}, context window {session['ordinal']} ({start})"


def _client(agent: Json) -> str:
    tmux = agent["tmux"]
    place = " ".join(part for part in (tmux["session"], tmux["pane"]) if part)
    parts = [
        title_of(agent["client"]),
        f"on {agent['host']}",
        f"pid {agent['pid']}" if agent["pid"] else "",
        f"tmux {place}" if place else "",
        agent["mode"] if agent["mode"] != "interactive" else "",
        f"role {agent['role']}" if agent["role"] else "",
        f"{agent['permission_mode']} mode" if agent["permission_mode"] not in (None, "default") else "",
    ]
    return ", ".join(part for part in parts if part)


def _context_files(briefed: Json | None) -> str:
    """The files that its context window started with, and those that were left out."""
    if briefed is None:
        return ""
    files = ", ".join(briefed["files"]) or "no files"
    left_out = f"; left out: {'; '.join(briefed['left_out'])}" if briefed["left_out"] else ""
    return files + left_out + (f" ({briefed['problem']})" if briefed["problem"] else "")


def _usage(agent: Json) -> str:
    context, tokens = agent["context_percent"], agent["tokens"]
    parts = [
        agent["model"] or "",
        f"context {context:.0f} %{_warned(agent)}" if context is not None else "",
        count(tokens, "token") if tokens is not None else "",
        _cost(agent),
    ]
    return ", ".join(part for part in parts if part)


def _cost(agent: Json) -> str:
    """The cost of all sessions, and that of the current one if it is another."""
    total, session = total_cost(agent), agent["cost_usd"]
    differs = session is not None and total != dollars(session)
    return f"{total} ({dollars(session)} in this session)" if differs else total


def _warned(agent: Json) -> str:
    level = agent.get("context_warning_level")
    return f" (warned at {level} %)" if level else ""


def wait_lines(wait: Json, now: datetime, width: int, agent: Json) -> list[Line]:
    """What an agent waits for, and how to answer. With `request`, the complete request."""
    lines = [line(Span(f"Waiting for you since {clock_time(wait['opened_at'], now)}", "strong"))]
    if "request" in wait:
        lines += _complete_request(wait, width, agent["name"])
    elif not wait["questions"]:
        text = wait["text"].strip() if wait["kind"] != "permission" else wait_text(wait)
        lines += hanging(line("  "), text, width)
    for question in wait["questions"]:
        several = "  (choose one or more)" if question.get("several") else ""
        lines += hanging(line("  "), question["text"] + several, width)
        for number, option in enumerate(question.get("options", ()), 1):
            about = f": {one_line(option['description'])}" if option.get("description") else ""
            lines += hanging(line(f"    {number}. "), mark_controls(option["label"]) + about, width)
    for field in wait.get("form", ()):
        lines += hanging(line(f"    {field['name']}  "), field_text(field), width, "dim")
    return lines + hanging(line("  "), _how_to_answer(wait, now, agent), width, "dim")


def _complete_request(wait: Json, width: int, name: str) -> list[Line]:
    lines = hanging(line("  "), wait_text(wait), width) if wait["kind"] == "permission" else []
    lines += [line("  ", *each) for each in request_lines(wait, width - 2)]
    if not wait["request"]["complete"]:
        lines.append(dim(f"  `headspace show {name} --full` shows everything that Headspace has."))
    offered = wait["suggestions"] if wait["held_until"] else ()
    return lines + [line("  ", *each) for each in suggestion_lines(offered, width - 2)]


_FIELDS = {
    "text": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "yes or no",
    "choice": "one of",
    "choices": "some of",
}


def field_text(field: Json) -> str:
    """The type and meaning of a form field."""
    kind = _FIELDS.get(field["kind"], field["kind"])
    options = ", ".join(option["label"] for option in field.get("options", ()))
    parts = [
        field.get("title") or "",
        field.get("description") or "",
        f"{kind} {options}".strip(),
        "required" if field.get("required") else "",
    ]
    return " · ".join(part for part in parts if part)


def _how_to_answer(wait: Json, now: datetime, agent: Json) -> str:
    name = agent["name"]
    if wait["answered"]:
        return f"{wait['answered']['words']} by {wait['answered']['by']}; waiting for the client to continue"
    if not wait["held_until"] or parse_timestamp(wait["held_until"]) < now:
        parts = (_undelivered(wait), "Answer it in the terminal of the agent.", answer_limit(agent, wait))
        return " ".join(filter(None, parts))
    which = f"{name} -w {wait['id']}" if len(agent["waits"]) > 1 else name
    how = {
        "question": f"headspace answer {which} ANSWER",
        "elicitation": f"headspace answer {which} --field NAME=VALUE, or --action decline",
    }.get(wait["kind"], f"headspace approve {which}, or headspace deny {which}")
    if not wait.get("undelivered"):
        return how
    return f"{_undelivered(wait)} {'Then' if wait['undelivered']['unconfirmed'] else 'Try again'}: {how}"


def _undelivered(wait: Json) -> str:
    """That an answer did not reach the client, and why; empty if there is none."""
    if (lost := wait.get("undelivered")) is None:
        return ""
    result = "is not confirmed" if lost["unconfirmed"] else "was not delivered"
    return f"The answer of {lost['by']} ({lost['words']}) {result}. {lost['problem']}".strip()


def task_text(task: Json, now: datetime) -> str:
    """A background task."""
    return (
        f"{task['kind']}, {one_line(task['description']) or task['id']} (since {clock_time(task['started_at'], now)})"
    )


def section(heading: str, entries: Sequence[str], width: int) -> list[Line]:
    """Entries under a heading; empty if there are none."""
    if not entries:
        return []
    lines = [EMPTY_LINE, line(Span(heading, "strong"))]
    for entry in entries:
        lines += hanging(line("  "), entry, width)
    return lines


def _turns(turns: Sequence[Json], now: datetime, width: int) -> list[Line]:
    if not turns:
        return []
    lines = [EMPTY_LINE, line(Span("Last turns", "strong"))]
    for turn in turns:
        speaker = SPEAKERS.get(turn["actor"].lower(), turn["actor"])
        start = f"  {clock_time(turn['timestamp'], now)}  {speaker:<5}  "
        lines.append(line(Span(start, "dim"), cut(one_line(turn["text"]), max(width - len(start), 10))))
    return lines


# --- why ---


BEGUN = {"error": "stopped with an error at", "ended": "ended at"}
"""How a sentence about a state begins, for states that are no activity."""


def state_reasons(agent: Json, states: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The reasons for the current state, and the previous states, newest first."""
    width = min(width, MAX_WIDTH)
    since = agent["state_since"]
    begun = BEGUN.get(agent["state"]) or f"has been {state_text(agent['state'], agent['waiting_for'])} since"
    lines = hanging(
        line(Span(f"{shape(agent['state'])} {agent['name']}", agent["state"]), " "),
        f"({title_of(agent['client'])}) {begun} {clock_time(since, now)} ({ago(since, now)}).",
        width,
        indent=2,
    )
    if evidence := agent["evidence"]:
        source = SOURCES.get(evidence["source"], evidence["source"])
        meaning = CONFIDENCES.get(evidence["confidence"], "")
        sure = f"{evidence['confidence']} confidence" + (f", {meaning}" if meaning else "")
        text = f"Because {evidence['why']}: reported by {source} at {clock_time(evidence['at'], now)} ({sure})."
        lines += hanging(line("  "), text, width)
    if states:
        lines += [EMPTY_LINE, line(Span("States, newest first", "strong"))]
    for state in reversed([*states, *_later_evidence(agent, states)]):
        lines += _reason(state, now, width)
    return lines


def _later_evidence(agent: Json, states: Sequence[Json]) -> list[Json]:
    """The evidence that confirmed the newest state after it began, so that the list begins with the reason above it."""
    evidence, newest = agent["evidence"], states[-1] if states else None
    if evidence is None or newest is None or newest["state"] != agent["state"]:
        return []
    is_known = all(evidence[name] == newest[name] for name in ("source", "why", "confidence"))
    return [] if is_known else [{**newest, **evidence, "event": "(same state)"}]


def _reason(state: Json, now: datetime, width: int) -> list[Line]:
    start = line(
        Span(f"  {clock_time(state['at'], now)}  ", "dim"),
        Span(shape(state["state"]), state["state"]),
        f" {state['state']:<8}  ",
    )
    sure = "" if state["confidence"] == "high" else f", {state['confidence']} confidence"
    return hanging(start, f"{state['why']} · {state['source'].replace('_', ' ')} {state['event']}{sure}", width)


NARROW = 60
"""Columns of a narrow terminal."""


def next_commands(agent: Json, *commands: str) -> list[Line]:
    """The next commands worth typing: on one line, if it fits a narrow terminal."""
    texts = [f"headspace {command} {agent['name']}" for command in commands]
    joined = "   ".join(texts)
    return [EMPTY_LINE, *map(dim, [joined] if len(joined) <= NARROW else texts)]
