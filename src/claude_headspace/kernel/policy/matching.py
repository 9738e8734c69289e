"""Which rules hold for a call, and what about it they mean.

Rules
- Pure, and total: any call, any rule.
- A path fits when it fits as written or as it really is. What is deleted with everything below it also takes what a
  rule protects further down: a rule about `~/.ssh/**` holds for `rm -rf ~`.
- Who allows must mean every file that is changed, by both names; who denies, only one.
- A path that is not known fits for certain only by its known end (`$X/.env`). Where it would fit if the unknown part
  were nothing (`rm -rf "$X/"`), or nothing of it is known, it is unclear, and the rule says what that means.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from claude_headspace.kernel.policy.call import UNKNOWN, Call, PathUse, Program, Subject, Use
from claude_headspace.kernel.policy.names import fits_any
from claude_headspace.kernel.policy.policy import Policy
from claude_headspace.kernel.policy.rule_index import USES
from claude_headspace.kernel.policy.rules import Rule, Texts


class Hit(msgspec.Struct, frozen=True):
    """A rule that holds, and for what."""

    rule: Rule
    about: str
    unclear: bool = False
    program: Program | None = None


VERBS = {Use.READ: "reads", Use.WRITE: "writes", Use.DELETE: "deletes"}


def hits(policy: Policy, subject: Subject, call: Call) -> list[Hit]:
    """All rules that hold, each with the first thing that it holds for; an `allow` once for every program."""
    candidates = policy.index.candidates(call)
    return [hit for rule in candidates if _applies(rule, subject, call) for hit in _hits(rule, call)]


def _applies(rule: Rule, subject: Subject, call: Call) -> bool:
    """Whether a rule is meant for this tool and this agent."""
    return (
        (not rule.tools or fits_any(rule.tools, call.tool))
        and (not rule.modes or subject.mode in rule.modes)
        and (not rule.roles or (subject.role or "") in rule.roles)
        and (not rule.projects or any(fits_path(p, name, call) for p in rule.projects for name in subject.projects))
    )


def _hits(rule: Rule, call: Call) -> Iterator[Hit]:
    if rule.traits and not any(trait in call.traits for trait in rule.traits):
        return
    if rule.messages and not _writes_to(rule, call):
        return
    if rule.commands or rule.arguments or rule.fed_by:
        yield from _by_program(rule, call)
    elif any(rule.path_lists):
        yield from _by_path(rule, call, None)
    else:
        yield Hit(rule, _about_call(rule, call))


def _about_call(rule: Rule, call: Call) -> str:
    if rule.messages and call.message is not None:
        strangers = [r.address for r in call.message.recipients if not set(r.tags) & set(rule.untagged)]
        return f"{call.message.kind} to {', '.join(strangers[:5]) or 'nobody that can be told'}"
    return ", ".join(trait.value for trait in rule.traits) or call.tool


def _writes_to(rule: Rule, call: Call) -> bool:
    message = call.message
    if message is None or message.kind not in rule.messages:
        return False
    if not rule.untagged:
        return True
    return not message.recipients or any(not set(r.tags) & set(rule.untagged) for r in message.recipients)


# --- programs ---------------------------------------------------------------------------------------------------------


def _by_program(rule: Rule, call: Call) -> Iterator[Hit]:
    for program in call.programs:
        if not _is_program(rule, program):
            continue
        if any(rule.path_lists):
            found = list(_by_path(rule, call, program))
        else:
            found = [Hit(rule, written(program), program=program)]
        yield from found
        if found and rule.outcome != "allow":
            return


def _is_program(rule: Rule, program: Program) -> bool:
    return (
        (not rule.commands or fits_any(rule.commands, program.name))
        and (not rule.arguments or _any_fits(rule.arguments, program.arguments))
        and not _any_fits(rule.except_arguments, program.arguments)
        and (not rule.fed_by or _any_fits(rule.fed_by, program.fed_by))
    )


def _any_fits(patterns: Texts, texts: Texts) -> bool:
    return bool(patterns) and any(fits_any(patterns, text) for text in texts)


def written(program: Program) -> str:
    """A program with its arguments, as people would write it."""
    words = (program.name, *program.arguments[:8], *(("…",) if len(program.arguments) > 8 else ()))
    return " ".join(words).replace(UNKNOWN, "?")[:200]


# --- files ------------------------------------------------------------------------------------------------------------


def _by_path(rule: Rule, call: Call, program: Program | None) -> Iterator[Hit]:
    used = [use for use in call.paths if program is None or use.by == program.name]
    if rule.outcome == "allow" and not all(_is_allowed(rule, use, call) for use in used):
        return
    unclear: Hit | None = None
    for use in used:
        patterns = _patterns(rule, use)
        if not patterns or _is_excepted(rule, use, call):
            continue
        about = f"{use.by} {VERBS[use.use]} {use.path}".strip().replace(UNKNOWN, "?")
        if any(_reaches(pattern, use, call) for pattern in patterns):
            yield Hit(rule, about, program=program)
            return
        if unclear is None and rule.unclear != "abstain" and _may_reach(patterns, use, call):
            unclear = Hit(rule, about, unclear=True, program=program)
    if unclear is not None:
        yield unclear


def _patterns(rule: Rule, use: PathUse) -> list[str]:
    """What a rule says of files that are used so."""
    return [pattern for name, uses in USES.items() if use.use in uses for pattern in getattr(rule, name)]


def _is_allowed(rule: Rule, use: PathUse, call: Call) -> bool:
    """Whether a rule that allows means this file too; what is only read needs no rule."""
    patterns = _patterns(rule, use)
    if not patterns:
        return use.use is Use.READ
    fits = all(any(fits_path(p, name, call) for p in patterns) for name in {use.path, use.real or use.path})
    return fits and not _is_excepted(rule, use, call)


def _is_excepted(rule: Rule, use: PathUse, call: Call) -> bool:
    names = {use.path, use.real or use.path}
    return bool(rule.except_paths) and all(any(fits_path(p, name, call) for p in rule.except_paths) for name in names)


def _reaches(pattern: str, use: PathUse, call: Call) -> bool:
    names = {use.path, use.real} - {""}
    if any(fits_path(pattern, name, call) for name in names):
        return True
    if not (use.recursive and use.use is Use.DELETE):
        return False
    base = _base(expanded(pattern, call))
    return any(base.startswith(name.rstrip("/") + "/") for name in names if UNKNOWN not in name)


def _may_reach(patterns: list[str], use: PathUse, call: Call) -> bool:
    """Whether it would fit if what is unknown were nothing; a single file of which nothing is known is not meant."""
    if UNKNOWN not in use.path or (use.use is Use.DELETE and not use.recursive):
        return False
    rest = use.path.replace(UNKNOWN, "")
    if not rest.strip("/"):
        return True
    without = re.sub("/+", "/", f"/{rest}").rstrip("/") or "/"
    return any(_reaches(pattern, msgspec.structs.replace(use, path=without, real=""), call) for pattern in patterns)


def _base(pattern: str) -> str:
    """The part of a pattern before anything in it is open; empty when it begins open."""
    fixed = re.split(r"[*?]", pattern, maxsplit=1)[0]
    return fixed.rstrip("/") if fixed == pattern or fixed.endswith("/") else fixed.rpartition("/")[0]


# --- patterns ---------------------------------------------------------------------------------------------------------


def expanded(pattern: str, call: Call) -> str:
    """A pattern with the places that it names."""
    if pattern == "~" or pattern.startswith("~/"):
        pattern = (call.home or "~") + pattern[1:]
    return pattern.replace("{project}", call.project or "{project}")


def fits_path(pattern: str, path: str, call: Call) -> bool:
    """Whether a path fits: `*` within a name, `**` across directories; `/etc/**` also means `/etc` itself."""
    return _path_regex(expanded(pattern, call)).fullmatch(path) is not None


_TOKEN = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|[^*?/]+|/")
_TOKENS = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


@lru_cache(maxsize=4_096)
def _path_regex(pattern: str) -> re.Pattern[str]:
    return re.compile("".join(_TOKENS.get(token) or re.escape(token) for token in _TOKEN.findall(pattern)), re.DOTALL)
