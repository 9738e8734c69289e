"""What is read from outside the hooks: the transcript, the client's registry entry, the process table.

A source overturns only what it can see. The registry's `idle` ends work and dialogs, never an error or a question in
text.
"""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, Heard
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.evolve.change import Change, close_waits, correct, mark, open_command_of, say, told_before
from claude_headspace.kernel.evolve.dialogs import dialog_seen
from claude_headspace.kernel.evolve.sessions import all_before_is_over, end
from claude_headspace.kernel.evolve.turns import prompt, quiet, work
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.intent import detect_intent
from claude_headspace.kernel.state_machine import Actor, Intent

REGISTRY_LAG: Micros = 2 * SECOND // 5
"""A dialog is in the registry up to 0.3 s after its hook: a `busy` from before that says nothing of it."""


def agent_spoke(change: Change, meta: Meta, fact: facts.AgentSpoke) -> None:
    """The transcript has the agent's words: a turn that is known gets its exact time, another one is new."""
    agent = change.agent
    if meta.subagent_id is not None:
        return
    if (known := _untimed(agent, Actor.AGENT, fact.text)) is not None:
        correct(change, known, at=meta.at, from_transcript=True)
    elif agent.command is not None:
        intent = Intent.PROGRESS if open_command_of(agent) is not None else detect_intent(fact.text).intent
        say(change, agent.command, Actor.AGENT, intent, fact.text)


def user_spoke(change: Change, meta: Meta, fact: facts.UserSpoke) -> None:
    """The transcript has the human's words: a turn that is known gets its exact time, another one was missed."""
    if meta.subagent_id is not None:
        return
    if (known := _untimed(change.agent, Actor.USER, fact.text)) is not None:
        correct(change, known, at=meta.at, from_transcript=True)
    elif told_before(change, Actor.USER, fact.text) is None:
        prompt(change, meta, facts.PromptSubmitted(fact.text))


def _untimed(agent: Agent, actor: Actor, text: str) -> Heard | None:
    """The oldest turn of these words whose exact time is not known yet."""
    wanted = mark(text)
    return next(
        (entry for entry in agent.heard if entry.mark == wanted and entry.actor is actor and not entry.from_transcript),
        None,
    )


def client_reported(change: Change, meta: Meta, fact: facts.ClientReported) -> None:
    """The registry tells whether the client works, rests or shows a dialog."""
    agent = change.agent
    if agent.ended_at is not None:
        return
    change.why = f"the client's registry says {fact.status}"
    if fact.status in ("idle", "shell"):
        quiet(change, meta.at, "the client is idle", in_background_too=True)
    elif fact.status == "busy":
        _no_dialog_at(change, meta.at - REGISTRY_LAG)
        work(change, meta)
    elif fact.ask is not None and (agent.turn_runs or agent.working_subagents):
        dialog_seen(change, meta, fact.ask, change.why)


def _no_dialog_at(change: Change, at: Micros) -> None:
    agent = change.agent
    agent.undisturbed_at = max(agent.undisturbed_at, at)
    close_waits(change, lambda wait: not wait.asked_in_text and wait.opened_at <= at, "the agent went on")


def client_vanished(change: Change, meta: Meta, fact: facts.ClientVanished) -> None:
    """The client's process is gone, and the agent with it."""
    if fact.pid is None or fact.pid == change.agent.pid:
        all_before_is_over(change, meta.at, "the client is gone", client_is_new=False)
        end(change, meta.at, "vanished")
