"""Texts about missions for the worker and for the conversation that started it. Bounded, and safe to type."""

from collections.abc import Sequence

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.messages import INFO, format_message
from claude_headspace.kernel.mission.model import MAX_ANSWER_CHARS, Mission, MissionOutcome, WorkerReport
from claude_headspace.kernel.text import one_line

MAX_GOAL_SHOWN = 120
MAX_SUMMARY_CHARS = 12_000
REPORT_COMMAND = 'headspace report "the result"'

OUTCOME_TEXT = {
    MissionOutcome.SUCCEEDED: "has succeeded",
    MissionOutcome.FAILED: "has failed",
    MissionOutcome.ABANDONED: "was abandoned",
}

REMINDER = (
    "Reminder - Report before you end: nobody watches this session. Run\n"
    f"    {REPORT_COMMAND}\n"
    "with what you did, what you found and what remains (`--failed` if the goal was not reached). Then stop."
)


def reminder(prefix: str) -> str:
    """The reminder for a background worker that has not reported."""
    return format_message(prefix, INFO, REMINDER)


def worker_prompt(goal: str) -> str:
    """The prompt of a worker that Headspace starts."""
    return f"{goal}\n\nWork on this without asking. When it is done, or cannot be done, run: {REPORT_COMMAND}"


def wake_up(prefix: str, news: Sequence[WorkerReport]) -> str:
    """The prompt that is typed to a conversation. The summary is injected with it."""
    goals = "; ".join(one_line(each.goal, MAX_GOAL_SHOWN) or each.mission_id for each in news)
    who = "A worker has" if len(news) == 1 else f"{len(news)} workers have"
    return format_message(prefix, INFO, f"{who} finished: {_printable(goals)}. The summary follows.")


def _printable(text: str) -> str:
    """The text without control characters, which a terminal would act on."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def summary(worker: Agent, mission: Mission) -> str:
    """The result of a worker for its conversation: goal, outcome, duration, cost, report."""
    ended = OUTCOME_TEXT[mission.outcome] if mission.outcome else "continues"
    lines = [f"The worker {worker.name} {ended} after {_duration(mission)}{_cost(worker)} (mission {mission.id})."]
    lines += [f"Goal: {mission.goal}"] if mission.goal else []
    lines += [f"Ended: {mission.reason}"] if mission.reason else []
    lines += [f"Its report:\n{mission.report}"] if mission.report else []
    if mission.answer and mission.answer != mission.report:
        lines.append(f"Its last reply:\n{mission.answer[:MAX_ANSWER_CHARS]}")
    if not mission.report and not mission.answer:
        lines.append("It sent no report.")
    return "\n".join(lines)


def summaries(prefix: str, news: Sequence[WorkerReport]) -> str:
    """All results that a conversation receives with one prompt."""
    head = format_message(prefix, INFO, "Results of the missions that you started:")
    text = "\n\n".join((head, *(each.text for each in news)))
    return text if len(text) <= MAX_SUMMARY_CHARS else f"{text[:MAX_SUMMARY_CHARS]}… (headspace mission list)"


def _duration(mission: Mission) -> str:
    seconds = ((mission.ended_at or mission.started_at) - mission.started_at) // 1_000_000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"


def _cost(worker: Agent) -> str:
    return f", for ${worker.total_cost_usd:.2f}" if worker.total_cost_usd else ""
