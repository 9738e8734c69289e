"""Handlers for programs that run text: shells, scripts, `eval`, other languages. `run_program` handles the others."""

import re
from collections.abc import Sequence

from claude_headspace.inputs.policy.paths import is_directory
from claude_headspace.inputs.policy.shell.arguments import parse_arguments
from claude_headspace.inputs.policy.shell.file_uses import find_file_uses
from claude_headspace.inputs.policy.shell.findings import EMPTY, Argv, Effect, FileUse, Findings, Flow, ShellText
from claude_headspace.inputs.policy.shell.interpreter import Shell
from claude_headspace.inputs.policy.shell.known_output import KNOWN_OUTPUT
from claude_headspace.inputs.policy.shell.languages import AWK, LANGUAGES, Language
from claude_headspace.inputs.policy.shell.markers import unmark
from claude_headspace.kernel.policy.call import UNKNOWN, Trait, Use

SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "rbash", "mksh")

OPAQUE_SOURCES = frozenset(
    "curl wget nc ncat socat base64 base32 xxd openssl gzip gunzip zcat xz xzcat bzip2 bunzip2 tr rev sed awk dd ssh "
    "python python3 perl ruby node php".split()
)
"""Programs that download or decode text. Output of other programs is trusted: `eval "$(ssh-agent -s)"`."""


def run_program(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run a program without its own handler: record its file uses, run it if it is a script, return its output."""
    name = path.rpartition("/")[2]
    _record_file_uses(shell, name, find_file_uses(name, arguments))
    if "/" in path:
        text, written_here = shell.read_content(path)
        if text is not None:
            _run_script(shell, text, arguments, stdin, written_here=written_here)
    _track_files(shell, name, arguments, stdin)
    if name == "cat":
        return Flow(_cat_output(shell, arguments, stdin))
    if name == "git" and list(map(unmark, arguments)) == ["rev-parse", "--show-toplevel"]:
        return Flow(f"{shell.project or UNKNOWN}\n")
    output = KNOWN_OUTPUT.get(name)
    return Flow(output(list(map(unmark, arguments)), stdin.text) if output else UNKNOWN)


def _record_file_uses(shell: Shell, name: str, file_uses: Sequence[FileUse]) -> None:
    for file in file_uses:
        shell.record_use(file.argument, file.use, name, recursive=file.recursive)
        if file.contents and (file.argument.endswith("/") or is_directory(shell.resolve_path(file.argument))):
            for source in file.contents:
                base = unmark(source).rstrip("/").rpartition("/")[2]
                shell.record_use(f"{file.argument}/{base}", file.use, name)


def _track_files(shell: Shell, name: str, arguments: list[str], stdin: Flow) -> None:
    """Remember the files and links that the program creates; later commands may use them."""
    operands = parse_arguments(arguments).operands
    if name == "tee":
        shell.written_files.update({shell.resolve_path(operand): stdin.text for operand in operands})
    elif name in ("cp", "mv", "install") and len(operands) == 2:
        text, written_here = shell.read_content(operands[0])
        if text is not None and written_here:
            shell.written_files[shell.resolve_path(operands[1])] = text
    elif name in OPAQUE_SOURCES:
        written = [file.argument for file in find_file_uses(name, arguments) if file.use is Use.WRITE]
        shell.written_files.update({shell.resolve_path(argument): UNKNOWN for argument in written})
    elif name == "ln" and len(operands) == 2:
        shell.links[shell.resolve_path(operands[1])] = shell.resolve_path(operands[0])


def _cat_output(shell: Shell, arguments: list[str], stdin: Flow) -> str:
    operands = parse_arguments(arguments).operands
    if not operands or unmark(operands[0]) == "-":
        return stdin.text
    texts = [shell.read_content(operand)[0] for operand in operands]
    return "".join(UNKNOWN if text is None else text for text in texts)


# --- shell text -------------------------------------------------------------------------------------------------------


def run_text(shell: Shell, text: str, sources: Sequence[str]) -> Flow:
    """Run a text. A completely unknown text adds the trait `unreadable-script`, unless all its sources are trusted."""
    if text.strip(f"./\n {UNKNOWN}") or UNKNOWN not in text:
        return shell.run(text)
    if not sources or OPAQUE_SOURCES & set(sources):
        shell.findings.add_trait(Trait.UNREADABLE_SCRIPT)
    return Flow(UNKNOWN)


def _run_script(shell: Shell, text: str, arguments: list[str], stdin: Flow, *, written_here: bool) -> Flow:
    """Run the text of a file in a subshell. If the file existed before, only certain findings count."""
    findings = shell.findings if written_here else Findings(shell.findings.budget)
    subshell = shell.create_subshell(findings)
    first_line = text.partition("\n")[0]
    if first_line.startswith("#!") and "sh" not in first_line:
        language = next((name for name in LANGUAGES if name in first_line), None)
        if language is not None:
            _apply_effects(subshell, _analyse_code(shell, LANGUAGES[language], text), first_line)
    else:
        subshell.set_positional(arguments)
        subshell.run(text, stdin)
    if not written_here:
        shell.findings.merge_certain(findings)
    return Flow(UNKNOWN)


def run_shell(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `bash -c TEXT`, `bash FILE`, or the text on standard input."""
    rest, letters = _split_shell_options(arguments)
    subshell = shell.create_subshell()
    if "c" in letters:
        subshell.set_positional(rest[2:])
        subshell.inherited_sources = shell.current_sources
        return run_text(subshell, unmark(rest[0]), shell.current_sources) if rest else EMPTY
    if rest and "s" not in letters and unmark(rest[0]) not in ("-", "/dev/stdin"):
        text, written_here = shell.read_content(rest[0])
        if text is None:
            return Flow(UNKNOWN)
        if UNKNOWN in text and not text.strip(f"\n {UNKNOWN}"):
            return run_text(subshell, text, stdin.sources)
        return _run_script(shell, text, rest[1:], stdin, written_here=written_here)
    subshell.set_positional(rest)
    return run_text(subshell, stdin.text, stdin.sources)


def _split_shell_options(arguments: list[str]) -> tuple[list[str], str]:
    """Return the arguments after the options of a shell, and the letters of its short options."""
    rest, letters = list(arguments), ""
    while rest and rest[0].startswith(("-", "+")) and unmark(rest[0]) != "-":
        word = unmark(rest.pop(0))
        if word == "--":
            break
        if word.startswith("--"):
            takes_value = word in ("--rcfile", "--init-file")
        else:
            letters += word
            takes_value = word.endswith(("o", "O"))
        rest = rest[1:] if takes_value else rest
    return rest, letters


def run_eval(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `eval TEXT`."""
    return run_text(shell, " ".join(map(unmark, arguments)), shell.current_sources or stdin.sources)


def run_source(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `source FILE` in the current shell."""
    if not arguments:
        return EMPTY
    if unmark(arguments[0]) == "/dev/stdin":
        return run_text(shell, stdin.text, stdin.sources)
    text, written_here = shell.read_content(arguments[0])
    if text is None:
        return EMPTY
    if written_here:
        return run_text(shell, text, shell.current_sources or stdin.sources)
    return _run_script(shell, text, arguments[1:], stdin, written_here=False)


def run_scheduled(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the input of `at`, `batch` or `crontab`. Lines of a crontab start with five time fields."""
    if not stdin.text or parse_arguments(arguments).has_flag("l"):
        return EMPTY
    lines = re.sub(r"(?m)^\s*(?:[-*\d,/]+\s+){5}", "", stdin.text)
    return run_text(shell.create_subshell(), lines, stdin.sources)


def run_trap(shell: Shell, _path: str, arguments: list[str], _stdin: Flow) -> Flow:
    """Run the text of `trap TEXT SIGNAL`, as if the signal arrived now."""
    return shell.run(unmark(arguments[0])) if len(arguments) > 1 else EMPTY


# --- other languages --------------------------------------------------------------------------------------------------


def language_name(path: str) -> str:
    """Return the language of an interpreter: `/usr/bin/python3.12` → `python`."""
    name = re.sub(r"[\d.]+$", "", path.rpartition("/")[2])
    return {"pypy": "python", "nodejs": "node"}.get(name, name)


def run_language(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `python -c TEXT`, a script file, or the program on standard input."""
    name = language_name(path)
    language = LANGUAGES[name]
    parsed = parse_arguments(arguments, (*language.code_options, "m", "M", "I", "r", "W", "X"))
    texts = [unmark(value) for value in parsed.get_values(*language.code_options)]
    if not texts and not parsed.get_values("m"):
        has_file = bool(parsed.operands) and unmark(parsed.operands[0]) != "-"
        texts = [(shell.read_content(parsed.operands[0])[0] if has_file else stdin.text) or ""]
    for text in texts:
        if text == UNKNOWN and (OPAQUE_SOURCES & set(stdin.sources) or parsed.operands):
            shell.findings.add_trait(Trait.UNREADABLE_SCRIPT)
        _apply_effects(shell, _analyse_code(shell, language, text), path)
    _record_file_uses(shell, name, find_file_uses(name, arguments))
    return Flow(UNKNOWN)


def run_awk(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the commands of an awk program, then handle awk like any program."""
    for operand in parse_arguments(arguments, ("f", "F", "v", "i")).operands[:1]:
        _apply_effects(shell, _analyse_code(shell, AWK, unmark(operand)), path)
    return run_program(shell, path, arguments, stdin)


def _analyse_code(shell: Shell, language: Language, text: str) -> list[Effect]:
    budget = shell.findings.budget
    budget.spend_source(len(text))
    return language.analyse(text, shell.home, budget)


def _apply_effects(shell: Shell, effects: Sequence[Effect], path: str) -> None:
    for effect in effects:
        match effect:
            case FileUse():
                _record_file_uses(shell, path.rpartition("/")[2], [effect])
            case ShellText(text=text):
                if text.strip(UNKNOWN):
                    shell.create_subshell().run(text)
            case Argv(arguments=arguments):
                shell.execute(list(arguments), EMPTY)
            case Trait():
                shell.findings.add_trait(effect)
