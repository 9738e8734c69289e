"""`headspace policy`: validates rules, explains what they decide about a tool call, and applies them to past calls.

Results are JSON. Nothing here enforces a rule. Only `backtest` needs the daemon, because it reads the log.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from claude_headspace.clients.hooks import hook_names
from claude_headspace.clients.tools import describe_call, tool_of
from claude_headspace.config import Paths
from claude_headspace.inputs.policy.calls import analyse_call
from claude_headspace.inputs.policy.cases import CaseResult, judge_case, read_cases
from claude_headspace.inputs.policy.files import (
    PROJECT_FILE,
    RuleBook,
    load_built_in_rules,
    load_rules,
    read_contacts,
    read_project_rules,
)
from claude_headspace.inputs.receive.project_location import locate_project
from claude_headspace.kernel.decide import decide, find_matches, format_program, format_reason, get_ruling
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.call import UNKNOWN, Call, Subject
from claude_headspace.kernel.policy.rules import Policy
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.client.verdicts import PAGE, call_text


def with_project(book: RuleBook, root: str) -> RuleBook:
    """The rules together with the rules of a project."""
    policy = book.policy
    return msgspec.structs.replace(
        book,
        policy=Policy(
            rules=(*policy.rules, *read_project_rules(root)), strict=policy.strict, record_only=policy.record_only
        ),
    )


def project_of(directory: str) -> str:
    """The root of the project that a directory belongs to."""
    return locate_project(directory).project_root or directory


# --- check ---


def check(paths: Paths, preset: str, directory: str, file: Path | None = None) -> Json:
    """Read everything that a verdict depends on. Raises an error that names the file and the problem."""
    book, built_in = load_rules(paths, preset, file), load_built_in_rules(paths, preset)
    root = project_of(directory)
    built_in_rules = {rule.id: rule for rule in built_in.policy.rules}
    rules, contacts = book.policy.rules, read_contacts(paths.contacts_file)
    return {
        "preset": preset,
        "file": str(file or paths.policy_file),
        "exists": (file or paths.policy_file).exists(),
        "rules": len(rules),
        "active": sum(rule.enabled for rule in rules),
        "added": [rule.id for rule in rules if rule.id not in built_in_rules],
        "changed": [
            rule.id for rule in rules if rule.enabled and rule.id in built_in_rules and rule != built_in_rules[rule.id]
        ],
        "switched_off": [rule.id for rule in rules if not rule.enabled and rule != built_in_rules.get(rule.id)],
        "contacts": len(contacts or ()),
        "contacts_needed": contacts is not None or preset == "strict",
        "contacts_file": str(paths.contacts_file),
        "project_file": str(Path(root) / PROJECT_FILE),
        "project_rules": [rule.id for rule in read_project_rules(root)],
    }


# --- explain ---


def explain(book: RuleBook, tool: str, given: Json, subject: Subject, directory: str, home: str) -> Json:
    """Explain a tool call: what it would do, which rules match it, and the verdict."""
    root = project_of(directory)
    book = with_project(book, root)
    call = analyse_call(describe_call(tool, given), book, directory=directory, home=home, project=root)
    subject = Subject(subject.mode, subject.role, (root, Path(root).name))
    return {
        "tool": tool,
        "directory": directory,
        "verdict": _verdict(book.policy, subject, call),
        "programs": [
            {"runs": _show_unknown(format_program(program)), "fed_by": list(program.fed_by)}
            for program in call.programs
        ],
        "files": [_show_unknown_in_all(msgspec.to_builtins(use)) for use in call.paths],
        "traits": [trait.value for trait in call.traits],
        "message": msgspec.to_builtins(call.message),
        "rules": [
            {
                "rule": hit.rule.id,
                "says": get_ruling(book.policy, hit, subject).value,
                "unclear": hit.unclear,
                "reason": format_reason(get_ruling(book.policy, hit, subject), hit),
            }
            for hit in find_matches(book.policy, subject, call)
            if get_ruling(book.policy, hit, subject) != "abstain"
        ],
    }


def _verdict(policy: Policy, subject: Subject, call: Call) -> Json:
    found: Json = msgspec.to_builtins(decide(policy, subject, call))
    return {"rule": None, "reason": None, "enforced": True, **found}


def _show_unknown(text: str) -> str:
    return text.replace(UNKNOWN, "?")


def _show_unknown_in_all(values: Json) -> Json:
    return {name: _show_unknown(value) if isinstance(value, str) else value for name, value in values.items()}


# --- test ---


def run_cases(book: RuleBook, files: Sequence[Path], directory: str, home: str) -> Json:
    """Run the test cases in files. `wrong` lists the cases with an unexpected verdict."""
    root = project_of(directory)
    book = with_project(book, root)
    results = [
        judge_case(case, book, directory=directory, home=home, project=root)
        for path in files
        for case in read_cases(path)
    ]
    return {"cases": len(results), "wrong": [_wrong(result) for result in results if not result.passed]}


def _wrong(result: CaseResult) -> Json:
    group, verdict = result.case.group, result.verdict
    return {
        "call": result.case.summary,
        "about": group.about,
        "expected": group.expect,
        "expected_rule": group.rule,
        "got": result.outcome,
        "rule": verdict.rule,
        "reason": verdict.reason,
    }


# --- backtest ---


def backtest(client: ApiClient, book: RuleBook, home: str, last: int | None = None) -> Json:
    """Apply the rules to the tool calls in the log. Paths are resolved as they are today."""
    subjects: dict[str, tuple[str, Subject, str]] = {}
    counts_by_ruling: Counter[str] = Counter()
    verdicts: list[Json] = []
    for event in _calls(client, last):
        counts_by_ruling["calls"] += 1
        name, subject, root = _subject(client, event["agent_id"], subjects)
        verdict, text = _judge(book, event["payload"], subject, root, home)
        if verdict["ruling"] == "abstain":
            continue
        counts_by_ruling[verdict["ruling"]] += 1
        verdicts.append({"seq": event["seq"], "at": event["fired_at"], "agent": name, "call": text, **verdict})
    counts = {ruling: counts_by_ruling[ruling] for ruling in ("deny", "ask", "warn", "allow")}
    return {"calls": counts_by_ruling["calls"], **counts, "verdicts": verdicts}


def _calls(client: ApiClient, last: int | None) -> Iterator[Json]:
    """The tool calls that hooks reported, or only those among the newest `last` events."""
    newest = client.events(limit=1)
    after = max(newest[-1]["seq"] - last, 0) if newest and last else 0
    judged = hook_names({HookKind.BEFORE_TOOL})
    while page := client.events(after=after, limit=PAGE):
        yield from (event for event in page if event["name"] in judged and event["origin"] == "hook")
        after = page[-1]["seq"]


def _subject(client: ApiClient, agent_id: str, cache: dict[str, tuple[str, Subject, str]]) -> tuple[str, Subject, str]:
    if agent_id not in cache:
        agent = client.agent(agent_id)
        project = agent["project"]
        names = tuple(project[key] for key in ("id", "name", "root") if project[key])
        cache[agent_id] = agent["name"], Subject(agent["mode"], agent["role"], names), project["root"]
    return cache[agent_id]


def _judge(book: RuleBook, payload: Json, subject: Subject, root: str, home: str) -> tuple[Json, str]:
    tool, given = tool_of(payload)
    directory = str(payload.get("cwd") or root or home)
    call = analyse_call(describe_call(tool, given), book, directory=directory, home=home, project=root)
    return _verdict(book.policy, subject, call), call_text(tool, given)
