"""Session notices about missions. Pure.

Rules
- A conversation receives the results of its own workers once, with its next prompt. A background agent receives none.
- A background agent is reminded once to report before its turn ends. It is not reminded again, not if a hook has
  already blocked the end of the turn, and not while its sub-agents run.
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.claude_os.session_notice import NO_NOTICE, SessionNotice
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.mission.messages import reminder, summaries
from claude_headspace.kernel.mission.model import BACKGROUND


def mission_notice(prefix: str, agent: Agent, event: Event) -> SessionNotice:
    """The notice for a hook, with a prefix. `agent` is the agent before the event."""
    if event.meta.subagent_id is not None or event.hook not in hooks_with_notice(agent):
        return NO_NOTICE
    if event.hook is HookKind.PROMPT:
        return SessionNotice(
            texts=(summaries(prefix, agent.worker_reports),),
            mission_ids=tuple(each.mission_id for each in agent.worker_reports),
        )
    if (
        isinstance(event.fact, facts.TurnStopped)
        and not event.fact.continued_before
        and not _has_more(agent, event.fact)
    ):
        return SessionNotice(texts=(reminder(prefix),), requests_report=True, blocks_turn_end=True)
    return NO_NOTICE


def hooks_with_notice(agent: Agent) -> tuple[HookKind, ...]:
    """The hooks whose reply carries a notice for this agent."""
    if agent.ended_at is not None:
        return ()
    if agent.mode != BACKGROUND:
        return (HookKind.PROMPT,) if agent.worker_reports else ()
    mission = agent.mission
    is_silent = mission is not None and not mission.report and mission.reminded_at is None
    return (HookKind.TURN_END,) if is_silent else ()


def _has_more(agent: Agent, fact: facts.TurnStopped) -> bool:
    """Whether the turn will continue because a sub-agent is running."""
    listed = fact.background
    return bool(agent.running_subagents) if listed is None else any(task.kind == "subagent" for task in listed)
