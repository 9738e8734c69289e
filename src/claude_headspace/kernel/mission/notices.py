"""What an agent is told of missions with the answer to a hook. Pure.

Rules
- A conversation hears of its own workers only, with its next prompt, once. Nobody tells a background agent of workers.
- A background agent is reminded once to report before it ends; never a second time, never when a hook has already kept
  the turn from ending, and not while its sub-agents still run.
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.session_notice import NO_CARE, Care
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.mission.messages import REMINDER, summaries
from claude_headspace.kernel.mission.model import BACKGROUND


def tell(agent: Agent, event: Event) -> Care:
    """What is told with the answer to a hook of the agent, as it was before."""
    if event.meta.subagent_id is not None or event.hook not in wanted(agent):
        return NO_CARE
    if event.hook is HookKind.PROMPT:
        return Care(
            said=(summaries(agent.worker_reports),), missions=tuple(each.mission_id for each in agent.worker_reports)
        )
    if (
        isinstance(event.fact, facts.TurnStopped)
        and not event.fact.continued_before
        and not _has_more(agent, event.fact)
    ):
        return Care(said=(REMINDER,), asked_for_report=True, holds=True)
    return NO_CARE


def wanted(agent: Agent) -> tuple[HookKind, ...]:
    """The hooks of the agent that something is to be told with."""
    if agent.ended_at is not None:
        return ()
    if agent.mode != BACKGROUND:
        return (HookKind.PROMPT,) if agent.worker_reports else ()
    mission = agent.mission
    is_silent = mission is not None and not mission.report and mission.reminded_at is None
    return (HookKind.TURN_END,) if is_silent else ()


def _has_more(agent: Agent, fact: facts.TurnStopped) -> bool:
    """Whether the turn only pauses: a sub-agent still works."""
    listed = fact.background
    return bool(agent.running_subagents) if listed is None else any(task.kind == "subagent" for task in listed)
