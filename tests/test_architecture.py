"""Rules about the source: the kernel is pure, only its package names the hooks of a client, and components are small.

Import contracts (pyproject.toml) list what the kernel must not import. Here is the short list of what it may import.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.clients.claude_code.tools import TOOLS
from claude_headspace.clients.claude_code.wire import HOOKS

ROOT = Path(__file__).parent.parent
KERNEL = ROOT / "src" / "claude_headspace" / "kernel"
KERNEL_FILES = sorted(KERNEL.rglob("*.py"))

PURE_MODULES = {
    "collections",
    "collections.abc",
    "copy",
    "operator",
    "dataclasses",
    "datetime",
    "difflib",
    "enum",
    "functools",
    "hashlib",
    "html",
    "itertools",
    "math",
    "msgspec",
    "re",
    "string",
    "typing",
    "unicodedata",
}
OWN_PACKAGE = "claude_headspace.kernel"

# Impure, and in reach without another import. The last two parts count: datetime.now is datetime.datetime.now.
IMPURE_CALLS = {
    "__import__",
    "breakpoint",
    "date.today",
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "eval",
    "exec",
    "hash",  # of a string it differs from process to process
    "input",
    "open",
}


def test_the_kernel_is_found() -> None:
    """The other tests here look at real files."""
    assert KERNEL_FILES


@pytest.mark.parametrize("path", KERNEL_FILES, ids=lambda path: str(path.relative_to(KERNEL)))
def test_kernel_imports_only_pure_modules(path: Path) -> None:
    """A kernel file imports pure standard library modules, msgspec and the kernel itself."""
    assert [name for name in imports(parse(path)) if not is_pure(name)] == []


@pytest.mark.parametrize("path", KERNEL_FILES, ids=lambda path: str(path.relative_to(KERNEL)))
def test_kernel_calls_nothing_impure(path: Path) -> None:
    """A kernel file does no I/O, and asks neither clock nor chance."""
    assert [name for name in calls(parse(path)) if is_impure_call(name)] == []


@pytest.mark.parametrize(
    "source", ["import time", "from os import path", "from claude_headspace import config", "from . import wire"]
)
def test_impure_imports_are_noticed(source: str) -> None:
    """The check sees every spelling of an import."""
    assert not all(is_pure(name) for name in imports(ast.parse(source)))


@pytest.mark.parametrize("source", ["open('x')", "datetime.now()", "datetime.datetime.now(tz=UTC)", "dt.date.today()"])
def test_impure_calls_are_noticed(source: str) -> None:
    """The check sees a call under its full and its short name."""
    assert any(is_impure_call(name) for name in calls(ast.parse(source)))


def parse(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(tree: ast.Module) -> Iterator[str]:
    """The modules that a file imports, as it spells them; relative ones keep their dots."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def calls(tree: ast.Module) -> Iterator[str]:
    """The dotted names of what a file calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield ast.unparse(node.func)


def is_pure(module: str) -> bool:
    """Whether the kernel may import the module."""
    return module in PURE_MODULES or module == OWN_PACKAGE or module.startswith(OWN_PACKAGE + ".")


def is_impure_call(name: str) -> bool:
    """Whether a call by this dotted name breaks purity."""
    return name in IMPURE_CALLS or ".".join(name.split(".")[-2:]) in IMPURE_CALLS


# --- names of hooks and tools ---

SOURCE = ROOT / "src" / "claude_headspace"
CLAUDE_CODE = SOURCE / "clients" / "claude_code"
NAMES_OF_THE_CLIENT = frozenset(HOOKS) | frozenset(TOOLS)

PLAIN_WORDS = frozenset(
    {"Agent", "Edit", "Elicitation", "Glob", "Monitor", "Notification", "Read", "Setup", "Stop", "Task", "Write"}
)
"""Names that are also ordinary words or types of Headspace. They count as a complete literal, or after `--tool`."""

ANYWHERE = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(sorted(NAMES_OF_THE_CLIENT - PLAIN_WORDS))})(?![a-z])")
AS_AN_OPTION = re.compile(rf"--tool ({'|'.join(sorted(PLAIN_WORDS))})\b")

EXAMPLES: dict[str, frozenset[str]] = {
    "kernel/wait/grants.py": frozenset({"Bash"}),
    "kernel/policy/rules.py": frozenset({"Bash"}),
    "surfaces/cli/policy.py": frozenset({"Write"}),
    "surfaces/cli/search.py": frozenset({"Bash"}),
}
"""Texts for users that give a tool as an example, by file: users write rules and searches with these names."""


def is_of_a_client(path: Path) -> bool:
    """Whether a file is in the package of a client. Other clients have hooks and tools with the same names."""
    return path.relative_to(SOURCE).parts[:1] == ("clients",) and len(path.relative_to(SOURCE).parts) > 2


def test_exceptions_are_needed() -> None:
    """Every exception is about names that the file contains."""
    found = {name: frozenset(names_of_the_client((SOURCE / name).read_text(encoding="utf-8"))) for name in EXAMPLES}
    assert found == EXAMPLES


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(SOURCE.rglob("*.py")) if not is_of_a_client(path)],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_only_its_package_names_the_hooks_and_tools_of_a_client(path: Path) -> None:
    """Files outside `clients/claude_code` use kinds, facts or look-ups, never the name of a hook or tool."""
    allowed = EXAMPLES.get(str(path.relative_to(SOURCE)), frozenset())
    assert [name for name in names_of_the_client(path.read_text(encoding="utf-8")) if name not in allowed] == []


@pytest.mark.parametrize(
    "source",
    [
        "x = 'Read'",
        "x = 'only Bash calls'",
        "x = f'{y} PreToolUse'",
        "on_PreToolUse = 1",
        "# after PostToolUse",
        '"""A SessionEnd hook."""',
        "x = 'explain .env --tool Write'",
    ],
)
def test_names_of_the_client_are_noticed(source: str) -> None:
    """The check sees a name in strings, f-strings, identifiers, comments and docstrings."""
    assert list(names_of_the_client(source))


@pytest.mark.parametrize("source", ["x: Agent", "x = 'Read it again.'", "x = SessionStarted()"])
def test_ordinary_words_are_not_names_of_the_client(source: str) -> None:
    """The types of Headspace and ordinary words are allowed."""
    assert list(names_of_the_client(source)) == []


def names_of_the_client(source: str) -> Iterator[str]:
    """The hooks and tools of the client that a file names."""
    yield from ANYWHERE.findall(source)
    yield from AS_AN_OPTION.findall(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and node.value in PLAIN_WORDS:
            yield str(node.value)


# --- packages of clients ---

READS_FILES = "reads files of Claude Code"
SIMULATES = "simulates Claude Code"

USES_OF_THE_CLIENT = {
    "demo/delivery.py": SIMULATES,
    "demo/sandbox.py": SIMULATES,
    "demo/scenarios.py": SIMULATES,
    "demo/schedule.py": SIMULATES,
    "inputs/policy/cases.py": "test cases without a tool are calls of the shell tool",
    "inputs/watch/session_registry.py": READS_FILES,
    "surfaces/cli/status_line.py": "prints the status line script of Claude Code",
    "surfaces/socket/results.py": "the socket commands `hooks.*` are the hooks of Claude Code",
    "testing.py": SIMULATES,
}
"""The modules outside `clients/` that import the package of Claude Code, and why."""

VARIABLES_OF_THE_CLIENT = re.compile(r"\b(?:CLAUDE_CODE_[A-Z_]+|CLAUDECODE|CLAUDE_PID)\b")


def test_only_listed_modules_import_the_package_of_a_client() -> None:
    """All others use the modules directly in `clients/`, which choose the package by the name of the client."""
    package = "claude_headspace.clients.claude_code"
    found = {str(path.relative_to(SOURCE)) for path in outside_of_clients() if package in "\n".join(imported(path))}
    assert found == set(USES_OF_THE_CLIENT)


def test_the_guide_lists_these_modules() -> None:
    """docs/codebase.md lists the modules that have to be considered for another client."""
    guide = (ROOT / "docs" / "codebase.md").read_text(encoding="utf-8")
    section = guide.partition("### Another client")[2].partition("\n### ")[0]
    assert [name for name in USES_OF_THE_CLIENT if f"`{name}`" not in section] == []


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_its_package_names_the_variables_of_a_client(path: Path) -> None:
    """The environment variables that a client sets for its tools are listed in its package."""
    names = VARIABLES_OF_THE_CLIENT.findall(path.read_text(encoding="utf-8"))
    assert CLAUDE_CODE in path.parents or not names


def outside_of_clients() -> Iterator[Path]:
    """The modules outside `clients/`."""
    return (path for path in SOURCE.rglob("*.py") if CLAUDE_CODE.parent not in path.parents)


def imported(path: Path) -> Iterator[str]:
    """The modules and names that a file imports, with their complete names."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


# --- composition ---

MAX_ARGUMENTS = 8
MAX_DAEMON_LINES = 40

ENTRY_POINTS = {
    "__init__.py",
    "__main__.py",
    "background.py",
    "config.py",
    "database.py",
    "errors.py",
    "main.py",
    "ports.py",
    "testing.py",
}
"""The modules directly below the root package. Everything else is in a package."""


def test_constructors_are_small() -> None:
    """A component that needs more than eight others is to be divided, or what it needs to be grouped."""
    found = {
        (str(path.relative_to(SOURCE)), name): count
        for path in sorted(SOURCE.rglob("*.py"))
        for name, count in constructors(parse(path))
    }
    assert {name: count for name, count in found.items() if count > MAX_ARGUMENTS} == {}


def test_the_daemon_only_composes() -> None:
    """The composition root fits on a screen."""
    tree = parse(SOURCE / "daemon" / "compose.py")
    daemon = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Daemon")
    method = next(node for node in daemon.body if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    assert method.end_lineno is not None
    assert method.end_lineno - method.body[0].lineno < MAX_DAEMON_LINES


def test_packages_hold_everything() -> None:
    """Only a few modules are directly below the root package, and none below `surfaces`."""
    assert {path.name for path in SOURCE.glob("*.py")} <= ENTRY_POINTS
    assert {path.name for path in (SOURCE / "surfaces").glob("*.py")} == {"__init__.py"}


def constructors(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The classes of a file, each with the number of arguments of its constructor, without `self`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        if any("dataclass" in ast.unparse(each) for each in node.decorator_list):
            yield node.name, sum(isinstance(each, ast.AnnAssign) for each in node.body)
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name == "__init__":
                yield node.name, len(each.args.posonlyargs + each.args.args + each.args.kwonlyargs) - 1
