"""The table of programs of which more is known than which files they touch, and what changes the shell itself."""

from claude_headspace.inputs.policy.shell import arguments as options
from claude_headspace.inputs.policy.shell.findings import Findings
from claude_headspace.inputs.policy.shell.flow import EMPTY, Flow
from claude_headspace.inputs.policy.shell.languages import LANGUAGES
from claude_headspace.inputs.policy.shell.markers import has_glob, plain
from claude_headspace.inputs.policy.shell.reader import Run, Shell
from claude_headspace.inputs.policy.shell.scripts import (
    SHELLS,
    do_eval,
    ordinary,
    run_awk,
    run_language,
    run_shell,
    run_timed,
    source,
    trap,
)
from claude_headspace.inputs.policy.shell.wrappers import (
    RUNNERS,
    WRAPPERS,
    command_builtin,
    find,
    handed_on,
    option_text,
    parallel,
    run_project_tool,
    run_wrapped,
    xargs,
)
from claude_headspace.kernel.policy.call import UNKNOWN, Trait


def read_shell(text: str, *, directory: str, home: str, project: str = "") -> Findings:
    """What a text of the shell would do."""
    findings = Findings()
    shell = Shell(findings, directory=directory, home=home, project=project, commands=COMMANDS, ordinary=ordinary)
    try:
        shell.run(text)
    except RecursionError:  # no person writes that
        findings.traits[Trait.UNREADABLE_SCRIPT] = None
    findings.programs, findings.paths = list(dict.fromkeys(findings.programs)), list(dict.fromkeys(findings.paths))
    return findings


def _cd(shell: Shell, _path: str, arguments: list[str], _given: Flow) -> Flow:
    operands = [word for word in arguments if not (word.startswith("-") and len(word) > 1)]
    target = operands[0] if operands else shell.home
    before, shell.variables["OLDPWD"] = shell.variables.get("OLDPWD", UNKNOWN), shell.directory
    if plain(target) == "-":
        shell.directory = before
    else:
        shell.directory = UNKNOWN if has_glob(target) else shell.place(target)
    return EMPTY


def _alias(shell: Shell, _path: str, arguments: list[str], _given: Flow) -> Flow:
    for word in map(plain, arguments):
        name, equals, text = word.partition("=")
        if equals:
            shell.aliases[name] = text
    return EMPTY


def _read(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    names = options.read(arguments, tuple("a d i n N p t u".split())).operands
    line = given.text.partition("\n")[0] if given.text else UNKNOWN
    for name in names or ("REPLY",):
        shell.assign(plain(name), line if len(names) <= 1 else UNKNOWN)
        shell.origins[plain(name)] = given.by
    return EMPTY


def _set(shell: Shell, _path: str, arguments: list[str], _given: Flow) -> Flow:
    if "--" in arguments:
        shell.positional(arguments[arguments.index("--") + 1 :])
    return EMPTY


def _pwd(shell: Shell, _path: str, _arguments: list[str], _given: Flow) -> Flow:
    return Flow(f"{shell.directory}\n")


COMMANDS: dict[str, Run] = {
    **dict.fromkeys(SHELLS, run_shell),
    **dict.fromkeys(WRAPPERS, run_wrapped),
    **dict.fromkeys(RUNNERS, run_project_tool),
    **dict.fromkeys(LANGUAGES, run_language),
    **dict.fromkeys(("python2", "python3", "python3.11", "python3.12", "python3.13", "pypy3", "nodejs"), run_language),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), run_awk),
    **dict.fromkeys(("cd", "pushd", "chdir"), _cd),
    **dict.fromkeys((".", "source"), source),
    "eval": do_eval,
    "command": command_builtin,
    **dict.fromkeys(("at", "batch", "crontab"), run_timed),
    "trap": trap,
    "xargs": xargs,
    "gxargs": xargs,
    "parallel": parallel,
    "find": find,
    "gfind": find,
    "ssh": handed_on(1, tuple("B b c D E e F I i J L l m O o p Q R S W w".split())),
    "watch": handed_on(0, ("n", "interval")),
    "su": option_text("c", "command"),
    "runuser": option_text("c", "command"),
    "script": option_text("c", "command"),
    "flock": option_text("c", "command"),
    "alias": _alias,
    "read": _read,
    "set": _set,
    "pwd": _pwd,
}
"""Programs of which more is known than which files they touch."""
