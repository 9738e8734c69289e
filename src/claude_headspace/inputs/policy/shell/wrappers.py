"""Programs that run the rest of their arguments, or a part of them: `sudo`, `env`, `xargs`, `find -exec`, `ssh`."""

import re
from collections.abc import Sequence

import msgspec

from claude_headspace.inputs.policy.shell import arguments as options
from claude_headspace.inputs.policy.shell.flow import EMPTY, Flow
from claude_headspace.inputs.policy.shell.interpreter import Handler, Shell
from claude_headspace.inputs.policy.shell.markers import quote, unmark
from claude_headspace.inputs.policy.shell.scripts import run_program, run_text
from claude_headspace.kernel.policy.call import UNKNOWN, Use


class Wrapper(msgspec.Struct, frozen=True):
    """How a program that runs another is written."""

    value_options: tuple[str, ...] = ()
    own_operands: int = 0
    """Operands of its own, before the program."""
    accepts_assignments: bool = False
    """Whether NAME=VALUE may stand before the program."""


_SUDO = tuple("u g h p C r t T U D R user group host prompt chdir chroot close-from".split())

WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper(_SUDO, accepts_assignments=True),
    "doas": Wrapper(("u", "C")),
    "pkexec": Wrapper(("user",)),
    "env": Wrapper(("u", "C", "unset", "chdir"), accepts_assignments=True),
    "nice": Wrapper(("n", "adjustment")),
    "ionice": Wrapper(("c", "n", "class", "classdata")),
    "chrt": Wrapper((), 1),
    "taskset": Wrapper((), 1),
    "timeout": Wrapper(("s", "k", "signal", "kill-after"), 1),
    "gtimeout": Wrapper(("s", "k", "signal", "kill-after"), 1),
    "time": Wrapper(("f", "o", "format", "output")),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "stdbuf": Wrapper(("i", "o", "e", "input", "output", "error")),
    "unbuffer": Wrapper(),
    "chroot": Wrapper(("userspec", "groups"), 1),
    "unshare": Wrapper(),
    "nsenter": Wrapper(("t", "target", "S", "G", "setuid", "setgid")),
    "strace": Wrapper(("o", "e", "p", "s")),
    "ltrace": Wrapper(("o", "e", "p", "s")),
    "caffeinate": Wrapper(("t", "w")),
    "systemd-run": Wrapper(("unit", "p", "property")),
    "builtin": Wrapper(),
    "exec": Wrapper(("a",)),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "npx": Wrapper(("p", "package")),
    "bunx": Wrapper(),
    "xvfb-run": Wrapper(("n", "s", "e")),
    "coproc": Wrapper(),
}
PROJECT_RUNNERS = ("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mise")
"""Programs that run another after the word `run` or `exec`."""


def split_wrapped_command(arguments: Sequence[str], wrapper: Wrapper) -> tuple[list[str], list[str]]:
    """The program that a wrapper runs with its arguments; before it, what was assigned."""
    rest, assigned = list(arguments), list[str]()
    while rest:
        word = unmark(rest[0])
        if word == "--":
            rest.pop(0)
            break
        if word.startswith("--"):
            rest.pop(0)
            if "=" not in word and word[2:] in wrapper.value_options and rest:
                rest.pop(0)
        elif word.startswith("-") and len(word) > 1:
            rest.pop(0)
            at = next((place for place, letter in enumerate(word[1:], 1) if letter in wrapper.value_options), None)
            if at == len(word) - 1 and rest:
                rest.pop(0)
        elif wrapper.accepts_assignments and re.match(r"\w+=", word):
            assigned.append(rest.pop(0))
        else:
            break
    while wrapper.accepts_assignments and rest and re.match(r"\w+=", unmark(rest[0])):
        assigned.append(rest.pop(0))
    return rest[wrapper.own_operands :], assigned


def run_wrapped(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """Run the program that a wrapper runs."""
    name = path.rpartition("/")[2]
    split = (
        options.parse_arguments(arguments, ("S", "split-string")).get_values("S", "split-string")
        if name == "env"
        else []
    )
    if split:
        return shell.run(unmark(split[0]), given)
    rest, assigned = split_wrapped_command(arguments, WRAPPERS[name])
    for each in assigned:
        variable, _, value = unmark(each).partition("=")
        shell.assign(variable, value)
    if name == "sudo" and any(unmark(word) in ("-e", "--edit") for word in arguments):
        for operand in rest:
            shell.record_use(operand, Use.WRITE, name)
        return EMPTY
    return shell.execute(rest, given) if rest else _run_default_shell(shell, name, arguments, given)


def _run_default_shell(shell: Shell, name: str, arguments: list[str], given: Flow) -> Flow:
    """Without a program some run a shell, which reads what they are given."""
    opens_shell = name in ("chroot", "unshare", "nsenter") or any(unmark(word) in ("-s", "-i") for word in arguments)
    return run_text(shell.create_subshell(), given.text, given.sources) if opens_shell and given.text else EMPTY


def run_command_builtin(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`command rm` runs it, `command -v rm` only tells where it is."""
    if arguments and unmark(arguments[0]) in ("-v", "-V"):
        return Flow(f"{unmark(arguments[-1])}\n")
    return shell.execute([word for word in arguments if word != "-p"], given)


def run_project_tool(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """`uv run PROGRAM`, `poetry run PROGRAM`."""
    found = [place for place, word in enumerate(arguments[:4]) if unmark(word) in ("run", "exec")]
    if found:
        rest, _ = split_wrapped_command(
            arguments[found[0] + 1 :], Wrapper(("with", "python", "p", "n", "group", "extra"))
        )
        shell.execute(rest, given)
    return run_program(shell, path, arguments, EMPTY)


def shell_from_arguments(skip: int, valued: tuple[str, ...]) -> Handler:
    """A program that hands the rest of its arguments to a shell, as one text."""

    def run(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
        rest, _ = split_wrapped_command(arguments, Wrapper(valued, skip))
        return shell.create_subshell().run(" ".join(map(unmark, rest)), given) if rest else EMPTY

    return run


def shell_from_option(*names: str) -> Handler:
    """A program that hands the value of an option to a shell: `su -c TEXT`."""

    def run(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
        for text in options.parse_arguments(arguments, names).get_values(*names):
            shell.create_subshell().run(unmark(text), given)
        return run_program(shell, path, arguments, given)

    return run


def run_xargs(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """The program gets what is read as its last arguments, or where the `-I` sign stands."""
    valued = tuple("I n P L d E s a J R S max-args max-procs max-lines delimiter arg-file".split())
    rest, _ = split_wrapped_command(arguments, Wrapper(valued))
    signs = options.parse_arguments(arguments[: len(arguments) - len(rest)], valued).get_values("I", "J")
    items = [item for item in re.split(r"[\s\0]+", given.text)[:50] if item] or [UNKNOWN]
    rest = rest or ["echo"]
    if signs:
        lines = [line for line in given.text.splitlines()[:20] if line] or [UNKNOWN]
        for line in lines:
            shell.execute([word.replace(unmark(signs[0]), line) for word in rest], EMPTY, given.sources)
        return Flow(UNKNOWN)
    return shell.execute([*rest, *items], EMPTY, given.sources)


def run_parallel(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """GNU parallel: the program gets each item, from its arguments or its input."""
    rest, _ = split_wrapped_command(arguments, Wrapper(("j", "jobs", "I", "a", "colsep", "C")))
    words = list(map(unmark, rest))
    at = next((place for place, word in enumerate(words) if word.startswith(":::")), len(words))
    for item in words[at + 1 :][:20] or given.text.split()[:20] or [UNKNOWN]:
        text = " ".join(words[:at])
        shell.create_subshell().run(text.replace("{}", quote(item)) if "{}" in text else f"{text} {quote(item)}")
    return Flow(UNKNOWN)


# --- find -------------------------------------------------------------------------------------------------------------


_NAME_TESTS = ("-name", "-iname", "-path", "-wholename", "-ipath", "-regex")
_EXEC_ACTIONS = ("-exec", "-execdir", "-ok", "-okdir")


def run_find(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`find`: `-delete` and `-exec`, and the names that it prints."""
    words = list(arguments)
    starts = []
    while words and not words[0].startswith(("-", "(", "!", ")")):
        starts.append(words.pop(0))
    targets = _find_targets(shell, starts or ["."], words)
    if "-delete" in words:
        for target, whole in targets:
            shell.record_use(target, Use.DELETE, "find", recursive=whole)
    for place, word in enumerate(words):
        if word in _EXEC_ACTIONS:
            end = next((at for at, after in enumerate(words[place:], place) if after in (";", "+")), len(words))
            _execute_for_each(shell, words[place + 1 : end], [target for target, _ in targets], given)
    return Flow("".join(f"{unmark(target)}\n" for target, _ in targets))


def _find_targets(shell: Shell, starts: Sequence[str], words: Sequence[str]) -> list[tuple[str, bool]]:
    """What a search comes to: a directory with everything below, or the names in it that are looked for.

    Below the root it is everything in any case.
    """
    named = [unmark(words[at + 1]) for at, word in enumerate(words[:-1]) if word in _NAME_TESTS]
    found: list[tuple[str, bool]] = []
    for start in starts:
        if not named or shell.resolve_path(start) == "/":
            found.append((start, True))
        found += [(f"{start}/{name.rpartition('/')[2]}", False) for name in named]
    return found


def _execute_for_each(shell: Shell, command: list[str], targets: Sequence[str], given: Flow) -> None:
    for target in targets:
        shell.create_subshell().execute([word.replace("{}", target) for word in command], given)
