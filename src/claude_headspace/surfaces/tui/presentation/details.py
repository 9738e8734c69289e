"""The selected agent: its waits, its conversation, its properties, and the evidence of its state."""

from collections.abc import Sequence
from datetime import date, datetime

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.cli.presentation.agent_details import (
    SPEAKERS,
    facts,
    section,
    state_reasons,
    task_text,
    verdict_text,
    wait_lines,
)
from claude_headspace.surfaces.cli.presentation.board import age
from claude_headspace.surfaces.cli.presentation.prompts import pending_texts
from claude_headspace.surfaces.text.formatting import Json, cut, duration, short_time
from claude_headspace.surfaces.text.labels import subagent_text, summary

LABEL_WIDTH = 11
MAX_TURN_LINES = 14
"""How many lines of one turn are shown."""

HIDDEN_FACTS = ("id",)


def detail_lines(agent: Json, conversation: Sequence[Line], now: datetime, width: int) -> list[Line]:
    """The waits, the work, the conversation and the properties of an agent."""
    lines: list[Line] = []
    if not agent["waits"]:
        lines += hanging(line(), summary(agent, now), width, "error" if agent["state"] == "error" else "strong")
    for number, wait in enumerate(agent["waits"]):
        lines += [*([EMPTY_LINE] if number else []), *wait_lines(wait, now, width, agent)]
    lines += section("Pending prompts", pending_texts(agent, now), width)
    lines += section("Sub-agents", [subagent_text(sub) for sub in agent["subagents"]], width)
    lines += section("Background", [task_text(task, now) for task in agent["background_tasks"]], width)
    lines += section("Rules", [verdict_text(verdict, now) for verdict in agent["verdicts"]], width)
    lines += conversation
    lines += [EMPTY_LINE, line(Span("About", "strong"))]
    for label, text in facts(agent, now):
        if label not in HIDDEN_FACTS:
            lines += hanging(line(Span(f"  {label:<{LABEL_WIDTH}}", "dim")), text, width)
    return lines


class ConversationCache:
    """Caches the lines of the conversation, because wrapping long texts is slow."""

    def __init__(self) -> None:
        self._turns: Sequence[Json] | None = None
        self._layout: tuple[int, date] | None = None
        self._lines: list[Line] = []

    def lines(self, turns: Sequence[Json] | None, now: datetime, width: int) -> list[Line]:
        """The lines for a width. They also depend on the day: older times include the date."""
        layout = (width, now.date())
        if turns is not self._turns or layout != self._layout:
            self._turns, self._layout, self._lines = turns, layout, conversation_lines(turns, now, width)
        return self._lines


def conversation_lines(turns: Sequence[Json] | None, now: datetime, width: int) -> list[Line]:
    """The turns, newest first."""
    if turns is None:
        return [EMPTY_LINE, dim("…")]
    if not turns:
        return []
    lines = [EMPTY_LINE, line(Span("Conversation, newest first", "strong"))]
    for turn in reversed(turns):
        speaker = SPEAKERS.get(turn["actor"].lower(), turn["actor"])
        start = line(Span(f"  {short_time(turn['timestamp'], now)} ", "dim"), Span(f"{speaker:<6}", "speaker"))
        text = hanging(start, turn["text"].strip(), width, "" if speaker == "you" else "said")
        lines += text[:MAX_TURN_LINES]
        if len(text) > MAX_TURN_LINES:
            lines.append(dim(f"          … {len(text) - MAX_TURN_LINES} more lines"))
    return lines


def evidence_lines(agent: Json, states: Sequence[Json] | None, now: datetime, width: int) -> list[Line]:
    """The evidence of the agent's state."""
    return state_reasons(agent, states or (), now, width)


def details_title(agent: Json, now: datetime, width: int) -> str:
    """The title of the pane: name, state and time."""
    return cut(f"{agent['name']} · {agent['state']} {duration(age(agent['state_since'], now))}", max(width, 8))
