"""The programs that run others, and those that change what the shell knows."""

import re
from collections.abc import Callable, Sequence

import msgspec

from claude_headspace.inputs.policy.paths import is_directory
from claude_headspace.inputs.policy.shell import arguments as options
from claude_headspace.inputs.policy.shell.findings import Findings
from claude_headspace.inputs.policy.shell.languages import LANGUAGES, Argv, Deed, Script, awk
from claude_headspace.inputs.policy.shell.markers import has_glob, plain
from claude_headspace.inputs.policy.shell.prints import PRINTS
from claude_headspace.inputs.policy.shell.programs import Touch, touches
from claude_headspace.inputs.policy.shell.reader import EMPTY, Flow, Run, Shell, quoted
from claude_headspace.kernel.policy.call import UNKNOWN, Trait, Use

SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "rbash", "mksh")

CARRIERS = frozenset(
    "curl wget nc ncat socat base64 base32 xxd openssl gzip gunzip zcat xz xzcat bzip2 bunzip2 tr rev sed awk dd ssh "
    "python python3 perl ruby node php".split()
)
"""Programs that bring a text from elsewhere or make it unreadable. What others print for a shell to run is theirs."""


def read_shell(text: str, *, directory: str, home: str, project: str = "") -> Findings:
    """What a text of the shell would do."""
    findings = Findings()
    shell = Shell(findings, directory=directory, home=home, project=project, commands=COMMANDS, ordinary=_ordinary)
    shell.run(text)
    return findings


# --- programs that are not special ------------------------------------------------------------------------------------


def _ordinary(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    name = path.rpartition("/")[2]
    for touch in touches(name, arguments):
        _touch(shell, name, touch)
    if "/" in path:
        text, ours = shell.content(path)
        if text is not None:
            _script(shell, text, arguments, given, ours=ours)
    _remember(shell, name, arguments, given)
    if name == "cat":
        return Flow(_printed_files(shell, arguments, given))
    if name == "git" and list(map(plain, arguments)) == ["rev-parse", "--show-toplevel"]:
        return Flow(f"{shell.project or UNKNOWN}\n")
    prints = PRINTS.get(name)
    return Flow(prints(list(map(plain, arguments)), given.text) if prints else UNKNOWN)


def _touch(shell: Shell, name: str, touch: Touch) -> None:
    shell.touch(touch.field, touch.use, name, recursive=touch.recursive)
    if touch.into and (touch.field.endswith("/") or is_directory(shell.place(touch.field))):
        for each in touch.into:
            base = plain(each).rstrip("/").rpartition("/")[2]
            shell.touch(f"{touch.field}/{base}", touch.use, name)


def _remember(shell: Shell, name: str, arguments: list[str], given: Flow) -> None:
    """Texts and links that later commands may meet again."""
    operands = options.read(arguments).operands
    if name == "tee":
        shell.files.update({shell.place(operand): given.text for operand in operands})
    elif name in ("cp", "mv", "install") and len(operands) == 2:
        text, ours = shell.content(operands[0])
        if text is not None and ours:
            shell.files[shell.place(operands[1])] = text
    elif name == "ln" and len(operands) == 2:
        shell.links[shell.place(operands[1])] = shell.place(operands[0])


def _printed_files(shell: Shell, arguments: list[str], given: Flow) -> str:
    operands = options.read(arguments).operands
    if not operands or plain(operands[0]) == "-":
        return given.text
    texts = [shell.content(operand)[0] for operand in operands]
    return "".join(UNKNOWN if text is None else text for text in texts)


# --- texts that are run -----------------------------------------------------------------------------------------------


def _run_text(shell: Shell, text: str, by: Sequence[str]) -> Flow:
    """Run a text; one of which nothing is known is noted as that, unless a program wrote it for this purpose."""
    if text.strip(f"./\n {UNKNOWN}") or UNKNOWN not in text:
        return shell.run(text)
    if not by or CARRIERS & set(by):
        shell.findings.traits[Trait.UNREADABLE_SCRIPT] = None
    return Flow(UNKNOWN)


def _script(shell: Shell, text: str, arguments: list[str], given: Flow, *, ours: bool) -> Flow:
    """Run a file's text, in a shell of its own. Of a file that was there before, only what is certain counts."""
    findings = shell.findings if ours else Findings()
    child = shell.child(findings)
    first = text.partition("\n")[0]
    if first.startswith("#!") and "sh" not in first:
        language = next((name for name in LANGUAGES if name in first), None)
        if language is not None:
            _do(child, LANGUAGES[language][1](text, shell.home), first)
    else:
        child.positional(arguments)
        child.run(text, given)
    if not ours:
        shell.findings.take(findings)
    return Flow(UNKNOWN)


def _shell(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`bash -c TEXT`, `bash FILE`, or a text on its standard input."""
    rest, has_text, from_stdin = list(arguments), False, False
    while rest and (rest[0].startswith(("-", "+")) and plain(rest[0]) != "-"):
        word = plain(rest.pop(0))
        if word == "--":
            break
        if word.startswith("--"):
            rest = rest[1:] if word in ("--rcfile", "--init-file") else rest
            continue
        has_text, from_stdin = has_text or "c" in word, from_stdin or "s" in word
        rest = rest[1:] if word.endswith(("o", "O")) and rest else rest
    child = shell.child()
    if has_text:
        child.positional(rest[2:])
        child.ambient = shell.findings.programs[-1].fed_by
        return _run_text(child, plain(rest[0]), child.ambient) if rest else EMPTY
    if rest and not from_stdin and plain(rest[0]) not in ("-", "/dev/stdin"):
        text, ours = shell.content(rest[0])
        if text is None:
            return Flow(UNKNOWN)
        if UNKNOWN in text and not text.strip(f"\n {UNKNOWN}"):
            return _run_text(child, text, given.by)
        return _script(shell, text, rest[1:], given, ours=ours)
    child.positional(rest)
    return _run_text(child, given.text, given.by)


def _eval(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    by = shell.findings.programs[-1].fed_by
    return _run_text(shell, " ".join(map(plain, arguments)), by or given.by)


def _source(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    if not arguments:
        return EMPTY
    if plain(arguments[0]) == "/dev/stdin":
        return _run_text(shell, given.text, given.by)
    text, ours = shell.content(arguments[0])
    by = shell.findings.programs[-1].fed_by
    if text is None:
        return EMPTY
    return _run_text(shell, text, by or given.by) if ours else _script(shell, text, arguments[1:], given, ours=False)


def _trap(shell: Shell, _path: str, arguments: list[str], _given: Flow) -> Flow:
    return shell.run(plain(arguments[0])) if len(arguments) > 1 else EMPTY


def language_of(path: str) -> str:
    """The language that an interpreter reads: `/usr/bin/python3.12` → python."""
    name = re.sub(r"[\d.]+$", "", path.rpartition("/")[2])
    return {"pypy": "python", "nodejs": "node"}.get(name, name)


def _language(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """`python -c TEXT`, a script, or a text on its standard input."""
    name = language_of(path)
    names, read = LANGUAGES[name]
    found = options.read(arguments, (*names, "m", "M", "I", "r", "W", "X"))
    texts = [plain(value) for value in found.given(*names)]
    if not texts and not found.given("m"):
        text = shell.content(found.operands[0])[0] if found.operands and plain(found.operands[0]) != "-" else given.text
        texts = [text or ""]
    for text in texts:
        _do(shell, read(text, shell.home), path)
    for touch in touches(name, arguments):
        _touch(shell, name, touch)
    return Flow(UNKNOWN)


def _awk(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    for operand in options.read(arguments, ("f", "F", "v", "i")).operands[:1]:
        _do(shell, awk(plain(operand), shell.home), path)
    return _ordinary(shell, path, arguments, given)


def _do(shell: Shell, deeds: Sequence[Deed], path: str) -> None:
    name = path.rpartition("/")[2]
    for deed in deeds:
        match deed:
            case Touch():
                _touch(shell, name, deed)
            case Script(text=text):
                if text.strip(UNKNOWN):
                    shell.child().run(text)
            case Argv(arguments=words):
                shell.execute(list(words), EMPTY)
            case Trait():
                shell.findings.traits[deed] = None


# --- programs that run the rest of their arguments --------------------------------------------------------------------


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


def _wrapper(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
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
    return shell.execute(rest, given)


def _command_builtin(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`command rm` runs it, `command -v rm` only tells where it is."""
    if arguments and plain(arguments[0]) in ("-v", "-V"):
        return Flow(f"{plain(arguments[-1])}\n")
    return shell.execute([word for word in arguments if word != "-p"], given)


def _runner(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    found = [place for place, word in enumerate(arguments[:4]) if plain(word) in ("run", "exec")]
    if found:
        rest, _ = after_options(arguments[found[0] + 1 :], Wrapper(("with", "python", "p", "n", "group", "extra")))
        shell.execute(rest, given)
    return _ordinary(shell, path, arguments, EMPTY)


def _joined(skip: int, valued: tuple[str, ...]) -> Run:
    """A program that hands the rest of its arguments to a shell, as one text."""

    def run(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
        rest, _ = after_options(arguments, Wrapper(valued, skip))
        return shell.child().run(" ".join(map(plain, rest)), given) if rest else EMPTY

    return run


def _option(*names: str) -> Run:
    """A program that hands the value of an option to a shell: `su -c TEXT`."""

    def run(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
        for text in options.read(arguments, names).given(*names):
            shell.child().run(plain(text), given)
        return _ordinary(shell, path, arguments, given)

    return run


def _xargs(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
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


def _parallel(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
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


def _find(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
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


# --- what changes the shell itself ------------------------------------------------------------------------------------


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


COMMANDS: dict[str, Callable[[Shell, str, list[str], Flow], Flow]] = {
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(WRAPPERS, _wrapper),
    **dict.fromkeys(RUNNERS, _runner),
    **dict.fromkeys(LANGUAGES, _language),
    **dict.fromkeys(("python2", "python3", "python3.11", "python3.12", "python3.13", "pypy3", "nodejs"), _language),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("cd", "pushd", "chdir"), _cd),
    **dict.fromkeys((".", "source"), _source),
    "eval": _eval,
    "command": _command_builtin,
    "trap": _trap,
    "xargs": _xargs,
    "gxargs": _xargs,
    "parallel": _parallel,
    "find": _find,
    "gfind": _find,
    "ssh": _joined(1, tuple("B b c D E e F I i J L l m O o p Q R S W w".split())),
    "watch": _joined(0, ("n", "interval")),
    "su": _option("c", "command"),
    "runuser": _option("c", "command"),
    "script": _option("c", "command"),
    "flock": _option("c", "command"),
    "alias": _alias,
    "read": _read,
    "set": _set,
    "pwd": _pwd,
}
"""Programs of which more is known than which files they touch."""
