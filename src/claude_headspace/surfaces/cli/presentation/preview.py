"""The preview of an agent as lines: its screen; without one, its requests, the running tool and its last message."""

from collections.abc import Sequence
from datetime import datetime

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, ansi_role, hanging, line
from claude_headspace.surfaces.cli.presentation.agent_details import section, wait_lines
from claude_headspace.surfaces.client.preview import Preview
from claude_headspace.surfaces.text.ansi import parse_lines
from claude_headspace.surfaces.text.formatting import Json, ago, clock_time
from claude_headspace.surfaces.text.labels import subagent_text, summary, tool_text


def preview_lines(agent: Json, preview: Preview, now: datetime, width: int) -> list[Line]:
    """The screen as it is, however wide it is; otherwise the newest entries of the log, wrapped."""
    if preview.screen is not None:
        return screen_lines(preview.screen)
    lines = hanging(line(), preview.problem, width, "dim")
    lines += [EMPTY_LINE, *hanging(line(), summary(agent, now), width, "strong")]
    for wait in agent["waits"]:
        lines += [EMPTY_LINE, *wait_lines(wait, now, width, agent)]
    lines += section("Running", _running(agent, now), width)
    return lines + _last_message(preview.turns, now, width)


def screen_lines(screen: str) -> list[Line]:
    """A screen without the empty lines at its end."""
    lines = [tuple(Span(text, ansi_role(codes)) for text, codes in pieces) for pieces in parse_lines(screen)]
    while lines and not any(span.text.strip() or span.role for span in lines[-1]):
        lines.pop()
    return lines


def _running(agent: Json, now: datetime) -> list[str]:
    tool = agent["tool"]
    own = [f"{tool_text(tool)} (since {clock_time(tool['since'], now)})"] if tool else []
    return own + [subagent_text(each) for each in agent["subagents"]]


def _last_message(turns: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The last message of the agent, or the prompt if it has not replied yet."""
    turn = next((each for each in reversed(turns) if each["actor"].lower() == "agent"), turns[-1] if turns else None)
    if turn is None:
        return []
    who = "Last message" if turn["actor"].lower() == "agent" else "Your prompt"
    return section(f"{who}, {ago(turn['timestamp'], now)}", turn["text"].strip().split("\n"), width)
