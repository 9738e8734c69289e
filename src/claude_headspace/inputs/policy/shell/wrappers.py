"""Programs that run the rest of their arguments, or a part of them: `sudo`, `env`, `xargs`, `find -exec`, `ssh`."""

import re
from collections.abc import Sequence

import msgspec

from claude_headspace.inputs.policy.shell import arguments as options
from claude_headspace.inputs.policy.shell.flow import EMPTY, Flow
from claude_headspace.inputs.policy.shell.markers import plain, quoted
from claude_headspace.inputs.policy.shell.reader import Run, Shell
from claude_headspace.inputs.policy.shell.scripts import ordinary, run_text
from claude_headspace.kernel.policy.call import UNKNOWN, Use


class Wrapper(msgspec.Struct, frozen=True):
    """How a program that runs another is written."""

    valued: tuple[str, ...] = ()
    skip: int = 0
    """Operands of its own, before the program."""
    assigns: bool = False
    """Whether NAME=VALUE may stand before the program."""


_SUDO = tuple("u g h p C r t T U D R user group host prompt chdir chroot close-from".split())

WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper(_SUDO, assigns=True),
    "doas": Wrapper(("u", "C")),
    "pkexec": Wrapper(("user",)),
    "env": Wrapper(("u", "C", "unset", "chdir"), assigns=True),
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
RUNNERS = ("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mise")
"""Programs that run another after the word `run` or `exec`."""


def after_options(arguments: Sequence[str], wrapper: Wrapper) -> tuple[list[str], list[str]]:
    """The program that a wrapper runs with its arguments; before it, what was assigned."""
    rest, assigned = list(arguments), list[str]()
    while rest:
        word = plain(rest[0])
        if word == "--":
            rest.pop(0)
            break
        if word.startswith("--"):
            rest.pop(0)
            if "=" not in word and word[2:] in wrapper.valued and rest:
                rest.pop(0)
        elif word.startswith("-") and len(word) > 1:
            rest.pop(0)
            at = next((place for place, letter in enumerate(word[1:], 1) if letter in wrapper.valued), None)
            if at == len(word) - 1 and rest:
                rest.pop(0)
        elif wrapper.assigns and re.match(r"\w+=", word):
            assigned.append(rest.pop(0))
        else:
            break
    while wrapper.assigns and rest and re.match(r"\w+=", plain(rest[0])):
        assigned.append(rest.pop(0))
    return rest[wrapper.skip :], assigned


def run_wrapped(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """Run the program that a wrapper runs."""
    name = path.rpartition("/")[2]
    split = options.read(arguments, ("S", "split-string")).given("S", "split-string") if name == "env" else []
    if split:
        return shell.run(plain(split[0]), given)
    rest, assigned = after_options(arguments, WRAPPERS[name])
    for each in assigned:
        variable, _, value = plain(each).partition("=")
        shell.assign(variable, value)
    if name == "sudo" and any(plain(word) in ("-e", "--edit") for word in arguments):
        for operand in rest:
            shell.touch(operand, Use.WRITE, name)
        return EMPTY
    return shell.execute(rest, given) if rest else _shell_of(shell, name, arguments, given)


def _shell_of(shell: Shell, name: str, arguments: list[str], given: Flow) -> Flow:
    """Without a program some run a shell, which reads what they are given."""
    opens_shell = name in ("chroot", "unshare", "nsenter") or any(plain(word) in ("-s", "-i") for word in arguments)
    return run_text(shell.child(), given.text, given.by) if opens_shell and given.text else EMPTY


def command_builtin(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`command rm` runs it, `command -v rm` only tells where it is."""
    if arguments and plain(arguments[0]) in ("-v", "-V"):
        return Flow(f"{plain(arguments[-1])}\n")
    return shell.execute([word for word in arguments if word != "-p"], given)


def run_project_tool(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """`uv run PROGRAM`, `poetry run PROGRAM`."""
    found = [place for place, word in enumerate(arguments[:4]) if plain(word) in ("run", "exec")]
    if found:
        rest, _ = after_options(arguments[found[0] + 1 :], Wrapper(("with", "python", "p", "n", "group", "extra")))
        shell.execute(rest, given)
    return ordinary(shell, path, arguments, EMPTY)


def handed_on(skip: int, valued: tuple[str, ...]) -> Run:
    """A program that hands the rest of its arguments to a shell, as one text."""

    def run(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
        rest, _ = after_options(arguments, Wrapper(valued, skip))
        return shell.child().run(" ".join(map(plain, rest)), given) if rest else EMPTY

    return run


def option_text(*names: str) -> Run:
    """A program that hands the value of an option to a shell: `su -c TEXT`."""

    def run(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
        for text in options.read(arguments, names).given(*names):
            shell.child().run(plain(text), given)
        return ordinary(shell, path, arguments, given)

    return run


def xargs(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """The program gets what is read as its last arguments, or where the `-I` sign stands."""
    valued = tuple("I n P L d E s a J R S max-args max-procs max-lines delimiter arg-file".split())
    rest, _ = after_options(arguments, Wrapper(valued))
    signs = options.read(arguments[: len(arguments) - len(rest)], valued).given("I", "J")
    items = [item for item in re.split(r"[\s\0]+", given.text)[:50] if item] or [UNKNOWN]
    rest = rest or ["echo"]
    if signs:
        lines = [line for line in given.text.splitlines()[:20] if line] or [UNKNOWN]
        for line in lines:
            shell.execute([word.replace(plain(signs[0]), line) for word in rest], EMPTY, given.by)
        return Flow(UNKNOWN)
    return shell.execute([*rest, *items], EMPTY, given.by)


def parallel(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """GNU parallel: the program gets each item, from its arguments or its input."""
    rest, _ = after_options(arguments, Wrapper(("j", "jobs", "I", "a", "colsep", "C")))
    words = list(map(plain, rest))
    at = next((place for place, word in enumerate(words) if word.startswith(":::")), len(words))
    for item in words[at + 1 :][:20] or given.text.split()[:20] or [UNKNOWN]:
        text = " ".join(words[:at])
        shell.child().run(text.replace("{}", quoted(item)) if "{}" in text else f"{text} {quoted(item)}")
    return Flow(UNKNOWN)


# --- find -------------------------------------------------------------------------------------------------------------


_NAMING = ("-name", "-iname", "-path", "-wholename", "-ipath", "-regex")
_EXECUTING = ("-exec", "-execdir", "-ok", "-okdir")


def find(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`find`: `-delete` and `-exec`, and the names that it prints."""
    words = list(arguments)
    starts = []
    while words and not words[0].startswith(("-", "(", "!", ")")):
        starts.append(words.pop(0))
    targets = _found(shell, starts or ["."], words)
    if "-delete" in words:
        for target, whole in targets:
            shell.touch(target, Use.DELETE, "find", recursive=whole)
    for place, word in enumerate(words):
        if word in _EXECUTING:
            end = next((at for at, after in enumerate(words[place:], place) if after in (";", "+")), len(words))
            _execute_on(shell, words[place + 1 : end], [target for target, _ in targets], given)
    return Flow("".join(f"{plain(target)}\n" for target, _ in targets))


def _found(shell: Shell, starts: Sequence[str], words: Sequence[str]) -> list[tuple[str, bool]]:
    """What a search comes to: a directory with everything below, or the names in it that are looked for.

    Below the root it is everything in any case.
    """
    named = [plain(words[at + 1]) for at, word in enumerate(words[:-1]) if word in _NAMING]
    found: list[tuple[str, bool]] = []
    for start in starts:
        if not named or shell.place(start) == "/":
            found.append((start, True))
        found += [(f"{start}/{name.rpartition('/')[2]}", False) for name in named]
    return found


def _execute_on(shell: Shell, command: list[str], targets: Sequence[str], given: Flow) -> None:
    for target in targets:
        shell.child().execute([word.replace("{}", target) for word in command], given)
