"""The entry of the shell analysis, and the table of programs with their own handler. Contains the shell builtins."""

import msgspec

from claude_headspace.inputs.policy.shell.arguments import parse_arguments
from claude_headspace.inputs.policy.shell.budget import FULL, Budget, BudgetExceeded, Limits
from claude_headspace.inputs.policy.shell.findings import EMPTY, Findings, Flow
from claude_headspace.inputs.policy.shell.interpreter import Handler, Shell
from claude_headspace.inputs.policy.shell.languages import LANGUAGES
from claude_headspace.inputs.policy.shell.markers import has_glob, unmark, unmark_all, without_markers
from claude_headspace.inputs.policy.shell.program_handlers import (
    HEADSPACE_PROGRAMS,
    PACKAGE_RUNNERS,
    run_container,
    run_editor,
    run_git,
    run_hash,
    run_headspace,
    run_kill,
    run_make,
    run_netcat,
    run_osascript,
    run_package_tool,
    run_tmux,
)
from claude_headspace.inputs.policy.shell.scripts import (
    SHELLS,
    run_awk,
    run_eval,
    run_language,
    run_program,
    run_scheduled,
    run_shell,
    run_source,
    run_trap,
)
from claude_headspace.inputs.policy.shell.wrappers import (
    PROJECT_RUNNERS,
    WRAPPERS,
    run_command_builtin,
    run_fd,
    run_find,
    run_parallel,
    run_project_tool,
    run_wrapped,
    run_xargs,
    shell_from_arguments,
    shell_from_option,
)
from claude_headspace.kernel.policy.call import UNKNOWN, Program, Trait

MAX_ARGUMENT_CHARS = 1_000
"""Of a longer argument, rules see the beginning and the end."""


def analyse_shell(text: str, *, directory: str, home: str, project: str = "", limits: Limits = FULL) -> Findings:
    """Analyse a shell text: return the programs it would run, the files they would use, and its traits.

    Raises `BudgetExceeded` only if the limits are smaller than `FULL`: the analysis can be repeated with more.
    """
    findings = Findings(Budget(limits))
    shell = Shell(
        findings, directory=directory, home=home, project=project, handlers=HANDLERS, default_handler=run_program
    )
    try:
        shell.run(without_markers(text))
    except (BudgetExceeded, RecursionError):
        if limits != FULL:
            raise BudgetExceeded from None
        findings.add_trait(Trait.TOO_COMPLEX)
    findings.programs = [_shorten(program) for program in dict.fromkeys(findings.programs)]
    findings.paths = list(dict.fromkeys(findings.paths))
    return findings


def _shorten(program: Program) -> Program:
    """Limit the length of the arguments, so that matching them with rules is fast."""
    if all(len(argument) <= MAX_ARGUMENT_CHARS for argument in program.arguments):
        return program
    half = MAX_ARGUMENT_CHARS // 2
    arguments = (text if len(text) <= MAX_ARGUMENT_CHARS else text[:half] + text[-half:] for text in program.arguments)
    return msgspec.structs.replace(program, arguments=tuple(arguments))


def _run_cd(shell: Shell, _path: str, arguments: list[str], _stdin: Flow) -> Flow:
    operands = [word for word in arguments if not (word.startswith("-") and len(word) > 1)]
    target = operands[0] if operands else shell.home
    previous, shell.variables["OLDPWD"] = shell.variables.get("OLDPWD", UNKNOWN), shell.directory
    if unmark(target) == "-":
        shell.directory = previous
    else:
        shell.directory = UNKNOWN if has_glob(target) else shell.resolve_path(target)
    return EMPTY


def _run_alias(shell: Shell, _path: str, arguments: list[str], _stdin: Flow) -> Flow:
    for word in unmark_all(arguments):
        name, equals, text = word.partition("=")
        if equals:
            shell.aliases[name] = text
    return EMPTY


def _run_read(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    names = parse_arguments(arguments, tuple("a d i n N p t u".split())).operands
    line = stdin.text.partition("\n")[0] if stdin.text else UNKNOWN
    for name in names or ("REPLY",):
        shell.assign(unmark(name), line if len(names) <= 1 else UNKNOWN)
        shell.variable_sources[unmark(name)] = stdin.sources
    return EMPTY


def _run_set(shell: Shell, _path: str, arguments: list[str], _stdin: Flow) -> Flow:
    if "--" in arguments:
        shell.set_positional(arguments[arguments.index("--") + 1 :])
    return EMPTY


def _run_pwd(shell: Shell, _path: str, _arguments: list[str], _stdin: Flow) -> Flow:
    return Flow(f"{shell.directory}\n")


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(SHELLS, run_shell),
    **dict.fromkeys(WRAPPERS, run_wrapped),
    **dict.fromkeys(PROJECT_RUNNERS, run_project_tool),
    **dict.fromkeys(LANGUAGES, run_language),
    "osascript": run_osascript,
    **dict.fromkeys(("pypy", "nodejs", "luajit"), run_language),
    **dict.fromkeys(HEADSPACE_PROGRAMS, run_headspace),
    **dict.fromkeys(PACKAGE_RUNNERS, run_package_tool),
    **dict.fromkeys(("docker", "podman", "nerdctl"), run_container),
    **dict.fromkeys(("nc", "ncat", "netcat"), run_netcat),
    **dict.fromkeys(("make", "gmake"), run_make),
    "git": run_git,
    "tmux": run_tmux,
    "hash": run_hash,
    "kill": run_kill,
    "ed": run_editor,
    "sg": shell_from_option("c"),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), run_awk),
    **dict.fromkeys(("cd", "pushd", "chdir"), _run_cd),
    **dict.fromkeys((".", "source"), run_source),
    "eval": run_eval,
    "command": run_command_builtin,
    **dict.fromkeys(("at", "batch", "crontab"), run_scheduled),
    "trap": run_trap,
    "xargs": run_xargs,
    "gxargs": run_xargs,
    "parallel": run_parallel,
    "find": run_find,
    **dict.fromkeys(("fd", "fdfind"), run_fd),
    "gfind": run_find,
    "ssh": shell_from_arguments(1, tuple("B b c D E e F I i J L l m O o p Q R S W w".split())),
    "watch": shell_from_arguments(0, ("n", "interval")),
    "su": shell_from_option("c", "command"),
    "runuser": shell_from_option("c", "command"),
    "script": shell_from_option("c", "command"),
    "flock": shell_from_option("c", "command"),
    "alias": _run_alias,
    "read": _run_read,
    "set": _run_set,
    "pwd": _run_pwd,
}
"""Programs with their own handler. `run_program` handles all others."""
