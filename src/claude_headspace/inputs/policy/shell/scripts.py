"""Programs in general, and the texts that some of them run: `bash -c`, scripts, `eval`, other languages."""

import re
from collections.abc import Sequence

from claude_headspace.inputs.policy.paths import is_directory
from claude_headspace.inputs.policy.shell import arguments as options
from claude_headspace.inputs.policy.shell.file_uses import FileUse, find_file_uses
from claude_headspace.inputs.policy.shell.findings import Findings
from claude_headspace.inputs.policy.shell.flow import EMPTY, Flow
from claude_headspace.inputs.policy.shell.interpreter import Shell
from claude_headspace.inputs.policy.shell.known_output import KNOWN_OUTPUT
from claude_headspace.inputs.policy.shell.languages import LANGUAGES, Argv, Effect, ShellText, analyse_awk
from claude_headspace.inputs.policy.shell.markers import unmark
from claude_headspace.kernel.policy.call import UNKNOWN, Trait, Use

SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "rbash", "mksh")

OPAQUE_SOURCES = frozenset(
    "curl wget nc ncat socat base64 base32 xxd openssl gzip gunzip zcat xz xzcat bzip2 bunzip2 tr rev sed awk dd ssh "
    "python python3 perl ruby node php".split()
)
"""Programs that bring a text from elsewhere or make it unreadable. What others print for a shell to run is theirs."""


def run_program(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """What every program does: touch files, be a script, print."""
    name = path.rpartition("/")[2]
    for touch in find_file_uses(name, arguments):
        _record_file_use(shell, name, touch)
    if "/" in path:
        text, ours = shell.read_content(path)
        if text is not None:
            _run_script(shell, text, arguments, given, written_here=ours)
    _track_files(shell, name, arguments, given)
    if name == "cat":
        return Flow(_cat_output(shell, arguments, given))
    if name == "git" and list(map(unmark, arguments)) == ["rev-parse", "--show-toplevel"]:
        return Flow(f"{shell.project or UNKNOWN}\n")
    prints = KNOWN_OUTPUT.get(name)
    return Flow(prints(list(map(unmark, arguments)), given.text) if prints else UNKNOWN)


def _record_file_use(shell: Shell, name: str, touch: FileUse) -> None:
    shell.record_use(touch.argument, touch.use, name, recursive=touch.recursive)
    if touch.contents and (touch.argument.endswith("/") or is_directory(shell.resolve_path(touch.argument))):
        for each in touch.contents:
            base = unmark(each).rstrip("/").rpartition("/")[2]
            shell.record_use(f"{touch.argument}/{base}", touch.use, name)


def _track_files(shell: Shell, name: str, arguments: list[str], given: Flow) -> None:
    """Texts and links that later commands may meet again."""
    operands = options.parse_arguments(arguments).operands
    if name == "tee":
        shell.written_files.update({shell.resolve_path(operand): given.text for operand in operands})
    elif name in ("cp", "mv", "install") and len(operands) == 2:
        text, ours = shell.read_content(operands[0])
        if text is not None and ours:
            shell.written_files[shell.resolve_path(operands[1])] = text
    elif name in OPAQUE_SOURCES:
        written = [touch.argument for touch in find_file_uses(name, arguments) if touch.use is Use.WRITE]
        shell.written_files.update({shell.resolve_path(field): UNKNOWN for field in written})
    elif name == "ln" and len(operands) == 2:
        shell.links[shell.resolve_path(operands[1])] = shell.resolve_path(operands[0])


def _cat_output(shell: Shell, arguments: list[str], given: Flow) -> str:
    operands = options.parse_arguments(arguments).operands
    if not operands or unmark(operands[0]) == "-":
        return given.text
    texts = [shell.read_content(operand)[0] for operand in operands]
    return "".join(UNKNOWN if text is None else text for text in texts)


# --- texts that are run -----------------------------------------------------------------------------------------------


def run_text(shell: Shell, text: str, sources: Sequence[str]) -> Flow:
    """Run a text; one of which nothing is known is noted as that, unless a program wrote it for this purpose."""
    if text.strip(f"./\n {UNKNOWN}") or UNKNOWN not in text:
        return shell.run(text)
    if not sources or OPAQUE_SOURCES & set(sources):
        shell.findings.traits[Trait.UNREADABLE_SCRIPT] = None
    return Flow(UNKNOWN)


def _run_script(shell: Shell, text: str, arguments: list[str], given: Flow, *, written_here: bool) -> Flow:
    """Run a file's text, in a shell of its own. Of a file that was there before, only what is certain counts."""
    findings = shell.findings if written_here else Findings()
    child = shell.create_subshell(findings)
    first = text.partition("\n")[0]
    if first.startswith("#!") and "sh" not in first:
        language = next((name for name in LANGUAGES if name in first), None)
        if language is not None:
            _apply_effects(child, LANGUAGES[language][1](text, shell.home), first)
    else:
        child.set_positional(arguments)
        child.run(text, given)
    if not written_here:
        shell.findings.merge_certain(findings)
    return Flow(UNKNOWN)


def run_shell(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`bash -c TEXT`, `bash FILE`, or a text on its standard input."""
    rest, has_text, from_stdin = list(arguments), False, False
    while rest and (rest[0].startswith(("-", "+")) and unmark(rest[0]) != "-"):
        word = unmark(rest.pop(0))
        if word == "--":
            break
        if word.startswith("--"):
            rest = rest[1:] if word in ("--rcfile", "--init-file") else rest
            continue
        has_text, from_stdin = has_text or "c" in word, from_stdin or "s" in word
        rest = rest[1:] if word.endswith(("o", "O")) and rest else rest
    child = shell.create_subshell()
    if has_text:
        child.set_positional(rest[2:])
        child.inherited_sources = shell.findings.programs[-1].fed_by
        return run_text(child, unmark(rest[0]), child.inherited_sources) if rest else EMPTY
    if rest and not from_stdin and unmark(rest[0]) not in ("-", "/dev/stdin"):
        text, ours = shell.read_content(rest[0])
        if text is None:
            return Flow(UNKNOWN)
        if UNKNOWN in text and not text.strip(f"\n {UNKNOWN}"):
            return run_text(child, text, given.sources)
        return _run_script(shell, text, rest[1:], given, written_here=ours)
    child.set_positional(rest)
    return run_text(child, given.text, given.sources)


def run_eval(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`eval TEXT`."""
    by = shell.findings.programs[-1].fed_by
    return run_text(shell, " ".join(map(unmark, arguments)), by or given.sources)


def run_source(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`source FILE`, in this very shell."""
    if not arguments:
        return EMPTY
    if unmark(arguments[0]) == "/dev/stdin":
        return run_text(shell, given.text, given.sources)
    text, ours = shell.read_content(arguments[0])
    by = shell.findings.programs[-1].fed_by
    if text is None:
        return EMPTY
    return (
        run_text(shell, text, by or given.sources)
        if ours
        else _run_script(shell, text, arguments[1:], given, written_here=False)
    )


def run_scheduled(shell: Shell, _path: str, arguments: list[str], given: Flow) -> Flow:
    """`at`, `batch`, `crontab`: texts that are run later; a line of cron begins with when."""
    lines = re.sub(r"(?m)^\s*(?:[-*\d,/]+\s+){5}", "", given.text)
    return (
        run_text(shell.create_subshell(), lines, given.sources)
        if given.text and not options.parse_arguments(arguments).has_flag("l")
        else EMPTY
    )


def run_trap(shell: Shell, _path: str, arguments: list[str], _given: Flow) -> Flow:
    """`trap TEXT SIGNAL`: run some time."""
    return shell.run(unmark(arguments[0])) if len(arguments) > 1 else EMPTY


def language_name(path: str) -> str:
    """The language that an interpreter reads: `/usr/bin/python3.12` → python."""
    name = re.sub(r"[\d.]+$", "", path.rpartition("/")[2])
    return {"pypy": "python", "nodejs": "node"}.get(name, name)


def run_language(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """`python -c TEXT`, a script, or a text on its standard input."""
    name = language_name(path)
    names, read = LANGUAGES[name]
    found = options.parse_arguments(arguments, (*names, "m", "M", "I", "r", "W", "X"))
    texts = [unmark(value) for value in found.get_values(*names)]
    if not texts and not found.get_values("m"):
        text = (
            shell.read_content(found.operands[0])[0]
            if found.operands and unmark(found.operands[0]) != "-"
            else given.text
        )
        texts = [text or ""]
    for text in texts:
        if text == UNKNOWN and (OPAQUE_SOURCES & set(given.sources) or found.operands):
            shell.findings.traits[Trait.UNREADABLE_SCRIPT] = None
        _apply_effects(shell, read(text, shell.home), path)
    for touch in find_file_uses(name, arguments):
        _record_file_use(shell, name, touch)
    return Flow(UNKNOWN)


def run_awk(shell: Shell, path: str, arguments: list[str], given: Flow) -> Flow:
    """What a program of awk runs, and what awk itself touches."""
    for operand in options.parse_arguments(arguments, ("f", "F", "v", "i")).operands[:1]:
        _apply_effects(shell, analyse_awk(unmark(operand), shell.home), path)
    return run_program(shell, path, arguments, given)


def _apply_effects(shell: Shell, deeds: Sequence[Effect], path: str) -> None:
    name = path.rpartition("/")[2]
    for deed in deeds:
        match deed:
            case FileUse():
                _record_file_use(shell, name, deed)
            case ShellText(text=text):
                if text.strip(UNKNOWN):
                    shell.create_subshell().run(text)
            case Argv(arguments=words):
                shell.execute(list(words), EMPTY)
            case Trait():
                shell.findings.traits[deed] = None
