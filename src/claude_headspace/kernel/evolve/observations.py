"""Observations from outside the client: its registry entry, the process table.

The registry's `idle` ends work and dialogs, but no error and no question in text: the registry does not show those.
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import VANISHED, Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.evolve.background import background_ended
from claude_headspace.kernel.evolve.change import Change, close_waits, move_command, replace
from claude_headspace.kernel.evolve.dialogs import dialog_seen
from claude_headspace.kernel.evolve.sessions import CLOSED, end_agent, end_all_before
from claude_headspace.kernel.evolve.turns import close_questions, record_idle, turn_stopped
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.state_machine import Actor, Intent

REGISTRY_LAG: Micros = 2 * SECOND // 5
"""The registry shows a dialog up to 0.3 s after its hook: an earlier `busy` does not prove that it closed."""


def client_reported(change: Change, meta: Meta, fact: facts.ClientReported) -> None:
    """The registry shows whether the client is busy, idle or shows a dialog."""
    agent = change.agent
    if fact.headless and agent.mode == "interactive":
        agent.mode = "headless"
    if agent.ended_at is not None:
        return
    if fact.status:
        change.why = f"the client's registry says {fact.status}"
    if fact.status in ("idle", "shell"):
        _record_idle(change, meta, fact.status)
    elif fact.status == "busy":
        _close_answered_waits(change, meta.at)
        _close_dialogs(change, meta.at - REGISTRY_LAG)
        _record_busy(change, meta)
    elif fact.ask is not None and (fact.ask.kind != "dialog" or agent.is_in_turn or agent.running_subagents):
        dialog_seen(change, meta, fact.ask, change.why)


def _record_idle(change: Change, meta: Meta, status: str) -> None:
    """The client is idle. With the status `shell` background work continues, with `idle` nothing runs."""
    record_idle(change, meta.at, "the client is idle", in_background_too=True)
    if status == "idle":
        for task in change.agent.running_background:
            if task.last_seen_at < meta.at:
                background_ended(change, task.id, meta.at)


def _record_busy(change: Change, meta: Meta) -> None:
    """The client is busy, perhaps with its own command such as `/compact`: that alone starts no command."""
    agent = change.agent
    agent.busy_at = max(agent.busy_at, meta.at)
    close_questions(change, meta.at)
    if meta.at > agent.idle_at:
        move_command(change, Actor.AGENT, Intent.PROGRESS)


def _close_answered_waits(change: Change, at: Micros) -> None:
    """An answer through Headspace can be applied before the registry shows the dialog."""
    if change.agent.waits:
        close_waits(change, lambda wait: wait.answered is not None and wait.answered.at <= at, "the agent continued")


def _close_dialogs(change: Change, at: Micros) -> None:
    agent = change.agent
    agent.dialogs_closed_at = max(agent.dialogs_closed_at, at)
    close_waits(
        change,
        lambda wait: not wait.asked_in_text and not wait.request_id and wait.opened_at <= at,
        "the agent continued",
    )


def wrapper_vanished(change: Change, meta: Meta, fact: facts.WrapperVanished) -> None:
    """The wrapper process is gone. An agent whose client has not reported since ends; other agents continue."""
    agent = change.agent
    if fact.pid is None or fact.pid != agent.wrapper_pid:
        return
    agent.wrapper_pid = agent.wrapper_started_at = None
    if agent.supervision is not None:
        agent.supervision = replace(agent.supervision, ended="the supervising process ended")
    if not _has_reported(agent) or agent.is_restarting:
        end_agent(change, meta.at, "the process that started it ended")


def _has_reported(agent: Agent) -> bool:
    """Whether the client has reported since it was started or resumed."""
    session = agent.session
    return session is not None and (agent.pid is not None or agent.last_hook_at >= session.started_at)


def client_vanished(change: Change, meta: Meta, fact: facts.ClientVanished) -> None:
    """The client's process is gone: the agent ends. A turn with a final text in the transcript is complete.

    Ignored if it was observed on another host than the agent's.
    """
    if meta.host not in ("", change.agent.host):
        return
    if fact.pid is None or fact.pid == change.agent.pid:
        if change.agent.is_in_turn and change.agent.final_text:
            turn_stopped(change, meta, facts.TurnStopped(change.agent.final_text))
        end_all_before(change, meta.at, "the client is gone", client_is_new=False)
        if not change.agent.is_restarting:
            session = change.agent.session
            end_agent(change, meta.at, CLOSED if session is not None and session.end_reason == CLOSED else VANISHED)
