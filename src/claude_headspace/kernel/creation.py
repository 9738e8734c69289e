"""Create an agent from its first event, with the same result at every replay."""

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Identity, identities, project_at
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.names import suggest_names


def create_agent(agent_id: str, envelope: Envelope, event: Event) -> Agent:
    """A new agent. Its host, project and name come from the envelope."""
    return Agent(
        id=agent_id,
        name=envelope.decisions.assigned_name or next(suggest_names(agent_id)),
        host=envelope.host,
        client=envelope.client,
        project=project_at(envelope.host, envelope.observations.project_root or event.meta.cwd),
        created_at=envelope.fired_at,
        parent_id=envelope.decisions.parent_id,
    )


CLAIMED_BY_ORIGIN = {
    Origin.HOOK: ("session", "headspace", "process", "pane"),
    Origin.TRANSCRIPT: ("session",),
    Origin.REGISTRY: ("session", "process"),
    Origin.STATUS_LINE: ("session",),
    Origin.OPERATOR: ("headspace", "mission"),
}
"""The kinds of identities that each source claims for an agent. Other sources claim none."""


INHERITED = ("headspace", "pane")
"""Identities that a child inherits. They stay with the parent."""


def claimed_identities(agent: Agent, envelope: Envelope, event: Event) -> list[Identity]:
    """The identities by which the agent of this event is recognised from now on."""
    known = identities(envelope, event)
    kinds = [kind for kind in CLAIMED_BY_ORIGIN.get(envelope.origin, ()) if kind in known]
    is_child = (agent.parent_id or envelope.decisions.parent_id) is not None
    return [known[kind] for kind in kinds if not is_child or kind not in INHERITED]
