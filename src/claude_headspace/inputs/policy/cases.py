"""Test cases for rules: tool calls with the expected verdicts. `headspace policy test` runs a file of cases.

    [[cases]]
    about = "our deploy script"
    expect = "ask"                 # deny, ask, warn, allow, stop (deny or ask), or pass: no rule matches
    rule = "deploys"               # optional: the rule that must decide
    mode = "interactive"
    commands = ["./deploy.sh production", "make deploy"]

Instead of `commands`, a group can have `tools` with `paths` or with an `input`.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from claude_headspace.clients.claude_code import SHELL_TOOL
from claude_headspace.clients.tools import describe_call, find_tool
from claude_headspace.errors import BadConfiguration
from claude_headspace.inputs.policy.calls import analyse_call
from claude_headspace.inputs.policy.files import RuleBook
from claude_headspace.kernel.decide import decide
from claude_headspace.kernel.policy.call import Subject
from claude_headspace.kernel.policy.verdict import Verdict

Expected = Literal["deny", "ask", "warn", "allow", "stop", "pass"]


class CaseGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Calls with the same expected verdict. The fields are the keys of the file."""

    expect: Expected
    about: str = ""
    rule: str | None = None
    mode: str = "interactive"
    role: str | None = None
    commands: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    input: dict[str, Any] = {}


class _CasesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cases: tuple[CaseGroup, ...] = ()


class Case(msgspec.Struct, frozen=True):
    """One tool call of a group."""

    group: CaseGroup
    tool: str
    input: dict[str, Any]
    summary: str
    """A short text for the call."""


class CaseResult(msgspec.Struct, frozen=True):
    """The verdict on a case."""

    case: Case
    verdict: Verdict

    @property
    def outcome(self) -> str:
        """The outcome, as the file would write it."""
        return "pass" if self.verdict.ruling == "abstain" else self.verdict.ruling.value

    @property
    def passed(self) -> bool:
        """Whether the outcome and the rule are as expected."""
        group = self.case.group
        expected = ("deny", "ask") if group.expect == "stop" else (group.expect,)
        return self.outcome in expected and group.rule in (None, self.verdict.rule)


def read_cases(path: Path) -> list[Case]:
    """Read the cases of a file."""
    try:
        file = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _CasesFile)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadConfiguration(
            "bad_cases", f"{path} cannot be used: {error}.", "docs/policy.md has examples of such a file."
        ) from error
    return [case for group in file.cases for case in _expand_group(group)]


def _expand_group(group: CaseGroup) -> Iterator[Case]:
    for command in group.commands:
        yield Case(group, SHELL_TOOL, {"command": command}, command)
    for tool in group.tools:
        name = find_tool(tool).file or "path"
        for path in group.paths:
            yield Case(group, tool, {name: path}, f"{tool} {path}")
        if not group.paths:
            yield Case(group, tool, group.input, f"{tool} {group.input}")


def judge_case(case: Case, book: RuleBook, *, directory: str, home: str, project: str = "") -> CaseResult:
    """Judge a case by rules."""
    arguments = (
        {name: _expand_home(value, home) for name, value in case.input.items()} if case.group.paths else case.input
    )
    call = analyse_call(describe_call(case.tool, arguments), book, directory=directory, home=home, project=project)
    return CaseResult(case, decide(book.policy, Subject(case.group.mode, case.group.role, (project,)), call))


def _expand_home(path: str, home: str) -> str:
    return home + path[1:] if path.startswith("~/") else path
