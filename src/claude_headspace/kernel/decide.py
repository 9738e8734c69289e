"""What Claude Code is answered: the strictest of the rules that hold.

Rules
- `deny` wins over `ask`, `ask` over `warn`, `warn` over `allow`; among equals the first rule speaks.
- `allow` speaks only for a call of which it covers everything: `git status && curl …` is not allowed by a rule about
  `git`, nor is `git diff > file`.
- A verdict names its rule, and is stored with the event. Nothing is decided twice.
"""

from collections.abc import Callable

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope, decided
from claude_headspace.kernel.policy.call import Call, Subject, Use
from claude_headspace.kernel.policy.matching import Match, find_matches
from claude_headspace.kernel.policy.rules import Policy
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict

Judge = Callable[[Envelope, Agent], Verdict]
"""Whoever rules on an event, with what was gathered for it."""


def abstain(_envelope: Envelope, _agent: Agent) -> Verdict:
    """A judge without rules."""
    return ABSTAIN


def with_verdict(envelope: Envelope, verdict: Verdict) -> Envelope:
    """An envelope that tells the verdict, where there is one."""
    return envelope if verdict is ABSTAIN else decided(envelope, verdict=verdict)


def get_subject(agent: Agent) -> Subject:
    """What of an agent rules may depend on."""
    project = agent.project
    return Subject(agent.mode, agent.role, tuple(name for name in (project.id, project.name, project.root) if name))


def decide(policy: Policy, subject: Subject, call: Call) -> Verdict:
    """Rule on what an agent is about to do."""
    found = find_matches(policy, subject, call)
    spoken = [(get_ruling(policy, hit), hit) for hit in found]
    heard = [(ruling, hit) for ruling, hit in spoken if ruling is not Ruling.ALLOW or _allows_everything(found, call)]
    if not heard:
        return ABSTAIN
    ruling, hit = max(heard, key=lambda each: each[0].severity)
    if ruling is Ruling.ABSTAIN:
        return ABSTAIN
    return Verdict(ruling, hit.rule.id, format_reason(ruling, hit), enforced=not policy.record_only)


def get_ruling(policy: Policy, hit: Match) -> Ruling:
    """What a rule says of what it holds for."""
    return hit.rule.unclear if hit.unclear else policy.get_outcome(hit.rule)


def _allows_everything(found: list[Match], call: Call) -> bool:
    """Whether all of the call is allowed by some rule: every program, and every file that it changes."""
    allowing = [hit for hit in found if hit.rule.outcome is Ruling.ALLOW and not hit.unclear]
    if call.traits or not allowing:
        return False
    if any(hit.program is None and not any(hit.rule.path_patterns) for hit in allowing):
        return True
    changed_by = {use.used_by for use in call.paths if use.use is not Use.READ}
    by_path = [hit for hit in allowing if any(hit.rule.path_patterns)]
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


def format_reason(ruling: Ruling, hit: Match) -> str:
    """What the model and the user are told."""
    doubt = ", as far as can be told" if hit.unclear else ""
    what = f" {hit.rule.reason}" if hit.rule.reason else ""
    return f"{MESSAGES[ruling]}: {hit.description}{doubt}.{what} (rule {hit.rule.id})"
