"""The selected agent: what it waits for, what is known of it, what was said, and why its state is believed."""

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
from claude_headspace.surfaces.text.formatting import Json, clock_time, cut, duration
from claude_headspace.surfaces.text.labels import subagent_text, summary

LABEL = 10
MOST_LINES = 14
"""How much of one utterance is shown; the whole is in the agent's own terminal."""

LEFT_OUT = ("id",)


def details(agent: Json, talk: Sequence[Line], now: datetime, width: int) -> list[Line]:
    """What the agent wants, says and is."""
    lines: list[Line] = []
    if not agent["waits"]:
        lines += hanging(line(), summary(agent, now), width, "error" if agent["state"] == "error" else "strong")
    for number, wait in enumerate(agent["waits"]):
        lines += [*([EMPTY_LINE] if number else []), *wait_lines(wait, now, width)]
    lines += section("Sub-agents", [subagent_text(sub) for sub in agent["subagents"]], width)
    lines += section("Background", [task_text(task, now) for task in agent["background_tasks"]], width)
    lines += section("Rules", [verdict_text(verdict, now) for verdict in agent["verdicts"]], width)
    lines += talk
    lines += [EMPTY_LINE, line(Span("About", "strong"))]
    for label, text in facts(agent, now):
        if label not in LEFT_OUT:
            lines += hanging(line(Span(f"  {label:<{LABEL}}", "dim")), text, width)
    return lines


class Talk:
    """The conversation as lines, kept as long as nothing else was said: breaking long texts takes its time."""

    def __init__(self) -> None:
        self._turns: Sequence[Json] | None = None
        self._place: tuple[int, date] | None = None
        self._lines: list[Line] = []

    def lines(self, turns: Sequence[Json] | None, now: datetime, width: int) -> list[Line]:
        """The lines for a width; on another day times are written with their date."""
        place = (width, now.date())
        if turns is not self._turns or place != self._place:
            self._turns, self._place, self._lines = turns, place, conversation(turns, now, width)
        return self._lines


def conversation(turns: Sequence[Json] | None, now: datetime, width: int) -> list[Line]:
    """What was said, the newest first."""
    if turns is None:
        return [EMPTY_LINE, dim("…")]
    if not turns:
        return []
    lines = [EMPTY_LINE, line(Span("Conversation, the newest first", "strong"))]
    for turn in reversed(turns):
        speaker = SPEAKERS.get(turn["actor"].lower(), turn["actor"])
        start = line(Span(f"  {clock_time(turn['timestamp'], now)[:5]} ", "dim"), Span(f"{speaker:<6}", "speaker"))
        said = hanging(start, turn["text"].strip(), width, "" if speaker == "you" else "said")
        lines += said[:MOST_LINES]
        if len(said) > MOST_LINES:
            lines.append(dim(f"          … {len(said) - MOST_LINES} more lines"))
    return lines


def evidence(agent: Json, states: Sequence[Json] | None, now: datetime, width: int) -> list[Line]:
    """Why the agent is believed to be in its state."""
    return state_reasons(agent, states or (), now, width)


def headline(agent: Json, now: datetime, width: int) -> str:
    """The selected agent in the title of its pane."""
    return cut(f"{agent['name']} · {agent['state']} {duration(age(agent['state_since'], now))}", max(width, 8))
