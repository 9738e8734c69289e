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
from claude_headspace.kernel.policy.matching import Match, find_matches
from claude_headspace.kernel.policy.policy import Policy
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict

Judge = Callable[[Envelope, Agent], Verdict]
"""Decides the verdict on an event of an agent."""


def abstain(_envelope: Envelope, _agent: Agent) -> Verdict:
    """The judge without a policy."""
    return ABSTAIN


def with_verdict(envelope: Envelope, verdict: Verdict) -> Envelope:
    """Return the envelope with the verdict. Unchanged if no rule applied."""
    return envelope if verdict is ABSTAIN else decided(envelope, verdict=verdict)


def get_subject(agent: Agent) -> Subject:
    """Return the attributes of an agent that rules can depend on."""
    project = agent.project
    return Subject(agent.mode, agent.role, tuple(name for name in (project.id, project.name, project.root) if name))


def decide(policy: Policy, subject: Subject, call: Call) -> Verdict:
    """Return the verdict of a policy on a tool call."""
    matches = find_matches(policy, subject, call)
    if not matches:
        return ABSTAIN
    rulings = [(get_ruling(policy, match), match) for match in matches]
    if not _allows_everything(matches, call):
        rulings = [(ruling, match) for ruling, match in rulings if ruling is not Ruling.ALLOW]
    ruling, match = max(rulings, key=lambda pair: pair[0].severity, default=(Ruling.ABSTAIN, None))
    if ruling is Ruling.ABSTAIN or match is None:
        return ABSTAIN
    return Verdict(ruling, match.rule.id, format_reason(ruling, match), enforced=not policy.record_only)


def get_ruling(policy: Policy, match: Match) -> Ruling:
    """Return the ruling of a match: the outcome of its rule, or its `unclear` outcome."""
    return match.rule.unclear if match.unclear else policy.get_outcome(match.rule)


def _allows_everything(matches: list[Match], call: Call) -> bool:
    """Whether rules allow the whole call: every program, and every file that it changes."""
    allowing = [match for match in matches if match.rule.outcome is Ruling.ALLOW and not match.unclear]
    if call.traits or not allowing:
        return False
    if any(match.program is None and not match.rule.has_path_patterns for match in allowing):
        return True
    with_paths = [match for match in allowing if match.rule.has_path_patterns]
    if not call.programs:
        return bool(with_paths)
    changing = {use.used_by for use in call.paths if use.use is not Use.READ}
    names = {match.program.name for match in with_paths if match.program is not None}
    return changing <= names and set(call.programs) <= {match.program for match in allowing}


MESSAGES = {
    Ruling.DENY: "Headspace does not allow this",
    Ruling.ASK: "Headspace asks you to decide",
    Ruling.WARN: "Headspace warns",
    Ruling.ALLOW: "Headspace allows this",
}


def format_reason(ruling: Ruling, match: Match) -> str:
    """Return the reason that the model and the user see."""
    doubt = ", as far as can be determined" if match.unclear else ""
    reason = f" {match.rule.reason}" if match.rule.reason else ""
    return f"{MESSAGES[ruling]}: {match.description}{doubt}.{reason} (rule {match.rule.id})"
