"""Static analysis of Python code: which files it uses and which shell commands it runs.

Only literal values, names bound to them, and common path functions are evaluated. Everything else is `UNKNOWN`.
"""

import ast
import base64
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from claude_headspace.inputs.policy.shell.budget import Budget, BudgetExceeded
from claude_headspace.inputs.policy.shell.findings import Argv, Effect, FileUse, ShellText
from claude_headspace.inputs.policy.shell.markers import without_markers
from claude_headspace.kernel.policy.call import UNKNOWN, Trait, Use

MAX_LOOP_VALUES = 10
"""Analysed values of a loop variable."""


def analyse_python(text: str, home: str, budget: Budget) -> list[Effect]:
    """Return the effects of Python code; none if it has a syntax error."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    except (RecursionError, MemoryError):
        raise BudgetExceeded from None
    return _PythonAnalysis(home, budget).find_effects(tree)


_DELETES = {"os.remove", "os.unlink", "os.rmdir", "os.removedirs"}
_WRITES = {"os.mkdir", "os.makedirs", "os.chmod", "os.chown", "os.truncate", "os.mknod"}
_MOVES = {"shutil.move", "os.rename", "os.replace", "os.renames"}
_COPIES = {"shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "os.link", "os.symlink"}
_SHELLS = {
    "asyncio.create_subprocess_shell",
    "commands.getoutput",
    "os.system",
    "os.popen",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
}
_RUNS = {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")}
_SPAWN_PREFIXES = ("os.exec", "os.spawn", "os.posix_spawn", "pty.spawn", "asyncio.create_subprocess_exec")
_OPENS = {"open", "io.open", "os.open", "codecs.open", "gzip.open", "aiofiles.open"}
_PATH_READS = {"read_text", "read_bytes"}
_PATH_DELETES = {"unlink", "rmdir"}
_PATH_WRITES = {"write_text", "write_bytes", "touch", "mkdir", "chmod"}
_PATHS = {"pathlib.Path", "Path", "pathlib.PosixPath", "os.path.abspath", "os.path.realpath", "str", "os.fspath"}


_DECODERS = {"urlopen", "get", "b64decode", "decompress", "recv", "fromhex", "loads", "a85decode", "unhexlify"}
"""Functions that download or decode a text."""
_WRITE_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}


class _PythonAnalysis:
    """The names that a program binds, and the effects of its calls."""

    def __init__(self, home: str, budget: Budget) -> None:
        self._home = home
        self._budget = budget
        self._modules: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._loop_values: dict[str, list[str]] = {}
        self._walked: set[str] = set()
        """Directories that the program walks through."""
        self._directory = ""
        """The directory of `os.chdir`."""

    def find_effects(self, tree: ast.AST) -> list[Effect]:
        """Return the effects of all nodes, once per value of the loop variables."""
        nodes = list(ast.walk(tree))
        self._budget.spend(len(nodes) // 4)
        for node in nodes:
            self._bind(node)
        found: dict[Effect, None] = {}
        iterations = max(map(len, self._loop_values.values()), default=1)
        for iteration in range(min(iterations, MAX_LOOP_VALUES)):
            self._values |= {name: texts[iteration % len(texts)] for name, texts in self._loop_values.items()}
            found |= dict.fromkeys(effect for node in nodes for effect in self._node_effects(node))
        return [*found, *self._effects_in_directory(found)]

    def _effects_in_directory(self, effects: Iterable[Effect]) -> Iterator[Effect]:
        """Return the uses of relative paths again, below the directory that the program changes to."""
        for effect in effects if self._directory else ():
            if isinstance(effect, FileUse) and not effect.argument.startswith("/"):
                yield msgspec.structs.replace(effect, argument=f"{self._directory}/{effect.argument}")

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names):
                self._modules |= {alias.asname: alias.name for alias in names if alias.asname}
            case ast.ImportFrom(module=module, names=names):
                self._modules |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._values[name] = self._evaluate(value)
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=name), *_]), iter=ast.Call(func=function, args=[root, *_])
            ) if self._full_name(function) == "os.walk":
                self._values[name] = self._evaluate(root)
                self._walked.add(self._values[name])
            case ast.Call(func=function, args=[directory]) if self._full_name(function) == "os.chdir":
                self._directory = self._evaluate(directory)
            case (
                ast.For(target=ast.Name(id=name), iter=ast.List(elts=values) | ast.Tuple(elts=values))
                | ast.comprehension(target=ast.Name(id=name), iter=ast.List(elts=values) | ast.Tuple(elts=values))
            ) if values:
                self._loop_values[name] = [self._evaluate(value) for value in values]

    def _node_effects(self, node: ast.AST) -> Iterator[Effect]:
        if isinstance(node, ast.Call):
            yield from self._call_effects(node)
        elif isinstance(node, ast.While) and self._forks(node):
            yield Trait.FORK_BOMB

    def _forks(self, loop: ast.While) -> bool:
        names = (node for node in ast.walk(loop) if isinstance(node, ast.Attribute | ast.Name))
        return any(self._full_name(node) == "os.fork" for node in names)

    def _full_name(self, node: ast.AST) -> str:
        """Return the qualified name: `shutil.rmtree` for `rmtree` after `from shutil import rmtree`."""
        self._budget.spend()
        if not isinstance(node, ast.Attribute | ast.Name):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
                return self._evaluate(node.args[0]) if node.args else ""
            match node:
                case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str() as attribute), *_]):
                    return f"{self._full_name(owner)}.{attribute}"
            return self._full_name(node.func) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Name):
            return self._modules.get(node.id, node.id)
        return f"{self._full_name(node.value)}.{node.attr}"

    def _call_effects(self, node: ast.Call) -> Iterator[Effect]:
        name, arguments = self._full_name(node.func), [self._evaluate(argument) for argument in node.args]
        first = arguments[0] if arguments else UNKNOWN
        if name in _SHELLS or (name in _RUNS and not _has_list_argument(node)):
            yield ShellText(first)
        elif name in _RUNS or name.startswith(_SPAWN_PREFIXES):
            yield Argv(self._argv(node))
        elif name in ("exec", "eval"):
            yield from self._code_effects(node, first)
        elif uses := list(self._file_effects(node, name, arguments)):
            yield from uses
        else:
            yield from self._path_method_effects(node)

    def _code_effects(self, node: ast.Call, code: str) -> Iterator[Effect]:
        """Return the effects of code that the program runs."""
        if code == UNKNOWN:
            yield from [Trait.UNREADABLE_SCRIPT] if self._is_encoded(node) else []
        else:
            self._budget.spend_source(len(code))
            yield from analyse_python(code, self._home, self._budget)

    def _file_effects(self, node: ast.Call, name: str, arguments: list[str]) -> Iterator[Effect]:
        first = arguments[0] if arguments else UNKNOWN
        if name == "shutil.rmtree":
            yield FileUse(first, Use.DELETE, recursive=True)
        elif name in _DELETES:
            yield FileUse(first, Use.DELETE)
        elif name == "os.chmod" and first in self._walked:
            yield Argv(("chmod", "-R", "777", first))
        elif name in _WRITES or (name == "fileinput.input" and _has_keyword(node, "inplace")):
            yield FileUse(first, Use.WRITE)
        elif name in _MOVES | _COPIES and len(arguments) > 1:
            yield from [FileUse(first, Use.DELETE, recursive=True)] if name in _MOVES else []
            yield FileUse(arguments[1], Use.WRITE)
        elif name in _OPENS:
            yield FileUse(first, Use.WRITE if self._opens_to_write(node) else Use.READ)
        elif name.endswith((".extractall", ".unpack_archive", "urllib.request.urlretrieve")) and arguments:
            yield FileUse(arguments[-1], Use.WRITE)

    def _path_method_effects(self, node: ast.Call) -> Iterator[Effect]:
        """Return the effects of a method of `Path`."""
        if not isinstance(node.func, ast.Attribute):
            return
        verb, path = node.func.attr, self._evaluate(node.func.value)
        if path == UNKNOWN and not isinstance(node.func.value, ast.Call | ast.BinOp):
            return
        if verb in _PATH_DELETES:
            yield FileUse(path, Use.DELETE)
        elif verb in _PATH_WRITES or (verb == "open" and self._opens_to_write(node, mode_index=0)):
            yield FileUse(path, Use.WRITE)
        elif verb in _PATH_READS:
            yield FileUse(path, Use.READ)
        elif verb in ("rename", "replace") and node.args and path != UNKNOWN and isinstance(node.func.value, ast.Call):
            yield FileUse(path, Use.DELETE, recursive=True)
            yield FileUse(self._evaluate(node.args[0]), Use.WRITE)

    def _opens_to_write(self, node: ast.Call, mode_index: int = 1) -> bool:
        modes = [keyword.value for keyword in node.keywords if keyword.arg == "mode"] + node.args[
            mode_index : mode_index + 1
        ]
        return any(set("wax+") & set(self._evaluate(mode)) or self._mentions_write_flag(mode) for mode in modes)

    def _is_encoded(self, node: ast.Call) -> bool:
        """Whether a text that the program runs is downloaded or decoded."""
        names = {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
        self._budget.spend(len(names))
        return bool(names & _DECODERS)

    def _mentions_write_flag(self, mode: ast.expr) -> bool:
        names = [node.attr for node in ast.walk(mode) if isinstance(node, ast.Attribute)]
        self._budget.spend(len(names))
        return any(name in _WRITE_FLAGS for name in names)

    def _argv(self, node: ast.Call) -> tuple[str, ...]:
        lists = [argument for argument in node.args if isinstance(argument, ast.List | ast.Tuple)]
        is_asyncio = self._full_name(node.func).startswith("asyncio.")
        elements: Sequence[ast.expr] = lists[0].elts if lists else node.args[0 if is_asyncio else 1 :]
        return tuple(self._evaluate(element) for element in elements)

    def _evaluate(self, node: ast.expr) -> str:
        """Return the text that an expression stands for."""
        text = self._evaluate_expression(node)
        self._budget.spend(1, len(text))
        return text

    def _evaluate_expression(self, node: ast.expr) -> str:
        match node:
            case ast.Constant(value=str() as text):
                return without_markers(text)
            case ast.Constant(value=bytes() as raw):
                return without_markers(raw.decode("utf-8", "replace"))
            case ast.Name(id=name):
                return self._values.get(name, UNKNOWN)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._evaluate(left) + self._evaluate(right)
            case ast.BinOp(left=left, op=ast.Mod(), right=right):
                values = right.elts if isinstance(right, ast.Tuple) else [right]
                return _fill(r"%[sdr]", self._evaluate(left), [self._evaluate(value) for value in values])
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return f"{self._evaluate(left)}/{self._evaluate(right)}"
            case ast.JoinedStr(values=values):
                return "".join(self._evaluate(value) for value in values)
            case ast.FormattedValue(value=value):
                return self._evaluate(value)
            case ast.Subscript(value=value, slice=ast.Constant(value="HOME")) if self._full_name(value) == "os.environ":
                return self._home
            case ast.Call():
                return self._evaluate_call(node)
            case _:
                return UNKNOWN

    def _evaluate_call(self, node: ast.Call) -> str:
        name, arguments = self._full_name(node.func), [self._evaluate(argument) for argument in node.args]
        if name in _PATHS and arguments:
            return "/".join(arguments)
        if name == "os.path.expanduser" and arguments:
            return self._home + arguments[0][1:] if arguments[0].startswith("~") else arguments[0]
        if name == "os.path.join":
            return "/".join(arguments)
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr == "join"
            and isinstance(node.func.value, ast.Constant)
        ):
            parts = node.args[0].elts if node.args and isinstance(node.args[0], ast.List | ast.Tuple) else ()
            return self._evaluate(node.func.value).join(map(self._evaluate, parts)) if parts else UNKNOWN
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            return _fill(r"\{\w*\}", self._evaluate(node.func.value), arguments)
        if name.endswith("b64decode") and arguments:
            return _decode_base64(arguments[0])
        if isinstance(node.func, ast.Attribute) and node.func.attr == "decode":
            return self._evaluate(node.func.value)
        if name.endswith("Path.home") or (name in ("os.getenv", "os.environ.get") and arguments[:1] == ["HOME"]):
            return self._home
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("expanduser", "resolve", "absolute"):
            inner = self._evaluate(node.func.value)
            return self._home + inner[1:] if inner.startswith("~") else inner
        return UNKNOWN


def _fill(placeholder: str, text: str, values: list[str]) -> str:
    """Fill the placeholders of a format."""
    rest = iter(values)
    return re.sub(placeholder, lambda _match: next(rest, UNKNOWN), text)


def _decode_base64(text: str) -> str:
    try:
        return without_markers(base64.b64decode(text).decode("utf-8", "replace"))
    except ValueError:
        return UNKNOWN


def _has_keyword(node: ast.Call, name: str) -> bool:
    return any(keyword.arg == name for keyword in node.keywords)


def _has_list_argument(node: ast.Call) -> bool:
    """Whether the first argument is a list of arguments, not a shell text."""
    return bool(node.args) and isinstance(node.args[0], ast.List | ast.Tuple)
