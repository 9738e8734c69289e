"""The verdict on a tool call: the strictest of the rules that match. Pure. Never raises.

Rules
- `deny` wins over `ask`, `ask` over `warn`, `warn` over `allow`; among equal rulings the first rule wins.
- `allow` counts only if it covers the whole call: `git status && curl …` is not allowed by a rule about `git`, nor is
  `git diff > file`.
- A rule that asks may have another outcome where nobody can answer (`unattended`). The reason says so.
- A verdict names its rule and is stored with the event. It is never decided again.
- A pattern matches a path as written or with links resolved. A recursive deletion also matches patterns below the
  directory: a rule about `~/.ssh/**` matches `rm -rf ~`.
- An `allow` rule must match every changed file, in both forms. Other rules need one match.
- Rules that deny, ask or warn ignore the case of a path: some file systems do. Rules that allow do not.
- A path with an unknown part matches if its known end does (`$X/.env`). If it would match with an empty unknown part
  (`rm -rf "$X/"`), or is completely unknown, the match is unclear: the rule's `unclear` outcome applies.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.policy.call import UNKNOWN, Call, Message, PathUse, Program, Subject, Use
from claude_headspace.kernel.policy.rules import USES, Policy, Rule, Strings, matches_any
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict

Judge = Callable[[Envelope, Agent], Verdict]
"""Decides the verdict on an event of an agent."""

MESSAGES = {
    Ruling.DENY: "Headspace does not allow this",
    Ruling.ASK: "Headspace asks you to decide",
    Ruling.WARN: "Headspace warns",
    Ruling.ALLOW: "Headspace allows this",
}
UNATTENDED = ("mission", "background", "headless")
"""The modes of sessions in which nobody answers a question."""
VERBS = {Use.READ: "reads", Use.WRITE: "writes", Use.DELETE: "deletes"}
INFINITIVES = {Use.READ: "read", Use.WRITE: "write", Use.DELETE: "delete"}


class Match(msgspec.Struct, frozen=True):
    """A rule that matches a call."""

    rule: Rule
    description: str
    """The part of the call that matched: `rm deletes /etc`."""
    unclear: bool = False
    program: Program | None = None


def abstain(_envelope: Envelope, _agent: Agent) -> Verdict:
    """The judge without a policy."""
    return ABSTAIN


def get_subject(agent: Agent) -> Subject:
    """Return the attributes of an agent that rules can depend on."""
    project = agent.project
    names = dict.fromkeys((project.id, project.name, project.root, agent.root))
    return Subject(agent.mode, agent.role, tuple(name for name in names if name))


def decide(policy: Policy, subject: Subject, call: Call, matches: Sequence[Match] | None = None) -> Verdict:
    """Return the verdict of a policy on a tool call. `matches` are those of `match_call`, if the caller has them."""
    found = match_call(policy, call) if matches is None else matches
    matches = [match for match in found if _applies(match.rule, subject, call)]
    if not matches:
        return ABSTAIN
    rulings = [(get_ruling(policy, match, subject), match) for match in matches]
    if not _allows_everything(matches, call):
        rulings = [(ruling, match) for ruling, match in rulings if ruling is not Ruling.ALLOW]
    ruling, match = max(rulings, key=lambda pair: pair[0].severity, default=(Ruling.ABSTAIN, None))
    if ruling is Ruling.ABSTAIN or match is None:
        return ABSTAIN
    reason = format_reason(ruling, match, _unattended_note(policy, match, subject))
    return Verdict(ruling, match.rule.id, reason, enforced=not policy.record_only)


def get_ruling(policy: Policy, match: Match, subject: Subject) -> Ruling:
    """Return the ruling of a match: the outcome of its rule, its `unclear`, or its `unattended` outcome."""
    if _unattended_note(policy, match, subject):
        return match.rule.unattended or Ruling.ASK
    return match.rule.unclear if match.unclear else policy.get_outcome(match.rule)


def _unattended_note(policy: Policy, match: Match, subject: Subject) -> str:
    """Return why the `unattended` outcome of a rule applies; empty if it does not."""
    rule = match.rule
    if rule.unattended is None or match.unclear or subject.mode not in UNATTENDED:
        return ""
    if policy.get_outcome(rule) is not Ruling.ASK:
        return ""
    return f" Nobody can answer in this session (mode {subject.mode}); in an interactive session you would be asked."


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


def format_reason(ruling: Ruling, match: Match, note: str = "") -> str:
    """Return the reason that the model and the user see."""
    doubt = " (the value of a variable is unknown)" if match.unclear else ""
    reason = f" {match.rule.reason}" if match.rule.reason else ""
    return f"{MESSAGES[ruling]}: {match.description}{doubt}.{reason}{note} (rule {match.rule.id})"


# --- matches ----------------------------------------------------------------------------------------------------------


def match_call(policy: Policy, call: Call) -> list[Match]:
    """Return the first match of every rule, for any agent; of an `allow` rule one match per program."""
    return [match for rule in policy.index.candidates(call) for match in _match_rule(rule, call)]


def find_matches(policy: Policy, subject: Subject, call: Call) -> list[Match]:
    """Return the matches of the rules that apply to an agent."""
    return [match for match in match_call(policy, call) if _applies(match.rule, subject, call)]


def _applies(rule: Rule, subject: Subject, call: Call) -> bool:
    """Whether a rule applies to this agent."""
    return (
        (not rule.modes or subject.mode in rule.modes)
        and (not rule.roles or (subject.role or "") in rule.roles)
        and (not rule.projects or any(matches_path(p, name, call) for p in rule.projects for name in subject.projects))
    )


def _match_rule(rule: Rule, call: Call) -> Iterator[Match]:
    if rule.tools and not matches_any(rule.tools, (call.tool,)):
        return
    if rule.traits and not any(trait in call.traits for trait in rule.traits):
        return
    if rule.messages and not _matches_message(rule, call):
        return
    if rule.commands or rule.arguments or rule.fed_by:
        yield from _match_programs(rule, call)
    elif rule.has_path_patterns:
        yield from _match_paths(rule, call, None)
    else:
        yield Match(rule, _describe_call(rule, call))


def _describe_call(rule: Rule, call: Call) -> str:
    if rule.messages and call.message is not None:
        addresses = _untagged_addresses(rule, call.message)
        if call.message.kind == "possible":
            return "a possible message"
        return f"{call.message.kind} to {', '.join(addresses[:5]) or 'unknown recipients'}"
    return ", ".join(trait.value for trait in rule.traits) or call.tool


def _matches_message(rule: Rule, call: Call) -> bool:
    message = call.message
    if message is None or message.kind not in rule.messages:
        return False
    return not rule.untagged or not message.recipients or bool(_untagged_addresses(rule, message))


def _untagged_addresses(rule: Rule, message: Message) -> list[str]:
    """Return the recipients that have none of the tags in `untagged`."""
    return [recipient.address for recipient in message.recipients if not set(recipient.tags) & set(rule.untagged)]


# --- programs ---------------------------------------------------------------------------------------------------------


def _match_programs(rule: Rule, call: Call) -> Iterator[Match]:
    for program in call.programs:
        if not _matches_program(rule, program):
            continue
        if rule.has_path_patterns:
            matches = list(_match_paths(rule, call, program))
        else:
            matches = [Match(rule, format_program(program), program=program)]
        yield from matches
        if matches and rule.outcome != "allow":
            return


def _matches_program(rule: Rule, program: Program) -> bool:
    return (
        (not rule.commands or matches_any(rule.commands, (program.name,)))
        and (not rule.arguments or matches_any(rule.arguments, program.arguments))
        and not (rule.except_arguments and matches_any(rule.except_arguments, program.arguments))
        and (not rule.fed_by or matches_any(rule.fed_by, program.fed_by))
    )


def format_program(program: Program) -> str:
    """Format a program with its first arguments, for display."""
    words = (program.name, *program.arguments[:8], *(("…",) if len(program.arguments) > 8 else ()))
    return " ".join(words).replace(UNKNOWN, "?")[:200]


# --- files ------------------------------------------------------------------------------------------------------------


def _match_paths(rule: Rule, call: Call, program: Program | None) -> Iterator[Match]:
    uses = [use for use in call.paths if program is None or use.used_by == program.name]
    if rule.outcome == "allow" and not all(_is_allowed(rule, use, call) for use in uses):
        return
    unclear: Match | None = None
    for use in uses:
        patterns = _patterns_for(rule, use)
        if not patterns:
            continue
        if _reaches(patterns, use, call) and not _is_excepted(rule, use, call):
            yield Match(rule, _describe_use(use, VERBS[use.use]), program=program)
            return
        may_reach = unclear is None and rule.unclear != "abstain" and _may_reach(patterns, use, call)
        if may_reach and not _is_excepted(rule, use, call):
            empty = re.sub("/+", "/", use.path.replace(UNKNOWN, "")) or use.path  # with an empty unknown part
            possible = msgspec.structs.replace(use, path=empty)
            unclear = Match(rule, _describe_use(possible, f"may {INFINITIVES[use.use]}"), unclear=True, program=program)
    if unclear is not None:
        yield unclear


def _describe_use(use: PathUse, verb: str) -> str:
    return f"{use.used_by} {verb} {use.path}".strip().replace(UNKNOWN, "?")


def _patterns_for(rule: Rule, use: PathUse) -> Strings:
    """Return the patterns of a rule for this kind of use."""
    return tuple(pattern for name, uses in USES.items() if use.use in uses for pattern in getattr(rule, name))


def _is_allowed(rule: Rule, use: PathUse, call: Call) -> bool:
    """Whether an `allow` rule covers this file. Reading needs no pattern."""
    patterns = _patterns_for(rule, use)
    if not patterns:
        return use.use is Use.READ
    return _matches_both_forms(patterns, use, call) and not _is_excepted(rule, use, call)


def _is_excepted(rule: Rule, use: PathUse, call: Call) -> bool:
    return _matches_both_forms(rule.except_paths, use, call, ignore_case=rule.outcome is not Ruling.ALLOW)


def _matches_both_forms(patterns: Sequence[str], use: PathUse, call: Call, *, ignore_case: bool = False) -> bool:
    """Whether the path matches as written and with links resolved."""
    forms = {use.path, use.real or use.path}
    return all(
        any(matches_path(pattern, form, call, ignore_case=ignore_case) for pattern in patterns) for form in forms
    )


def _reaches(patterns: Strings, use: PathUse, call: Call) -> bool:
    """Whether one of the patterns matches the path, or a recursive use includes what the pattern protects."""
    forms = {use.path, use.real} - {""}
    matcher, prefixes = _compile_patterns(patterns, call.home, call.project)
    if any(matcher.fullmatch(form) for form in forms):
        return True
    if not use.recursive or use.use is Use.WRITE:
        return False
    starts = tuple(form.rstrip("/") + "/" for form in forms if UNKNOWN not in form)
    return any(prefix.startswith(starts) and _has_name(prefix, use.names) for prefix in prefixes)


def _has_name(prefix: str, names: Strings) -> bool:
    """Whether the globs of a use include the last name of a prefix."""
    return not names or matches_any(names, (prefix.rstrip("/").rpartition("/")[2].lower(),))


def _may_reach(patterns: Strings, use: PathUse, call: Call) -> bool:
    """Whether a pattern would match with an empty unknown part. Never for the deletion of a single file."""
    if UNKNOWN not in use.path or (use.use is Use.DELETE and not use.recursive):
        return False
    known = use.path.replace(UNKNOWN, "")
    if not known.strip("/"):
        return True
    known_use = msgspec.structs.replace(use, path=re.sub("/+", "/", f"/{known}").rstrip("/") or "/", real="")
    return _reaches(patterns, known_use, call)


@lru_cache(maxsize=512)
def _compile_patterns(patterns: Strings, home: str, project: str) -> tuple[re.Pattern[str], Strings]:
    """Return one regular expression for all patterns, which ignores case, and their literal prefixes."""
    call = Call(tool="", home=home, project=project)
    expanded = [expand_pattern(pattern, call) for pattern in patterns]
    regex = "|".join(_path_regex(pattern, True).pattern for pattern in expanded)
    prefixes = tuple(dict.fromkeys(f"{_literal_prefix(pattern)}/" for pattern in expanded))
    return re.compile(regex, re.DOTALL | re.IGNORECASE), prefixes


def _literal_prefix(pattern: str) -> str:
    """Return the directory of a pattern before its first wildcard."""
    literal = re.split(r"[*?]", pattern, maxsplit=1)[0]
    return literal.rstrip("/") if literal == pattern or literal.endswith("/") else literal.rpartition("/")[0]


# --- patterns ---------------------------------------------------------------------------------------------------------


def expand_pattern(pattern: str, call: Call) -> str:
    """Replace `~` and `{project}` in a pattern."""
    if pattern == "~" or pattern.startswith("~/"):
        pattern = (call.home or "~") + pattern[1:]
    return pattern.replace("{project}", call.project or "{project}")


def matches_path(pattern: str, path: str, call: Call, *, ignore_case: bool = False) -> bool:
    """Whether a path matches: `*` within a name, `**` across directories. `/etc/**` includes `/etc`."""
    return _path_regex(expand_pattern(pattern, call), ignore_case).fullmatch(path) is not None


_GLOB_TOKEN = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|[^*?/]+|/")
_GLOB_REGEXES = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@lru_cache(maxsize=4_096)
def _path_regex(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    tokens = _GLOB_TOKEN.findall(pattern)
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else re.NOFLAG)
    return re.compile("".join(_GLOB_REGEXES.get(token) or re.escape(token) for token in tokens), flags)
