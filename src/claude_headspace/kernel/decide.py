"""The verdict on a tool call: the strictest of the rules that apply.

Rules
- `deny` wins over `ask`, `ask` over `warn`, `warn` over `allow`; among equal rulings the first rule wins.
- `allow` counts only if it covers the whole call: `git status && curl …` is not allowed by a rule about `git`, nor is
  `git diff > file`.
- A verdict names its rule and is stored with the event. It is never decided again.
"""

from collections.abc import Callable

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope, decided
from claude_headspace.kernel.policy.call import Call, Subject, Use
from claude_headspace.kernel.policy.matching import Hit, hits
from claude_headspace.kernel.policy.policy import Policy
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict

Judge = Callable[[Envelope, Agent], Verdict]
"""Decides the verdict on an event of an agent."""


def abstain(_envelope: Envelope, _agent: Agent) -> Verdict:
    """A judge without a policy."""
    return ABSTAIN


def with_verdict(envelope: Envelope, verdict: Verdict) -> Envelope:
    """The envelope with the verdict. Unchanged if no rule applied."""
    return envelope if verdict is ABSTAIN else decided(envelope, verdict=verdict)


def subject_of(agent: Agent) -> Subject:
    """The attributes of an agent that rules can depend on."""
    project = agent.project
    return Subject(agent.mode, agent.role, tuple(name for name in (project.id, project.name, project.root) if name))


def decide(policy: Policy, subject: Subject, call: Call) -> Verdict:
    """The verdict of a policy on a tool call."""
    found = hits(policy, subject, call)
    rulings = [(ruling_of(policy, hit), hit) for hit in found]
    counted = [(ruling, hit) for ruling, hit in rulings if ruling is not Ruling.ALLOW or _covers(found, call)]
    if not counted:
        return ABSTAIN
    ruling, hit = max(counted, key=lambda each: each[0].severity)
    if ruling is Ruling.ABSTAIN:
        return ABSTAIN
    return Verdict(ruling, hit.rule.id, reason_of(ruling, hit), enforced=not policy.shadow)


def ruling_of(policy: Policy, hit: Hit) -> Ruling:
    """The ruling of a rule on what it matched."""
    return hit.rule.unclear if hit.unclear else policy.outcome(hit.rule)


def _covers(found: list[Hit], call: Call) -> bool:
    """Whether rules allow the whole call: every program, and every file that it changes."""
    allowing = [hit for hit in found if hit.rule.outcome is Ruling.ALLOW and not hit.unclear]
    if call.traits or not allowing:
        return False
    if any(hit.program is None and not any(hit.rule.path_lists) for hit in allowing):
        return True
    changed_by = {use.by for use in call.paths if use.use is not Use.READ}
    by_path = [hit for hit in allowing if any(hit.rule.path_lists)]
    if not call.programs:
        return bool(by_path)
    names = {hit.program.name for hit in by_path if hit.program is not None}
    return changed_by <= names and set(call.programs) <= {hit.program for hit in allowing}


MESSAGES = {
    Ruling.DENY: "Headspace does not allow this",
    Ruling.ASK: "Headspace wants you to decide",
    Ruling.WARN: "Headspace warns",
    Ruling.ALLOW: "Headspace allows this",
}


def reason_of(ruling: Ruling, hit: Hit) -> str:
    """The reason shown to the model and the user."""
    doubt = ", as far as can be told" if hit.unclear else ""
    what = f" {hit.rule.reason}" if hit.rule.reason else ""
    return f"{MESSAGES[ruling]}: {hit.about}{doubt}.{what} (rule {hit.rule.id})"
