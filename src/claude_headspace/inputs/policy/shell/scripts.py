"""Programs in general, and the texts that some of them run: `bash -c`, scripts, `eval`, other languages."""

import re
from collections.abc import Sequence

from claude_headspace.inputs.policy.paths import is_directory
from claude_headspace.inputs.policy.shell import arguments as options
from claude_headspace.inputs.policy.shell.findings import Findings
from claude_headspace.inputs.policy.shell.flow import EMPTY, Flow
from claude_headspace.inputs.policy.shell.languages import LANGUAGES, Argv, Deed, Script, awk
from claude_headspace.inputs.policy.shell.markers import plain
from claude_headspace.inputs.policy.shell.prints import PRINTS
from claude_headspace.inputs.policy.shell.programs import Touch, touches
from claude_headspace.inputs.policy.shell.reader import Shell
from claude_headspace.kernel.policy.call import UNKNOWN, Trait, Use

SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "rbash", "mksh")

CARRIERS = frozenset(
    "curl wget nc ncat socat base64 base32 xxd openssl gzip gunzip zcat xz xzcat bzip2 bunzip2 tr rev sed awk dd ssh "
    "python python3 perl ruby node php".split()
)
"""Programs that bring a text from elsewhere or make it unreadable. What others print for a shell to run is theirs."""


def ordinary(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """What every program does: touch files, be a script, print."""
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
    elif name in CARRIERS:
        written = [touch.field for touch in touches(name, arguments) if touch.use is Use.WRITE]
        shell.files.update({shell.place(field): UNKNOWN for field in written})
    elif name == "ln" and len(operands) == 2:
        shell.links[shell.place(operands[1])] = shell.place(operands[0])


def _printed_files(shell: Shell, arguments: list[str], given: Flow) -> str:
    operands = options.read(arguments).operands
    if not operands or plain(operands[0]) == "-":
        return given.text
    texts = [shell.content(operand)[0] for operand in operands]
    return "".join(UNKNOWN if text is None else text for text in texts)


# --- texts that are run -----------------------------------------------------------------------------------------------


def run_text(shell: Shell, text: str, by: Sequence[str]) -> Flow:
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


def run_shell(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
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
        return run_text(child, plain(rest[0]), child.ambient) if rest else EMPTY
    if rest and not from_stdin and plain(rest[0]) not in ("-", "/dev/stdin"):
        text, ours = shell.content(rest[0])
        if text is None:
            return Flow(UNKNOWN)
        if UNKNOWN in text and not text.strip(f"\n {UNKNOWN}"):
            return run_text(child, text, given.by)
        return _script(shell, text, rest[1:], given, ours=ours)
    child.positional(rest)
    return run_text(child, given.text, given.by)


def do_eval(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`eval TEXT`."""
    by = shell.findings.programs[-1].fed_by
    return run_text(shell, " ".join(map(plain, arguments)), by or given.by)


def source(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`source FILE`, in this very shell."""
    if not arguments:
        return EMPTY
    if plain(arguments[0]) == "/dev/stdin":
        return run_text(shell, given.text, given.by)
    text, ours = shell.content(arguments[0])
    by = shell.findings.programs[-1].fed_by
    if text is None:
        return EMPTY
    return run_text(shell, text, by or given.by) if ours else _script(shell, text, arguments[1:], given, ours=False)


def run_timed(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`at`, `batch`, `crontab`: texts that are run later; a line of cron begins with when."""
    lines = re.sub(r"(?m)^\s*(?:[-*\d,/]+\s+){5}", "", given.text)
    return run_text(shell.child(), lines, given.by) if given.text and not options.read(arguments).has("l") else EMPTY


def trap(shell: Shell, _path: str, arguments: list[str], _given: Flow) -> Flow:
    """`trap TEXT SIGNAL`: run some time."""
    return shell.run(plain(arguments[0])) if len(arguments) > 1 else EMPTY


def language_of(path: str) -> str:
    """The language that an interpreter reads: `/usr/bin/python3.12` → python."""
    name = re.sub(r"[\d.]+$", "", path.rpartition("/")[2])
    return {"pypy": "python", "nodejs": "node"}.get(name, name)


def run_language(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """`python -c TEXT`, a script, or a text on its standard input."""
    name = language_of(path)
    names, read = LANGUAGES[name]
    found = options.read(arguments, (*names, "m", "M", "I", "r", "W", "X"))
    texts = [plain(value) for value in found.given(*names)]
    if not texts and not found.given("m"):
        text = shell.content(found.operands[0])[0] if found.operands and plain(found.operands[0]) != "-" else given.text
        texts = [text or ""]
    for text in texts:
        if text == UNKNOWN and (CARRIERS & set(given.by) or found.operands):
            shell.findings.traits[Trait.UNREADABLE_SCRIPT] = None
        _do(shell, read(text, shell.home), path)
    for touch in touches(name, arguments):
        _touch(shell, name, touch)
    return Flow(UNKNOWN)


def run_awk(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """What a program of awk runs, and what awk itself touches."""
    for operand in options.read(arguments, ("f", "F", "v", "i")).operands[:1]:
        _do(shell, awk(plain(operand), shell.home), path)
    return ordinary(shell, path, arguments, given)


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
