"""Handlers for programs that run another program from their arguments: `sudo`, `env`, `xargs`, `find -exec`, `ssh`."""

import re
from collections.abc import Sequence

import msgspec

from claude_headspace.inputs.policy.shell.arguments import parse_arguments
from claude_headspace.inputs.policy.shell.findings import EMPTY, Flow
from claude_headspace.inputs.policy.shell.interpreter import WATCHED_VARIABLES, Handler, Shell
from claude_headspace.inputs.policy.shell.markers import quote, unmark, unmark_all
from claude_headspace.inputs.policy.shell.scripts import run_program, run_text
from claude_headspace.kernel.policy.call import UNKNOWN, Program, Trait, Use


class Wrapper(msgspec.Struct, frozen=True):
    """The arguments of a wrapper before the program that it runs."""

    valued: tuple[str, ...] = ()
    """Options that take a value."""
    own_operands: int = 0
    """The number of operands before the program."""
    accepts_assignments: bool = False
    """Whether `NAME=VALUE` can precede the program."""


_SUDO = tuple("u g h p C r t T U D R user group host prompt chdir chroot close-from".split())
_PLAIN = (
    "nohup setsid unbuffer unshare builtin busybox toybox bunx coproc fakeroot dbus-run-session uvx catchsegv proot "
    "setarch linux32 linux64 chpst setpriv prlimit valgrind"
).split()

WRAPPERS: dict[str, Wrapper] = {
    **dict.fromkeys(_PLAIN, Wrapper()),
    **dict.fromkeys(("chrt", "taskset"), Wrapper((), 1)),
    **dict.fromkeys(("timeout", "gtimeout"), Wrapper(("s", "k", "signal", "kill-after"), 1)),
    **dict.fromkeys(("strace", "ltrace"), Wrapper(("o", "e", "p", "s"))),
    "sudo": Wrapper(_SUDO, accepts_assignments=True),
    "doas": Wrapper(("u", "C")),
    "pkexec": Wrapper(("user",)),
    "env": Wrapper(("u", "C", "unset", "chdir"), accepts_assignments=True),
    "nice": Wrapper(("n", "adjustment")),
    "ionice": Wrapper(("c", "n", "class", "classdata")),
    "time": Wrapper(("f", "o", "format", "output")),
    "stdbuf": Wrapper(("i", "o", "e", "input", "output", "error")),
    "chroot": Wrapper(("userspec", "groups"), 1),
    "nsenter": Wrapper(("t", "target", "S", "G", "setuid", "setgid")),
    "caffeinate": Wrapper(("t", "w")),
    "systemd-run": Wrapper(("unit", "p", "property")),
    "exec": Wrapper(("a",)),
    "npx": Wrapper(("p", "package")),
    "xvfb-run": Wrapper(("n", "s", "e")),
}
PROJECT_RUNNERS = ("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mise")
"""Programs that run another program with the subcommand `run` or `exec`."""


def split_wrapped_command(arguments: Sequence[str], wrapper: Wrapper) -> tuple[list[str], list[str]]:
    """Return the wrapped program with its arguments, and the assignments before it."""
    rest, assignments = list(arguments), list[str]()
    while rest:
        word = unmark(rest[0])
        if word == "--":
            rest.pop(0)
            break
        if word.startswith("-") and len(word) > 1:
            rest.pop(0)
            if rest and _takes_next_word(word, wrapper.valued):
                rest.pop(0)
        elif wrapper.accepts_assignments and re.match(r"\w+=", word):
            assignments.append(rest.pop(0))
        else:
            break
    while wrapper.accepts_assignments and rest and re.match(r"\w+=", unmark(rest[0])):
        assignments.append(rest.pop(0))
    return rest[wrapper.own_operands :], assignments


def _takes_next_word(option: str, valued: tuple[str, ...]) -> bool:
    """Whether the next word is the value of this option: `-n`, but not `-n5`."""
    if option.startswith("--"):
        return option[2:] in valued
    letters = option[1:]
    first = min((letters.index(letter) for letter in valued if letter in letters), default=None)
    return first == len(letters) - 1


def run_wrapped(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the wrapped program."""
    name = path.rpartition("/")[2]
    split_names = ("S", "split-string")
    if name == "env" and (texts := parse_arguments(arguments, split_names).get_values(*split_names)):
        return shell.run(unmark(texts[0]), stdin)
    rest, assignments = split_wrapped_command(arguments, WRAPPERS[name])
    for assignment in assignments:
        variable, _, value = unmark(assignment).partition("=")
        shell.assign_reported(variable, value)
    if name == "sudo" and any(unmark(word) in ("-e", "--edit") for word in arguments):
        for operand in rest:
            shell.record_use(operand, Use.WRITE, name)
        return EMPTY
    for removed in _removed_variables(name, arguments):
        shell.findings.programs.append(Program("export", (f"{removed}=",)))
    sources = shell.current_sources
    if rest and "://" in rest[0]:  # a package from an address
        shell.findings.add_trait(Trait.UNREADABLE_SCRIPT)
    for text in parse_arguments(arguments, ("c", "call")).get_values("c", "call") if name == "npx" else ():
        shell.create_subshell().run(unmark(text))
    return shell.execute(rest, stdin, sources) if rest else _run_default_shell(shell, name, arguments, stdin)


def _removed_variables(name: str, arguments: Sequence[str]) -> list[str]:
    """Return the variables that `env -u NAME` removes, if rules can match them."""
    parsed = parse_arguments(arguments, WRAPPERS[name].valued)
    removed = parsed.get_values("u", "unset") if name == "env" else []
    return [unmark(variable) for variable in removed if variable.startswith(WATCHED_VARIABLES)]


def _run_default_shell(shell: Shell, name: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the input in a shell if the wrapper opens one without a program."""
    opens_shell = name in ("chroot", "unshare", "nsenter") or any(unmark(word) in ("-s", "-i") for word in arguments)
    return run_text(shell.create_subshell(), stdin.text, stdin.sources) if opens_shell and stdin.text else EMPTY


def run_command_builtin(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `command PROGRAM`. `command -v PROGRAM` only prints its path."""
    if arguments and unmark(arguments[0]) in ("-v", "-V"):
        return Flow(f"{unmark(arguments[-1])}\n")
    return shell.execute([word for word in arguments if word != "-p"], stdin)


def run_project_tool(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `uv run PROGRAM`, `poetry run PROGRAM` and the like."""
    subcommand = next((index for index, word in enumerate(arguments[:4]) if unmark(word) in ("run", "exec")), None)
    if subcommand is not None:
        wrapper = Wrapper(("with", "python", "p", "n", "group", "extra"))
        rest, _ = split_wrapped_command(arguments[subcommand + 1 :], wrapper)
        shell.execute(rest, stdin)
    return run_program(shell, path, arguments, EMPTY)


def shell_from_arguments(own_operands: int, valued: tuple[str, ...]) -> Handler:
    """Return a handler for a program that runs its remaining arguments as shell text: `ssh HOST TEXT`."""

    def run(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
        rest, _ = split_wrapped_command(arguments, Wrapper(valued, own_operands))
        for option in arguments[: len(arguments) - len(rest)]:
            if (command := re.match(r"(?:Proxy|Local)Command[= ](.+)", unmark(option), re.DOTALL)) is not None:
                shell.create_subshell().run(command[1])
        return shell.create_subshell().run(" ".join(unmark_all(rest)), stdin) if rest else EMPTY

    return run


def shell_from_option(*names: str) -> Handler:
    """Return a handler for a program that runs the value of an option as shell text: `su -c TEXT`."""

    def run(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
        for text in parse_arguments(arguments, names).get_values(*names):
            shell.create_subshell().run(unmark(text), stdin)
        return run_program(shell, path, arguments, stdin)

    return run


def run_xargs(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run a program with the items of the input appended, or once per line with `-I`."""
    valued = tuple("I n P L d E s a J R S max-args max-procs max-lines delimiter arg-file".split())
    rest, _ = split_wrapped_command(arguments, Wrapper(valued))
    placeholders = parse_arguments(arguments[: len(arguments) - len(rest)], valued).get_values("I", "J")
    command = rest or ["echo"]
    if placeholders:
        placeholder = unmark(placeholders[0])
        for line in list(filter(None, re.split(r"[\n\0]", stdin.text))) or [UNKNOWN]:
            shell.execute([_fill(shell, word, placeholder, line) for word in command], EMPTY, stdin.sources)
        return Flow(UNKNOWN)
    items = list(filter(None, re.split(r"[\s\0]+", stdin.text))) or [UNKNOWN]
    return shell.execute([*command, *items], EMPTY, stdin.sources)


def _fill(shell: Shell, word: str, placeholder: str, value: str) -> str:
    """Replace a placeholder."""
    shell.budget.spend(0, word.count(placeholder) * len(value))
    return word.replace(placeholder, value)


def run_parallel(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run GNU parallel: a shell text once per item. Items follow `:::`, or come from the input."""
    rest, _ = split_wrapped_command(arguments, Wrapper(("j", "jobs", "I", "a", "colsep", "C")))
    words = unmark_all(rest)
    separator = next((index for index, word in enumerate(words) if word.startswith(":::")), len(words))
    text = " ".join(words[:separator])
    for item in words[separator + 1 :] or stdin.text.split() or [UNKNOWN]:
        quoted = quote(item)
        shell.create_subshell().run(_fill(shell, text, "{}", quoted) if "{}" in text else f"{text} {quoted}")
    return Flow(UNKNOWN)


# --- find -------------------------------------------------------------------------------------------------------------

_NAME_TESTS = ("-name", "-iname", "-path", "-wholename", "-ipath", "-regex")
_RECURSIVE_WITH_FLAG = ("chmod", "chown", "chgrp")
"""Programs that are recursive with `-R`, as they are if `find` runs them for everything below a directory."""
_EXEC_ACTIONS = ("-exec", "-execdir", "-ok", "-okdir")


def run_find(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `find`: its actions `-delete` and `-exec`. Return the names that it would print."""
    words = list(arguments)
    starts = []
    while words and unmark(words[0]) in ("-H", "-L", "-P", "--"):
        words.pop(0)
    while words and not words[0].startswith(("-", "(", "!", ")")):
        starts.append(words.pop(0))
    targets = _find_targets(shell, starts or ["."], words)
    if "-delete" in words:
        for target, recursive in targets:
            shell.record_use(target, Use.DELETE, "find", recursive=recursive)
    for start, word in enumerate(words):
        if word in _EXEC_ACTIONS:
            end = next((index for index in range(start, len(words)) if words[index] in (";", "+")), len(words))
            for target, recursive in targets:
                command = [_fill(shell, word, "{}", target) for word in words[start + 1 : end]]
                if recursive and command and unmark(command[0]) in _RECURSIVE_WITH_FLAG:
                    command.insert(1, "-R")
                shell.create_subshell().execute(command, stdin)
    return Flow("".join(f"{unmark(target)}\n" for target, _ in targets))


def run_fd(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the program of `fd PATTERN DIRECTORY -x PROGRAM`."""
    words = unmark_all(arguments)
    start = next((index for index, word in enumerate(words) if word in ("-x", "-X", "--exec", "--exec-batch")), None)
    directories = [word for word in arguments[:start] if not word.startswith("-")][1:] or ["."]
    for directory in directories if start is not None else ():
        command = [_fill(shell, word, "{}", directory) for word in arguments[(start or 0) + 1 :]]
        shell.create_subshell().execute(command if "{}" in words else [*command, directory], stdin)
    return Flow(f"./{UNKNOWN}\n")


def _find_targets(shell: Shell, starts: Sequence[str], words: Sequence[str]) -> list[tuple[str, bool]]:
    """Return what a search finds, and whether that includes everything below. A search from `/` always does."""
    names = [unmark(words[index + 1]) for index, word in enumerate(words[:-1]) if word in _NAME_TESTS]
    targets: list[tuple[str, bool]] = []
    for start in starts:
        if not names or shell.resolve_path(start) == "/":
            targets.append((start, True))
        targets += [(f"{start}/{name.rpartition('/')[2]}", False) for name in names]
    return targets
