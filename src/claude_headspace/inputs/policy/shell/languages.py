"""Static analysis of other languages: what a one-line program does to files, and which shell commands it runs.

Python is parsed (`python_code`). In Perl, Ruby, Node, PHP and awk, regular expressions find the usual functions with a
literal argument.
"""

import re
from collections.abc import Callable

import msgspec

from claude_headspace.inputs.policy.shell.budget import Budget
from claude_headspace.inputs.policy.shell.findings import Effect, FileUse, ShellText
from claude_headspace.inputs.policy.shell.markers import without_markers
from claude_headspace.inputs.policy.shell.python_code import analyse_python
from claude_headspace.kernel.policy.call import Trait, Use

_LITERAL = r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|q[qxw]?\{([^}]*)\})"""
_RUN_PATTERN = re.compile(
    r"\b(?:system|exec|execSync|spawnSync|execFileSync|popen|shell_exec|passthru)\s*\(?\s*" + _LITERAL
)
_BACKTICK_PATTERN = re.compile(r"`([^`]+)`|%x\{([^}]*)\}")
_DELETE_PATTERN = re.compile(
    r"\b(?:unlinkSync|unlink|rmSync|rmdirSync|rm_rf|rm_r|remove_tree|rmtree|remove_entry_secure|File\.delete"
    r"|fs\.rm|fs\.unlink|fs\.promises\.rm)\s*\(?\s*\[?" + _LITERAL
)
_WRITE_PATTERN = re.compile(
    r"\b(?:writeFileSync|writeFile|appendFileSync|createWriteStream|File\.write|IO\.write|file_put_contents)\s*\(?\s*"
    + _LITERAL
)
_OPEN_PATTERN = re.compile(r"\bopen\s*\(?[^;]{0,200}?['\"]\s*(?:>>?|\+<)\s*['\"]?\s*,?\s*['\"]?([^'\",;)]{1,500})")
_FORK_BOMB_PATTERN = re.compile(
    r"fork\s+while\s+fork|while\s*\(?\s*(?:1|true)?\s*\)?\s*\{?\s*fork|loop\s*\{\s*fork", re.IGNORECASE
)


def analyse_other(text: str, _home: str, _budget: Budget) -> list[Effect]:
    """Find the effects of a program by the names of common functions."""
    found: list[Effect] = [ShellText(_literal(match)) for match in _RUN_PATTERN.finditer(text)]
    found += [ShellText(without_markers(match[1] or match[2])) for match in _BACKTICK_PATTERN.finditer(text)]
    found += [FileUse(_literal(match), Use.DELETE, recursive=True) for match in _DELETE_PATTERN.finditer(text)]
    found += [FileUse(_literal(match), Use.WRITE) for match in _WRITE_PATTERN.finditer(text)]
    found += [FileUse(without_markers(match[1]), Use.WRITE) for match in _OPEN_PATTERN.finditer(text)]
    return [*found, *([Trait.FORK_BOMB] if _FORK_BOMB_PATTERN.search(text) else [])]


def _literal(match: re.Match[str]) -> str:
    return without_markers(re.sub(r"\\(.)", r"\1", match[1] or match[2] or match[3] or ""))


def analyse_awk(text: str, home: str, budget: Budget) -> list[Effect]:
    """Find the commands of an awk program: `system("…")`, `"…" | getline`, `print | "…"`."""
    piped = re.finditer(r'"((?:[^"\\]|\\.)*)"\s*\|\s*getline|\|\s*"((?:[^"\\]|\\.)*)"', text)
    return [*analyse_other(text, home, budget), *(ShellText(without_markers(match[1] or match[2])) for match in piped)]


class Language(msgspec.Struct, frozen=True):
    """How to analyse the code of an interpreter."""

    code_options: tuple[str, ...]
    """Options whose value is a program."""
    analyse: Callable[[str, str, Budget], list[Effect]]
    """Returns the effects of a program, given its text, the home directory and the budget."""


LANGUAGES = {
    "python": Language(("c",), analyse_python),
    "perl": Language(("e", "E"), analyse_other),
    "ruby": Language(("e",), analyse_other),
    "node": Language(("e", "eval", "p", "print"), analyse_other),
    "php": Language(("r",), analyse_other),
}
"""Interpreters by name."""

AWK = Language((), analyse_awk)
