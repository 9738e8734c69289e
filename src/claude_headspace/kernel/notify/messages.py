"""The text of notifications: the agent, its location, and what it asks.

Rules
- A notification shows the beginning of a request: of the command, the plan, the arguments or the diff. Unless that is
  all of it, it says so.
- Hidden characters in texts of agents are visible marks, and the notification says that there are some.
"""

from collections.abc import Callable, Collection, Sequence

from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.hidden_characters import has_hidden, make_visible
from claude_headspace.kernel.wait.request_text import arguments_text, other_arguments
from claude_headspace.kernel.wait.views import RequestView, find_hidden_in_request

MAX_TITLE_LENGTH = 120
MAX_TEXT_LENGTH = 600
MAX_LINES = 15
EXCERPT = "Excerpt: see the complete request before you answer."
HIDDEN = "Contains hidden characters, shown as marks."
REQUEST_KINDS = ("permission", "plan")
"""The kinds of waits whose message shows the request."""

PermissionVerb = Callable[[str], str]
"""Returns the verb for using a tool, as in "wants to run"; empty if there is none."""


def no_verb(_tool: str) -> str:
    """Return no verb: the client's tools are not known."""
    return ""


def wait_title(agent: Agent, wait: Wait, permission_verb: PermissionVerb = no_verb) -> str:
    """The title for a wait."""
    verb = permission_verb(wait.tool or "").removesuffix(" for")
    match wait.kind:
        case "permission":
            return _title(f"{agent.name} wants to {verb or (f'use {wait.tool}' if wait.tool else 'continue')}")
        case "plan":
            return _title(f"{agent.name} {f'wants to {verb}' if verb else 'has a plan'}")
        case "dialog":
            return _title(f"{agent.name} shows a dialog")
        case _:
            return _title(f"{agent.name} asks")


def wait_text(agent: Agent, wait: Wait) -> str:
    """The text for a wait: the questions with their options, and the agent's location."""
    lines = [_truncate(wait.summary or wait.text, MAX_TEXT_LENGTH)] if not wait.questions else []
    for question in wait.questions:
        lines.append(_truncate(question.text, MAX_TEXT_LENGTH))
        lines += [f"  {number}. {_truncate(option.label, 80)}" for number, option in enumerate(question.options, 1)]
    # The summary of a permission is one line of its tool call: never the diff, the other arguments or the line breaks.
    is_excerpt = wait.kind == "permission" or any(line.endswith("…") for line in lines)
    options = [option.label for question in wait.questions for option in question.options]
    texts = (wait.summary, wait.text, *(question.text for question in wait.questions), *options)
    return _with_notes(agent, lines, is_excerpt=is_excerpt, is_marked=any(map(has_hidden, texts)))


def request_message(agent: Agent, wait: Wait, request: RequestView) -> str:
    """The text for a wait with its request: the beginning of text, arguments and diff, and the agent's location."""
    others = arguments_text(other_arguments(request.text, request.arguments))
    body = "\n".join(filter(None, (request.text.rstrip("\n"), others, _hunks(request.diff))))
    beginning = "\n".join(body[:MAX_TEXT_LENGTH].split("\n")[:MAX_LINES]).rstrip()
    is_cut = beginning != body.rstrip()
    hidden = find_hidden_in_request(request, names=(wait.tool or "",))
    lines = [make_visible(beginning) + ("…" if is_cut else "")]
    return _with_notes(agent, lines, is_excerpt=is_cut or not request.complete, is_marked=bool(hidden))


def _hunks(diff: str) -> str:
    """A diff without the names of the file. What it says about itself stays."""
    start = diff.find("@@ ")
    comments = [line for line in diff[: max(start, 0)].split("\n") if line.startswith("#")]
    return "\n".join((*comments, diff[start:].rstrip("\n"))) if start >= 0 else diff.rstrip("\n")


def _with_notes(agent: Agent, lines: Sequence[str], *, is_excerpt: bool, is_marked: bool) -> str:
    notes = (HIDDEN if is_marked else "", EXCERPT if is_excerpt else "", location(agent))
    return "\n".join(filter(None, (*lines, *notes)))


def error_title(agent: Agent) -> str:
    """The title for a turn that ended in an error."""
    return _title(f"{agent.name} stopped: {(agent.error or 'unknown error').replace('_', ' ')}")


def finished_title(agent: Agent, duration: Micros) -> str:
    """The title for finished work."""
    return _title(f"{agent.name} is done after {format_duration(duration)}")


def context_title(agent: Agent, percent: float) -> str:
    """The title for a context window that is nearly full."""
    return _title(f"{agent.name} has used {percent:.0f} % of its context")


def cost_title(agent: Agent, cost: float, budget: float) -> str:
    """The title for a session that reached its budget."""
    return _title(f"{agent.name} has cost ${cost:.2f} (budget ${budget:g})")


def agent_budget_title(agent: Agent, cost: float, budget: float) -> str:
    """The title for an agent whose sessions together reached its budget."""
    return _title(f"{agent.name} has cost ${cost:.2f} in all its sessions (budget ${budget:g})")


def period_budget_title(scope: str, cost: float, period: str, budget: float) -> str:
    """The title for a budget of several agents: `scope` is a pattern of projects, empty for all agents."""
    whose = f"The agents in {scope}" if scope else "All agents"
    return _title(f"{whose} have cost ${cost:.2f} {period} (budget ${budget:g})")


def command_text(agent: Agent) -> str:
    """The agent's command and location."""
    text = _truncate(agent.command.text, 200) if agent.command else ""
    return "\n".join(filter(None, (text, location(agent))))


def last_used_text(agent: Agent) -> str:
    """The agent that used something last."""
    return make_visible(f"{agent.name} worked last, {location(agent)}")


def location(agent: Agent) -> str:
    """Project, branch and machine."""
    project = f"{agent.project.name} ({agent.branch})" if agent.branch else agent.project.name
    return make_visible(f"in {project} on {agent.host}")


def digest(names: Collection[str], titles: Sequence[str]) -> tuple[str, str]:
    """Title and text of one message about several needs."""
    agents = f"{len(set(names))} agents need" if len(set(names)) > 1 else f"{next(iter(names))} needs"
    return f"{agents} you: {len(titles)} notifications", "\n".join(f"• {title}" for title in titles)


def format_duration(duration: Micros) -> str:
    """A duration in one unit: seconds, minutes or hours."""
    seconds = duration // SECOND
    for unit, size, until in (("s", 1, 60), ("min", 60, 3_600)):
        if seconds < until:
            return f"{seconds // size} {unit}"
    return f"{seconds // 3_600} h"


def _title(text: str) -> str:
    return _truncate(text, MAX_TITLE_LENGTH)


def _truncate(text: str, max_length: int) -> str:
    """Join the text to one line of limited length, with marks for hidden characters."""
    line = make_visible(" ".join(text.split()))
    return line if len(line) <= max_length else f"{line[: max_length - 1].rstrip()}…"
