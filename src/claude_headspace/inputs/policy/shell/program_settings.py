"""Settings and variables whose value is a program that another program runs later: `core.pager`, `GIT_SSH_COMMAND`.

Rules
- Ordinary values are not reported: a pager, an editor or `ssh` with options.
- Everything else is reported as a program `run by setting`, so that rules can match it.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from claude_headspace.kernel.policy.call import Program

RUN_BY_SETTING = "run by setting"

PROGRAM_VARIABLES = frozenset(
    "GIT_SSH_COMMAND GIT_SSH GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND "
    "PAGER MANPAGER LESSOPEN PROMPT_COMMAND BASH_ENV".split()
)
"""Environment variables that contain a program."""

_GIT_PROGRAMS = re.compile(
    r"(?i)core\.(?:pager|editor|sshcommand|fsmonitor|askpass)|sequence\.editor|pager\..+|diff\.external"
    r"|diff\..+\.(?:command|textconv)|gpg\.(?:.+\.)?program"
)
"""Settings of git that contain a program."""
_GIT_MARKED = re.compile(r"(?i)alias\..+|credential\.(?:.+\.)?helper")
"""Settings of git that contain a program if they start with `!`."""
_GIT_READS = frozenset(("--get", "--get-all", "--get-regexp", "--list", "-l", "--unset", "--unset-all", "get", "list"))
_INTERPRETERS = re.compile(
    r"(?:.*/)?(?:ba|da|z|k|fi)?sh|(?:.*/)?(?:python|perl|ruby|node|php|lua)[\d.]*|eval|exec|curl|wget|nc|ncat|env"
)
_META = re.compile(r"[;&|`$()<>\n]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PAGERS = re.compile(r"(?:diff-so-fancy|delta|diff-highlight|cat|col -bx?)\s*\|\s*(?:less|more|bat)\b[^;&|`$()<>\n!]*")


def is_ordinary(value: str) -> bool:
    """Whether a value runs one program that is no interpreter, or a known pair of pagers."""
    text = value.strip()
    if not text or _PAGERS.fullmatch(text):
        return True
    is_foreign = "!" in text or "proxycommand" in text.lower() or _META.search(_QUOTED.sub("", text)) is not None
    return not is_foreign and _INTERPRETERS.fullmatch(text.split()[0].strip("'\"")) is None


def variable_program(name: str, value: str) -> Iterator[Program]:
    """Yield the program that a variable makes another program run, unless it is ordinary."""
    if name in PROGRAM_VARIABLES and not is_ordinary(value):
        yield Program(RUN_BY_SETTING, (f"{name}={value}"[:200],))


def git_programs(words: Sequence[str]) -> Iterator[Program]:
    """Yield the programs that `git config KEY VALUE` and `git -c KEY=VALUE` make git run, unless they are ordinary."""
    for key, value in _git_settings(words):
        runs = _GIT_PROGRAMS.fullmatch(key) is not None and not is_ordinary(value)
        if runs or (_GIT_MARKED.fullmatch(key) is not None and value.lstrip().startswith("!")):
            yield Program(RUN_BY_SETTING, (f"{key}={value}"[:200],))


def _git_settings(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for index, word in enumerate(words[:-1]):
        if word in ("-c", "--config") and "=" in words[index + 1]:
            key, _, value = words[index + 1].partition("=")
            yield key, value
    if "config" in words and not _GIT_READS & set(words):
        yield from itertools.pairwise(words)
