"""Expected verdicts: a file of calls, and what the rules should say of each. `headspace policy test` runs one.

    [[cases]]
    about = "our deploy script"
    expect = "ask"                 # deny, ask, warn, allow, or pass: no rule speaks
    rule = "deploys"               # the rule that should say so, if that matters
    mode = "interactive"
    commands = ["./deploy.sh production", "make deploy"]

Instead of `commands` a case may have `tools` with `paths`, or with an `input`.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from claude_headspace.clients.claude_code import SHELL_TOOL
from claude_headspace.clients.tool_uses import describe_call
from claude_headspace.clients.tools import find_tool
from claude_headspace.errors import BadConfiguration
from claude_headspace.inputs.policy.calls import call_of
from claude_headspace.inputs.policy.files import RuleBook
from claude_headspace.kernel.decide import decide
from claude_headspace.kernel.policy.call import Subject
from claude_headspace.kernel.policy.verdict import Verdict

Expected = Literal["deny", "ask", "warn", "allow", "pass"]


class CaseGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Calls that get the same verdict."""

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
    """One call, and what is expected of the rules."""

    group: CaseGroup
    tool: str
    input: dict[str, Any]
    summary: str
    """The call in short."""


class CaseResult(msgspec.Struct, frozen=True):
    """What the rules said of a case."""

    case: Case
    verdict: Verdict

    @property
    def outcome(self) -> str:
        """The outcome, in the words of the file."""
        return "pass" if self.verdict.ruling == "abstain" else self.verdict.ruling.value

    @property
    def passed(self) -> bool:
        """Whether it is as expected, and by the expected rule."""
        group = self.case.group
        return self.outcome == group.expect and group.rule in (None, self.verdict.rule)


def read_cases(path: Path) -> list[Case]:
    """The cases of a file."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _CasesFile)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadConfiguration(
            "bad_cases", f"{path} cannot be used: {error}.", "docs/policy.md shows how such a file looks."
        ) from error
    return [case for group in found.cases for case in _expand_group(group)]


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
    """What the rules say of a case."""
    given = {name: _expand_home(value, home) for name, value in case.input.items()} if case.group.paths else case.input
    call = call_of(describe_call(case.tool, given), book, directory=directory, home=home, project=project)
    return CaseResult(case, decide(book.policy, Subject(case.group.mode, case.group.role, (project,)), call))


def _expand_home(path: str, home: str) -> str:
    return home + path[1:] if path.startswith("~/") else path
