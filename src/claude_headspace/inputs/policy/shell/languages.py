"""Static analysis of other languages: what a one-line program does to files, and which shell commands it runs.

Python is parsed (`python_code`). In Perl, Ruby, Node, PHP, awk and others, regular expressions find the calls of common
functions and the literals in their arguments. Literals are first completed: the home directory, names bound to a
literal, and joined literals are replaced by their value.
"""

import re
from collections.abc import Callable, Iterator

import msgspec

from claude_headspace.inputs.policy.shell.budget import Budget
from claude_headspace.inputs.policy.shell.findings import Argv, Effect, FileUse, ShellText
from claude_headspace.inputs.policy.shell.markers import mark_globs, without_markers
from claude_headspace.inputs.policy.shell.python_code import analyse_python
from claude_headspace.kernel.policy.call import Trait, Use

MAX_CODE_CHARS = 20_000
"""Of a longer program, only the beginning and the end are searched."""
MAX_BINDINGS = 20
MAX_CALLS = 200
ARGUMENT_CHARS = 400
"""How far the arguments of a call are searched."""

_STRING = r"""(?:"((?:[^"\\\n]|\\.){0,2000})"|'((?:[^'\\\n]|\\.){0,2000})'|\bq[qx]?[{(]([^})]{0,500})[})])"""
_LITERAL = re.compile(_STRING + r"|\bqw[({\[]([^)}\]]{0,500})")
_HOME = re.compile(
    r"""\$ENV\{['"]?HOME['"]?\}|process\.env(?:\.HOME|\[['"]HOME['"]\])"""
    r"""|(?:require\(['"](?:node:)?os['"]\)\.|\bos\.)homedir\(\)|\bENV\[['"]HOME['"]\]|\bDir\.home"""
    r"""|\b(?:Sys\.)?getenv\(['"]HOME['"]\)|\(getenv "HOME"\)|\bhomedir\(\)|\bENVIRON\["HOME"\]"""
)
_HOME_IN_TEXT = re.compile(
    r"""\$ENV\{['"]?HOME['"]?\}(?=/)|\$\{(?:process\.env\.HOME|os\.homedir\(\))\}|#\{(?:Dir\.home|ENV\[['"]HOME['"]\])\}"""
)
"""The home directory inside a literal."""
_BINDING = re.compile(r"(?:\b(?:const|let|var|my|our)\s+|\$|\b)([A-Za-z_]\w{0,30})\s*=\s*" + _STRING)
_JOINED = re.compile(_STRING + r"\s*[+.]\s*" + _STRING)
_JOIN_CALL = re.compile(r"(?:path\.)?\b(?:join|resolve)\(\s*" + _STRING + r"\s*,\s*" + _STRING + r"\s*\)")

_RUNNERS = (
    "execSync exec shell_exec passthru popen proc_open shell-command shell os.execute io.popen pipe "
    "system spawn spawnSync execFile execFileSync call-process capture2 capture3 popen2 popen3 fork_exec"
).split()
_DELETES = (
    "unlink unlinkSync rm rmSync rmdir rmdirSync rm_rf rm_r rm_f remove_tree rmtree remove_entry_secure File.delete "
    "remove removeSync rimraf delete-directory delete-file delete os.remove"
).split()
_WRITES = (
    "writeFileSync writeFile appendFileSync appendFile createWriteStream File.write IO.write IO.binwrite "
    "file_put_contents outputFileSync truncateSync truncate chmodSync chmod chown chownSync writeTextFile write-region "
    "touch touchSync mkdirSync"
).split()
_COPIES = "copyFileSync copyFile cpSync copy copy_file cp cp_r ln_s symlink symlinkSync link linkSync".split()
_MOVES = "rename renameSync move mv moveSync rename-file".split()
_OPENS = "open openSync fopen File.open File.new sysopen".split()
_ALL_CALLS = sorted({*_RUNNERS, *_DELETES, *_WRITES, *_COPIES, *_MOVES, *_OPENS}, key=len, reverse=True)
_CALL = re.compile(
    r"(?<![\w$-])("
    + "|".join(map(re.escape, _ALL_CALLS))
    + r")(?![\w-])!?[\s(\[,]*(?:glob\s*\(?\s*|(?:my\s*)?[$\w]{1,20}\s*,\s*)?"
    r"(?=[\"']|q[qwx]?[({\[])"
)

_BACKTICK = re.compile(r"`([^`]{1,2000})`|%x[{(]([^})]{1,2000})[})]")
_WRITE_MODE = re.compile(r"[+]?>|\+<|[waxc][bt+]*$|r[bt]?\+")
_ENCODED = re.compile(
    r"\b(?:eval|Function)\b[^;]{0,80}(?:Buffer\.from|atob|decode64|decode_base64|unpack|base64|execSync|fetch\(|https?:)"
)
"""Code that runs an encoded text."""
_FORK_BOMB = re.compile(r"fork\s+while\b|while\s*\(?\s*(?:1|true)?\s*\)?\s*\{?\s*fork|loop\s*\{\s*fork", re.IGNORECASE)


def analyse_other(text: str, home: str, budget: Budget) -> list[Effect]:
    """Find the effects of a program by the names of common functions."""
    code = _complete_literals(_limit(text), home, budget)
    found = [effect for call in _find_calls(code, budget) for effect in _call_effects(*call)]
    found += [ShellText(without_markers(match[1] or match[2])) for match in _BACKTICK.finditer(code)]
    found += [ShellText(text) for text in _spawned_texts(code)]
    found += _mentioned_files(code, budget)
    found += [Trait.UNREADABLE_SCRIPT] if _ENCODED.search(code) else []
    return [*found, *([Trait.FORK_BOMB] if _FORK_BOMB.search(code) else [])]


_SPAWNS = re.compile(r"child_process|subprocess|system|popen|spawn|exec", re.IGNORECASE)
_COMMAND_LITERAL = re.compile(r"\s*(?:sudo\s+)?(?:/\S*/)?(?:rm|shred|dd|mkfs\S*|chmod|chown|headspace)\s+\S")


def _spawned_texts(code: str) -> list[str]:
    """Return the literals that are dangerous commands, in a program that starts processes in some way."""
    return (
        [text for text in _literals(code)[:MAX_CALLS] if _COMMAND_LITERAL.match(text)] if _SPAWNS.search(code) else []
    )


def _limit(text: str) -> str:
    half = MAX_CODE_CHARS // 2
    return text if len(text) <= MAX_CODE_CHARS else f"{text[:half]}\n{text[-half:]}"


def _complete_literals(code: str, home: str, budget: Budget) -> str:
    """Replace the home directory, bound names and joined literals by literals."""
    code = _HOME_IN_TEXT.sub(lambda _match: home, code)
    code = _HOME.sub(lambda _match: f'"{home}"', code)
    bound = {match[1]: _text(match, 2) for match in _BINDING.finditer(code)}
    for name, value in list(bound.items())[:MAX_BINDINGS]:
        budget.spend(1 + len(code) // 200)
        literal = '"' + value[:500].replace('"', "'") + '"'
        use = rf"""(?<=[(\[,\s+.])\$?{name}\b(?!\s*[=("'])"""
        code = re.sub(use, literal.replace("\\", r"\\"), code)
        code = _limit(code)
    for _ in range(4):
        budget.spend(1 + len(code) // 200)
        code = _JOINED.sub(lambda match: f'"{_text(match, 1)}{_text(match, 4)}"', code)
        code = _JOIN_CALL.sub(lambda match: f'"{_text(match, 1)}/{_text(match, 4)}"', code)
    return code


def _text(match: re.Match[str], first: int) -> str:
    return match[first] or match[first + 1] or match[first + 2] or ""


def _find_calls(code: str, budget: Budget) -> Iterator[tuple[str, list[str]]]:
    """Return the calls of known functions with the literals in their arguments."""
    for number, match in enumerate(_CALL.finditer(code)):
        budget.spend(2)
        if number >= MAX_CALLS:
            return
        arguments = re.split(r"[;\n]|\)\s*[.;]", code[match.end() : match.end() + ARGUMENT_CHARS], maxsplit=1)[0]
        yield match[1], _literals(arguments)


def _literals(text: str) -> list[str]:
    found: list[str] = []
    for match in _LITERAL.finditer(text):
        words = match[4].split() if match[4] is not None else [_text(match, 1)]
        found += [without_markers(re.sub(r"\\(.)", r"\1", word)) for word in words]
    return found


def _call_effects(name: str, arguments: list[str]) -> Iterator[Effect]:
    first, *others = arguments or [""]
    if not first:
        return
    if name in _RUNNERS and (" " in first or not others):
        yield ShellText(first)
    elif name in _RUNNERS:
        yield Argv(tuple(arguments))
    elif name in _DELETES:
        yield from (FileUse(argument, Use.DELETE, recursive=True) for argument in arguments[:10])
    elif name in _WRITES:
        yield FileUse(first, Use.WRITE)
    elif name in _OPENS:
        yield from _open_effects(arguments)
    elif others:
        yield from [FileUse(first, Use.DELETE, recursive=True)] if name in _MOVES else []
        yield FileUse(others[0], Use.WRITE)


def _open_effects(arguments: list[str]) -> Iterator[Effect]:
    """`open(FILE, MODE)`, or Perl's `open(HANDLE, MODE, FILE)` and `open(HANDLE, ">FILE")`."""
    modes = [argument for argument in arguments[:3] if _WRITE_MODE.match(argument)]
    files = [argument for argument in arguments[:3] if argument not in modes]
    files += [argument.lstrip("+<> ") for argument in modes if argument.startswith((">", "+"))]
    yield from (FileUse(file, Use.WRITE if modes else Use.READ) for file in files if file)


_PATH_LITERAL = re.compile(r"~?[\w.@%+-]*(?:/[\w.@%+ -]*)+")


def _mentioned_files(code: str, budget: Budget) -> list[Effect]:
    """Return the literals that look like paths. The program may read them."""
    found = dict.fromkeys(text for text in _literals(code)[:MAX_CALLS] if _PATH_LITERAL.fullmatch(text))
    budget.spend(len(found))
    return [FileUse(text, Use.READ) for text in found]


_PATH_PATTERN = re.compile(r"~?[\w.@%+*?\[\]!-]*(?:/[\w.@%+*?\[\]! -]*)+")


def find_mentioned_paths(text: str, home: str, budget: Budget) -> list[str]:
    """Return the paths, prefixes and wildcards in the literals of a program; relative ones also below home."""
    literals = _literals(_complete_literals(_limit(text), home, budget))[:MAX_CALLS]
    found = dict.fromkeys(literal for literal in literals if _PATH_PATTERN.fullmatch(literal))
    budget.spend(len(found))
    below_home = [f"{home}/{path}" for path in found if not path.startswith(("/", "~"))]
    return [mark_globs(path) for path in (*found, *below_home)]


_AWK_COMMAND = re.compile(r'"((?:[^"\\]|\\.){0,2000})"\s*\|&?\s*getline|\|&?\s*"((?:[^"\\]|\\.){0,2000})"')
_AWK_OUTPUT = re.compile(r'>>?\s*"((?:[^"\\]|\\.){1,500})"')


def analyse_tcl(text: str, home: str, budget: Budget) -> list[Effect]:
    """Find the effects of a Tcl program: `exec PROGRAM`, `spawn PROGRAM`."""
    commands = re.finditer(r"\b(?:exec|spawn)\s+([^\n;\]]{1,500})", _limit(text))
    return [*analyse_other(text, home, budget), *(ShellText(without_markers(match[1])) for match in commands)]


def analyse_awk(text: str, home: str, budget: Budget) -> list[Effect]:
    """Find the effects of an awk program: `system("…")`, `"…" | getline`, `print | "…"`, `print > "…"`."""
    commands = [ShellText(without_markers(match[1] or match[2] or "")) for match in _AWK_COMMAND.finditer(_limit(text))]
    files = [FileUse(without_markers(match[1]), Use.WRITE) for match in _AWK_OUTPUT.finditer(_limit(text))]
    joined = re.sub(r'"\s+"', "", _HOME.sub(lambda _match: f'"{home}"', text))  # awk joins adjacent strings
    return [*analyse_other(joined, home, budget), *commands, *files]


class Language(msgspec.Struct, frozen=True):
    """How to analyse the code of an interpreter."""

    code_options: tuple[str, ...]
    """Options whose value is a program."""
    analyse: Callable[[str, str, Budget], list[Effect]] = analyse_other
    """Returns the effects of a program, given its text, the home directory and the budget."""
    valued: tuple[str, ...] = ()
    """Other options that take a value."""


_NODE = Language(("e", "eval", "p", "print"), valued=("r", "require", "import", "loader"))

LANGUAGES = {
    "python": Language(("c",), analyse_python, ("m", "W", "X")),
    "ipython": Language(("c",), analyse_python, ("m",)),
    "perl": Language(("e", "E"), valued=("I", "M", "m")),
    "ruby": Language(("e",), valued=("I", "r")),
    "node": _NODE,
    "tsx": _NODE,
    "ts-node": _NODE,
    "bun": Language(("e", "eval", "p", "print")),
    "deno": Language(("e", "eval")),
    "php": Language(("r",)),
    "lua": Language(("e",)),
    "julia": Language(("e", "E", "eval")),
    "guile": Language(("c",)),
    "emacs": Language(("eval", "execute")),
    "R": Language(("e",)),
    "Rscript": Language(("e",)),
    "elixir": Language(("e", "eval")),
    "osascript": Language(("e",), valued=("l", "s")),
    "tclsh": Language((), analyse_tcl),
    "expect": Language(("c",), analyse_tcl),
}
"""Interpreters by name."""

AWK = Language((), analyse_awk)
