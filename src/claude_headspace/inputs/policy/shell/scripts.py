"""Handlers for programs that run text: shells, scripts, `eval`, other languages. `run_program` handles the others."""

import re
from collections.abc import Sequence

from claude_headspace.inputs.policy.paths import is_directory
from claude_headspace.inputs.policy.shell.applescript import record_script
from claude_headspace.inputs.policy.shell.arguments import parse_arguments
from claude_headspace.inputs.policy.shell.file_uses import find_file_uses, is_known
from claude_headspace.inputs.policy.shell.findings import EMPTY, Argv, Effect, FileUse, Findings, Flow, ShellText
from claude_headspace.inputs.policy.shell.guesses import (
    FILTERS,
    MAX_MENTIONED,
    record_mentioned_files,
    run_guessed_command,
)
from claude_headspace.inputs.policy.shell.interpreter import Shell
from claude_headspace.inputs.policy.shell.known_output import KNOWN_OUTPUT
from claude_headspace.inputs.policy.shell.languages import AWK, LANGUAGES, Language, find_mentioned_paths
from claude_headspace.inputs.policy.shell.markers import unmark, unmark_all
from claude_headspace.kernel.policy.call import UNKNOWN, Trait, Use

_FORK_BOMB = re.compile(r"\$0\s*[&|]\s*\$0")

STARTUP_VARIABLES = ("BASH_ENV", "ENV")
"""Variables with a file that a shell runs when it starts."""

SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "ash", "fish", "rbash", "mksh")

OPAQUE_SOURCES = frozenset(
    "curl wget fetch http https xh httpie aria2c lynx w3m links elinks ftp lftp scp sftp rsync nc ncat socat telnet "
    "base64 base32 xxd openssl gzip gunzip zcat xz xzcat zstd zstdcat bzip2 bunzip2 uudecode tr rev sed awk dd ssh "
    "iconv jq envsubst aws gsutil gcloud python python3 perl ruby node php".split()
)
"""Programs that download or decode text. Output of other programs is trusted: `eval "$(ssh-agent -s)"`."""

CREATES_FILES = OPAQUE_SOURCES | {"tee", "ln", "cp", "mv", "install"}
"""Programs whose files and links are tracked."""


def run_program(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run a program without its own handler: record its file uses, run it if it is a script, return its output."""
    name = path.rpartition("/")[2]
    _record_file_uses(shell, name, find_file_uses(name, arguments))
    if "/" in path:
        text, written_here = shell.read_content(path)
        if text is not None and written_here and text.strip() == UNKNOWN:
            shell.findings.add_trait(Trait.UNREADABLE_SCRIPT)
        elif text is not None:
            _run_script(shell, text, arguments, stdin, written_here=written_here)
    if name not in FILTERS:
        if not is_known(name):
            record_mentioned_files(shell, name, arguments)
        run_guessed_command(shell, name, arguments)
    if name in CREATES_FILES:
        _track_files(shell, name, arguments, stdin)
    if name == "cat":
        return Flow(_cat_output(shell, arguments, stdin))
    if name == "git" and arguments == ["rev-parse", "--show-toplevel"]:
        return Flow(f"{shell.project or UNKNOWN}\n")
    output = KNOWN_OUTPUT.get(name, UNKNOWN)
    return Flow(output if isinstance(output, str) else output(unmark_all(arguments), stdin.text))


def _record_file_uses(shell: Shell, name: str, file_uses: Sequence[FileUse]) -> None:
    for file in file_uses:
        shell.record_use(file.argument, file.use, name, recursive=file.recursive)
        if file.contents and (file.argument.endswith("/") or is_directory(shell.resolve_path(file.argument))):
            for source in file.contents:
                base = unmark(source).rstrip("/").rpartition("/")[2]
                shell.record_use(f"{file.argument}/{base}", file.use, name)


def _track_files(shell: Shell, name: str, arguments: list[str], stdin: Flow) -> None:
    """Remember the files and links that the program creates; later commands may use them."""
    parsed = parse_arguments(arguments)
    operands = parsed.operands
    if name == "tee":
        shell.written_files.update({shell.resolve_path(operand): stdin.text for operand in operands})
    elif name in OPAQUE_SOURCES:
        for url in _saved_urls(name, arguments):
            shell.written_files[shell.resolve_path(url.rstrip("/").rpartition("/")[2])] = UNKNOWN
        for file in find_file_uses(name, arguments):
            if file.use is Use.WRITE:
                bases = [unmark(source).rstrip("/").rpartition("/")[2].rpartition(":")[2] for source in file.contents]
                targets = [file.argument, *(f"{file.argument}/{base}" for base in bases)]
                shell.written_files.update({shell.resolve_path(target): UNKNOWN for target in targets})
    elif len(operands) == 2:
        if name == "ln" or (name == "cp" and parsed.has_flag("l", "link", "s", "symbolic-link")):
            shell.links[shell.resolve_path(operands[1])] = shell.resolve_path(operands[0])
        elif name in ("cp", "mv", "install"):
            _copy_content(shell, *operands)


def _saved_urls(name: str, arguments: list[str]) -> list[str]:
    """Return the addresses that a download saves under their last name: `wget URL`, `curl -O URL`."""
    flags = parse_arguments(arguments).flags
    saves = name == "wget" or (name == "curl" and flags & {"O", "remote-name", "J"})
    return [word for word in unmark_all(arguments) if saves and "://" in word]


def _copy_content(shell: Shell, source: str, target: str) -> None:
    text, written_here = shell.read_content(source)
    if text is not None and written_here:
        shell.written_files[shell.resolve_path(target)] = text


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
    findings = shell.findings if written_here else Findings(shell.budget)
    subshell = shell.create_subshell(findings)
    first_line = text.partition("\n")[0]
    if _FORK_BOMB.search(text):
        shell.findings.add_trait(Trait.FORK_BOMB)
    if first_line.startswith("#!") and "sh" not in first_line:
        language = next((name for name in LANGUAGES if name in first_line), None)
        if language == "osascript":
            record_script(findings, text)
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
    rest, letters, startup_files = _split_shell_options(arguments)
    subshell = shell.create_subshell()
    for file in (*startup_files, *filter(None, (shell.variables.get(name) for name in STARTUP_VARIABLES))):
        run_source(subshell, "source", [file], EMPTY)
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


def _split_shell_options(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    """Return the arguments after the options of a shell, the letters of its short options, and its startup files."""
    rest, letters, startup_files = list(arguments), "", list[str]()
    while rest and rest[0].startswith(("-", "+")) and unmark(rest[0]) != "-":
        word = unmark(rest.pop(0))
        if word == "--":
            break
        if word.startswith("--"):
            takes_value = word in ("--rcfile", "--init-file")
            startup_files += rest[:1] if takes_value else []
        else:
            letters += word
            takes_value = word.endswith(("o", "O"))
        rest = rest[1:] if takes_value else rest
    return rest, letters, startup_files


def run_eval(shell: Shell, _path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `eval TEXT`."""
    return run_text(shell, " ".join(unmark_all(arguments)), shell.current_sources or stdin.sources)


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
    """Run the text of `trap TEXT SIGNAL`. Its variables may be set later, so only certain findings count."""
    if len(arguments) > 1:
        findings = Findings(shell.budget)
        shell.create_subshell(findings).run(unmark(arguments[0]))
        shell.findings.merge_certain(findings)
    return EMPTY


# --- other languages --------------------------------------------------------------------------------------------------


def language_name(path: str) -> str:
    """Return the language of an interpreter: `/usr/bin/python3.12` → `python`."""
    name = re.sub(r"[\d.]+$", "", path.rpartition("/")[2])
    return {"pypy": "python", "nodejs": "node", "pythonw": "python", "luajit": "lua"}.get(name, name)


def run_language(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run `python -c TEXT`, a script file, or the program on standard input."""
    name = language_name(path)
    language = LANGUAGES[name]
    arguments = ["-e" if word == "-pe" and name == "node" else word for word in arguments]
    parsed = parse_arguments(arguments, (*language.code_options, *language.valued))
    inline = texts = [unmark(value) for value in parsed.get_values(*language.code_options)]
    if name == "python" and (modules := parsed.get_values("m")):
        run_module(shell, unmark(modules[0]), arguments)
    elif not texts:
        operands = [word for word in parsed.operands if unmark(word) not in ("run", "eval")]
        has_file = bool(operands) and unmark(operands[0]) != "-"
        if has_file and "://" in operands[0]:
            shell.findings.add_trait(Trait.UNREADABLE_SCRIPT)
        texts = [(shell.read_content(operands[0])[0] if has_file else stdin.text) or ""]
        inline = [] if has_file else texts
    for text in inline:
        _record_mentioned_paths(shell, path, text)
    for text in texts:
        if text.strip() == UNKNOWN and (OPAQUE_SOURCES & {*stdin.sources, *shell.current_sources} or parsed.operands):
            shell.findings.add_trait(Trait.UNREADABLE_SCRIPT)
        code = text.replace("sys.argv[1]", repr(unmark(parsed.operands[0]))) if parsed.operands else text
        _apply_effects(shell, _analyse_code(shell, language, code), path)
    _record_file_uses(shell, name, find_file_uses(name, arguments))
    record_mentioned_files(shell, name, parsed.operands)
    return Flow(UNKNOWN)


def _record_mentioned_paths(shell: Shell, path: str, text: str) -> None:
    """Record that a program on the command line reads the files that it mentions. Script files mention too many."""
    for mentioned in find_mentioned_paths(text, shell.home, shell.budget)[:MAX_MENTIONED]:
        shell.record_use(mentioned, Use.READ, path.rpartition("/")[2])


def run_module(shell: Shell, module: str, arguments: list[str]) -> None:
    """Run `python -m claude_headspace ARGUMENTS` like the program `headspace`."""
    if module == "claude_headspace":
        rest = arguments[[unmark(word) for word in arguments].index(module) + 1 :] if module in arguments else []
        shell.execute(["headspace", *rest], EMPTY)


def run_awk(shell: Shell, path: str, arguments: list[str], stdin: Flow) -> Flow:
    """Run the commands of an awk program, then handle awk like any program."""
    for operand in parse_arguments(arguments, ("f", "F", "v", "i")).operands[:1]:
        _apply_effects(shell, _analyse_code(shell, AWK, unmark(operand)), path)
    return run_program(shell, path, arguments, stdin)


def _analyse_code(shell: Shell, language: Language, text: str) -> list[Effect]:
    budget = shell.budget
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
