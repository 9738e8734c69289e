"""What is said of missions: to the worker, to the conversation that waits for it. Bounded, and safe to type."""

from collections.abc import Sequence

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.mission.model import LONGEST_ANSWER, Mission, MissionOutcome, News
from claude_headspace.kernel.text import one_line

SHOWN_GOAL = 120
LONGEST_SUMMARY = 12_000
REPORT = 'headspace report "what came of it"'

ENDED = {
    MissionOutcome.SUCCEEDED: "has succeeded",
    MissionOutcome.FAILED: "has failed",
    MissionOutcome.ABANDONED: "was abandoned",
}

REMINDER = (
    "[Headspace] Report before you end: nobody reads along in background mode. Run\n"
    f"    {REPORT}\n"
    "with what was done, what was found and what is left (`--failed` if it could not be done). Then stop."
)


def orders(goal: str) -> str:
    """The prompt of a worker that Headspace starts."""
    return f"{goal}\n\nYou work on this by yourself. When it is done, or cannot be done, run: {REPORT}"


def wake_up(news: Sequence[News]) -> str:
    """The one line that is typed to a conversation; what its workers found comes beside it."""
    goals = "; ".join(one_line(each.goal, SHOWN_GOAL) or each.mission_id for each in news)
    who = "A worker is" if len(news) == 1 else f"{len(news)} workers are"
    return f"[Headspace] {who} back: {_typed(goals)}. See the summary."


def _typed(text: str) -> str:
    """Without anything that a terminal would act on."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def summary(worker: Agent, mission: Mission) -> str:
    """What a conversation is told of a worker: what was asked, what came of it, what it took."""
    ended = ENDED[mission.outcome] if mission.outcome else "goes on"
    lines = [f"The worker {worker.name} {ended} after {_duration(mission)}{_cost(worker)} (mission {mission.id})."]
    lines += [f"Asked: {mission.goal}"] if mission.goal else []
    lines += [f"Ended: {mission.words}"] if mission.words else []
    lines += [f"Its report:\n{mission.report}"] if mission.report else []
    if mission.answer and mission.answer != mission.report:
        lines.append(f"Its last answer:\n{mission.answer[:LONGEST_ANSWER]}")
    if not mission.report and not mission.answer:
        lines.append("It said nothing.")
    return "\n".join(lines)


def summaries(news: Sequence[News]) -> str:
    """All that a conversation is told with one prompt."""
    head = "[Headspace] What came of the work that this conversation asked for:"
    text = "\n\n".join((head, *(each.text for each in news)))
    return text if len(text) <= LONGEST_SUMMARY else f"{text[:LONGEST_SUMMARY]}… (headspace mission list)"


def _duration(mission: Mission) -> str:
    seconds = ((mission.ended_at or mission.started_at) - mission.started_at) // 1_000_000
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"


def _cost(worker: Agent) -> str:
    return f", for ${worker.cost_usd:.2f}" if worker.cost_usd else ""
