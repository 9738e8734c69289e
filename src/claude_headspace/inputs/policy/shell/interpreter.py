"""Walks the syntax tree in the order of execution and tracks what bash would know at each point.

Tracked are the directory, variables, functions, aliases, the files that the text writes, and for each variable the
programs that its value comes from.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy

from tree_sitter import Node

from claude_headspace.inputs.policy.paths import find_path_uses, first_glob_match, make_absolute, read_small_text
from claude_headspace.inputs.policy.shell import words
from claude_headspace.inputs.policy.shell.budget import BudgetExceeded
from claude_headspace.inputs.policy.shell.findings import EMPTY, MAX_DEPTH, MAX_WORDS, Findings, Flow
from claude_headspace.inputs.policy.shell.markers import SPLIT, has_glob, quote, unmark, unmark_all, without_markers
from claude_headspace.inputs.policy.shell.program_settings import variable_program
from claude_headspace.inputs.policy.shell.syntax import (
    is_fork_bomb,
    is_too_nested,
    node_text,
    parse,
    split_statements,
    text_after_test,
)
from claude_headspace.kernel.policy.call import UNKNOWN, Program, Trait, Use

WATCHED_VARIABLES = ("CLAUDE_", "CODEX_", "COPILOT_", "GEMINI_CLI_", "HEADSPACE_", "OPENCODE")
"""Prefixes of the variables whose assignment rules can match."""
COMMAND_STEPS = 3
"""The steps of running one command."""
PATH_STEPS = 4
"""The steps of resolving one path."""

OPAQUE_PROGRAMS = frozenset(("curl", "wget", "http", "https", "xh", "nc", "ncat", "base64", "openssl"))
"""Programs whose output is not a program name."""

_BRACES_AS_COMMAND = re.compile(r"\s*\{([^{}\s,]+,[^{}\s]*)\}\s*(.*)", re.DOTALL)
"""`{rm,-rf,x}`, which the grammar cannot parse."""

_REPEATED_UNKNOWN = re.compile(f"{UNKNOWN}{{2,}}")

Handler = Callable[["Shell", str, list[str], Flow], Flow]
"""Runs a program: takes the shell, the program's path, its arguments and its standard input; returns its output."""


class Shell:
    """The state of one shell."""

    def __init__(
        self,
        findings: Findings,
        *,
        directory: str,
        home: str,
        project: str,
        handlers: dict[str, Handler],
        default_handler: Handler,
    ) -> None:
        self.findings = findings
        self.budget = findings.budget
        self.directory = directory
        self.home = home
        self.project = project
        self.handlers = handlers
        self.default_handler = default_handler
        self.variables = {"HOME": home, "PWD": directory, "IFS": " \t\n", "TMPDIR": "/tmp", "?": "0"}  # noqa: S108
        self.variable_sources: dict[str, tuple[str, ...]] = {}
        self.functions: dict[str, Node] = {}
        self.fork_bombs: set[str] = set()
        self.aliases: dict[str, str] = {}
        self.written_files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.depth = 0
        self.default_stdin = EMPTY
        """The input of programs without a redirect: `exec < FILE` sets it."""
        self.inherited_sources: tuple[str, ...] = ()
        """Sources of the unknown parts of the text that this shell runs: `lsof` in `sh -c "kill $(lsof …)"`."""
        self._expansion_sources: list[str] = []
        """Programs that the current expansion takes its text from."""

    @property
    def current_sources(self) -> tuple[str, ...]:
        """The sources of the program that runs now."""
        return self.findings.programs[-1].fed_by

    # --- text ---

    def run(self, text: str, stdin: Flow = EMPTY) -> Flow:
        """Run a text in this shell and return its output."""
        if self.depth >= MAX_DEPTH:
            self.findings.add_trait(Trait.UNREADABLE_SCRIPT)
            return Flow(UNKNOWN)
        self.depth += 1
        root = self._parse(text)
        stdout = self.walk(root, stdin)
        if root.has_error:
            self._run_statements_separately(text, stdin)
        self.depth -= 1
        return stdout

    def _parse(self, text: str) -> Node:
        self.budget.spend_source(len(text))
        if is_too_nested(text):
            raise BudgetExceeded
        return parse(text)

    def _run_statements_separately(self, text: str, stdin: Flow) -> None:
        """Run the valid statements of a text with syntax errors."""
        self.findings.add_trait(Trait.UNREADABLE_SYNTAX)
        for statement in split_statements(text):
            if not statement.strip():
                continue
            braces = _BRACES_AS_COMMAND.fullmatch(statement)
            root = self._parse(f"{braces[1].replace(',', ' ')} {braces[2]}" if braces else statement)
            if not root.has_error:
                self.walk(root, stdin)

    def create_subshell(self, findings: Findings | None = None) -> "Shell":
        """Create a shell with a copy of this state. Written files and links are shared."""
        self.budget.spend(1 + (len(self.variables) + len(self.functions)) // 50)
        subshell = copy(self)
        subshell.findings = findings or self.findings
        subshell.variables, subshell.variable_sources = dict(self.variables), dict(self.variable_sources)
        subshell.functions, subshell.fork_bombs = dict(self.functions), set(self.fork_bombs)
        subshell.aliases, subshell._expansion_sources = dict(self.aliases), []
        return subshell

    # --- variables and substitutions (words.Scope) ---

    def get_variable(self, name: str) -> str:
        """Return the value of a variable, or `UNKNOWN`."""
        if name == "PWD":
            return self.directory
        self._expansion_sources += self.variable_sources.get(name, ())
        return self.variables.get(name, UNKNOWN)

    def assign(self, name: str, value: str) -> None:
        """Set a variable. Its sources are those of the current expansion."""
        self.budget.spend(0, len(value))
        self.variables[name] = _REPEATED_UNKNOWN.sub(UNKNOWN, value)
        self.variable_sources[name] = tuple(dict.fromkeys(self._expansion_sources))

    def assign_reported(self, name: str, value: str) -> None:
        """Set a variable of the environment. Rules can match some of them."""
        self.assign(name, value)
        self._report_variable(name, value)

    def run_substitution(self, node: Node) -> str:
        """Run the commands in `$( )` and return their output."""
        stdout = self._run_in_subshell(node)
        self._expansion_sources += stdout.sources
        return stdout.text

    def run_process_substitution(self, node: Node) -> str:
        """Run the commands in `<( )` and return the file name that replaces it."""
        stdout = self._run_in_subshell(node)
        name = f"/dev/fd/{63 + len(self.written_files)}"
        self.written_files[name] = stdout.text
        self._expansion_sources += stdout.sources
        return name

    def _run_in_subshell(self, node: Node) -> Flow:
        subshell = self.create_subshell()
        subshell.depth += 1
        if subshell.depth > MAX_DEPTH:
            self.findings.add_trait(Trait.UNREADABLE_SCRIPT)
            return Flow(UNKNOWN)
        redirects = [child for child in node.named_children if child.type == "file_redirect"]
        if redirects and len(redirects) == node.named_child_count:  # $(<FILE)
            return subshell._redirect_input(redirects, EMPTY)
        return subshell._walk_children(node, EMPTY)

    @contextmanager
    def _collect_sources(self) -> Iterator[list[str]]:
        """Collect the sources of the expansions in this block, separately from the surrounding expansion."""
        saved, self._expansion_sources = self._expansion_sources, []
        yield self._expansion_sources
        self._expansion_sources = saved

    # --- files ---

    def record_use(self, argument: str, use: Use, program: str, *, recursive: bool = False) -> None:
        """Record the use of the file or files that an argument names."""
        self.findings.depends_on_files = True
        self.budget.spend(PATH_STEPS + len(self.links) // 10)
        if argument.startswith("~/"):  # only in the arguments of programs that expand it themselves
            argument = self.home + argument[1:]
        uses = find_path_uses(
            argument,
            self.directory,
            use,
            used_by=program,
            recursive=recursive,
            links=self.links,
            spend=self.budget.spend,
        )
        self.findings.paths += uses
        self.budget.spend(PATH_STEPS * (len(uses) - 1))

    def resolve_path(self, argument: str) -> str:
        """Return the absolute path that an argument names."""
        return make_absolute(unmark(argument), self.directory)

    def read_content(self, argument: str) -> tuple[str | None, bool]:
        """Return the text of a file, and whether the analysed text itself wrote the file."""
        path = self.resolve_path(argument)
        if path in self.written_files:
            return self.written_files[path], True
        self.findings.depends_on_files = True
        text = read_small_text(path)
        return (None if text is None else without_markers(text)), False

    # --- statements ---

    def walk(self, node: Node, stdin: Flow = EMPTY) -> Flow:
        """Run a statement and return its output."""
        self.budget.spend()
        handler = STATEMENT_HANDLERS.get(node.type)
        if handler is not None:
            return handler(self, node, stdin)
        if node.type in words.EXPANDERS:
            words.expand_word(node, self)
            return EMPTY
        return self._walk_children(node, stdin)

    def _walk_children(self, node: Node, stdin: Flow) -> Flow:
        return self._join(self.walk(child, stdin) for child in node.named_children)

    def _join(self, flows: Iterable[Flow]) -> Flow:
        """Join the output of several commands."""
        parts = list(flows)
        text, sources = "".join(flow.text for flow in parts), (name for flow in parts for name in flow.sources)
        self.budget.spend(0, len(text))
        return Flow(text, tuple(dict.fromkeys(sources)))

    def _skip(self, _node: Node, _stdin: Flow) -> Flow:
        return EMPTY

    def _walk_pipeline(self, node: Node, stdin: Flow) -> Flow:
        for child in node.named_children:
            stdout = self.create_subshell().walk(child, stdin)
            stdin = Flow(stdout.text, tuple(dict.fromkeys((*stdin.sources, *stdout.sources))))
        return stdin

    def _walk_subshell(self, node: Node, stdin: Flow) -> Flow:
        return self.create_subshell()._walk_children(node, stdin)

    def _define_function(self, node: Node, _stdin: Flow) -> Flow:
        name, body = _field_text(node, "name"), node.child_by_field_name("body")
        if name and body is not None:
            self.budget.spend(0, body.end_byte - body.start_byte)
            self.functions[name] = body
            if is_fork_bomb(name, body):
                self.fork_bombs.add(name)
        return EMPTY

    def _walk_for(self, node: Node, stdin: Flow) -> Flow:
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        value_nodes = [child for child in node.named_children if child not in (name, body)]
        values = self._expand_words(value_nodes) or [self.get_variable("@")]
        outputs = []
        for value in values:
            self.assign(node_text(name) if name else "", value)
            outputs.append(self.walk(body, stdin) if body else EMPTY)
        return self._join(outputs)

    def _walk_while(self, node: Node, stdin: Flow) -> Flow:
        """Run the loop once per line of input, or once."""
        lines = stdin.text.splitlines() or [stdin.text]
        return self._join(self._walk_children(node, Flow(line, stdin.sources)) for line in lines)

    def _walk_case(self, node: Node, stdin: Flow) -> Flow:
        return self._join(self.walk(child, stdin) for child in node.named_children if child.type in STATEMENT_HANDLERS)

    def _walk_test(self, node: Node, stdin: Flow) -> Flow:
        if node.has_error and (rest := text_after_test(node_text(node))):
            return self.run(rest, stdin)
        return self._walk_children(node, stdin)

    def _walk_assignment(self, node: Node, _stdin: Flow) -> Flow:
        name, value = _field_text(node, "name"), node.child_by_field_name("value")
        target = node.child_by_field_name("name")
        if target is not None and target.type == "subscript":
            self._walk_children(target, EMPTY)
        with self._collect_sources():
            if value is not None and value.type == "array":
                self._assign_array(name, value)
            else:
                text = words.expand_to_text(value, self)
                appends = any(child.type == "+=" for child in node.children)
                self.assign(name, self.get_variable(name) + text if appends else text)
                self._report_variable(name, text)
        return EMPTY

    def _report_variable(self, name: str, value: str) -> None:
        """Report the assignment of a variable that the client or Headspace reads, as a program `export`."""
        if name.startswith(WATCHED_VARIABLES):
            self.findings.programs.append(Program("export", (f"{name}={value}"[:200],)))
        self.findings.programs.extend(variable_program(name, value))

    def _assign_array(self, name: str, node: Node) -> None:
        values = unmark_all(self._expand_words(node.named_children))
        for index, value in enumerate(values):
            self.assign(f"{name}[{index}]", value)
        self.assign(name, values[0] if values else "")
        self.assign(f"{name}[@]", SPLIT.join(values))
        self.assign(f"{name}[*]", SPLIT.join(values))

    def _walk_unset(self, node: Node, _stdin: Flow) -> Flow:
        for child in node.named_children:
            self.variables[node_text(child)] = ""
            self._report_variable(node_text(child), "")
        return EMPTY

    # --- redirects ---

    def _walk_redirected(self, node: Node, stdin: Flow) -> Flow:
        """Run a statement with redirects. The tree puts what follows `<<EOF` on the line inside the here-document."""
        body = node.child_by_field_name("body")
        redirects = [child for child in node.named_children if child != body]
        nested = [part for child in redirects if child.type == "heredoc_redirect" for part in child.named_children]
        redirects += [part for part in nested if part.type.endswith("_redirect")]
        stdin = self._redirect_input(redirects, stdin)
        if body is not None and node_text(body) == "exec":
            self.default_stdin = stdin
        stdout = self._redirect_output(redirects, self.walk(body, stdin) if body is not None else EMPTY)
        for part in nested:
            if part.type == "pipeline":
                stdout = self._walk_pipeline(part, stdout)
            elif part.type in STATEMENT_HANDLERS and not part.type.endswith("_redirect"):
                stdout = self._join([stdout, self.walk(part, EMPTY)])
        return stdout

    def _redirect_input(self, redirects: Sequence[Node], stdin: Flow) -> Flow:
        for node in redirects:
            if node.type == "heredoc_redirect":
                stdin = Flow(self._heredoc_text(node))
            elif node.type == "herestring_redirect":
                stdin = Flow(words.expand_to_text(node.named_children[-1], self) + "\n")
            elif _redirect_operator(node).startswith("<") and node.named_children:
                with self._collect_sources() as sources:
                    name = words.expand_to_text(node.named_children[-1], self)
                self.record_use(name, Use.READ, "redirect")
                text, _ = self.read_content(name)
                stdin = Flow(UNKNOWN if text is None else text, tuple(sources))
        return stdin

    def _heredoc_text(self, node: Node) -> str:
        parts = {child.type: child for child in node.named_children}
        body, start = parts.get("heredoc_body"), parts.get("heredoc_start")
        if body is None:
            return ""
        is_quoted = start is not None and any(char in node_text(start) for char in "'\"\\")
        return node_text(body) if is_quoted else words.expand_heredoc(body, self)

    def _redirect_output(self, redirects: Sequence[Node], stdout: Flow) -> Flow:
        for node in redirects:
            operator = _redirect_operator(node)
            target = node.child_by_field_name("destination")
            reads_only = operator.startswith("<") and not operator.startswith("<>")
            if node.type != "file_redirect" or reads_only or target is None or node_text(target).isdigit():
                continue
            if target.type == "process_substitution":
                self.create_subshell()._walk_children(target, stdout)
                continue
            name = words.expand_to_text(target, self)
            self.record_use(name, Use.WRITE, "redirect")
            if not node_text(node).startswith("2"):
                path = self.resolve_path(name)
                existing = self.written_files.get(path, "") if ">>" in operator else ""
                self.budget.spend(0, len(existing) + len(stdout.text))
                self.written_files[path] = existing + stdout.text
                stdout = Flow("", stdout.sources)
        return stdout

    # --- commands ---

    def _walk_command(self, node: Node, stdin: Flow) -> Flow:
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        assignments = [child for child in node.children if child.type == "variable_assignment"]
        argument_nodes = [child for child in node.named_children if child not in (*redirects, *assignments)]
        saved = dict(self.variables)
        for assignment in assignments:
            self._walk_assignment(assignment, EMPTY)
        stdin = self._redirect_input(redirects, stdin)
        if len(argument_nodes) > MAX_WORDS:
            self.findings.add_trait(Trait.UNREADABLE_SCRIPT)
        with self._collect_sources() as sources:
            arguments = self._expand_words(argument_nodes[:MAX_WORDS])
        stdout = self.execute(arguments, stdin, tuple(sources))
        if argument_nodes:
            names = {_field_text(assignment, "name") for assignment in assignments}
            self.variables |= {name: saved[name] for name in names if name in saved}
        return self._redirect_output(redirects, stdout)

    def _expand_words(self, nodes: Sequence[Node]) -> list[str]:
        return [argument for node in nodes for argument in words.expand_word(node, self)]

    def execute(self, arguments: list[str], stdin: Flow, sources: tuple[str, ...] = ()) -> Flow:
        """Run a function, alias or program. `sources` are the programs whose output is part of the arguments."""
        while arguments and unmark(arguments[0]) in ("", "{", "!"):  # the grammar parses `! { rm x; }` as a program `{`
            arguments = arguments[1:]
        if not arguments:
            return EMPTY
        self.budget.spend(COMMAND_STEPS + len(arguments) // 10, sum(map(len, arguments)))
        path, *words = unmark_all(arguments)
        if has_glob(arguments[0]):
            self.findings.depends_on_files = True
            path = first_glob_match(arguments[0], self.directory, self.budget.spend)
        name = path.rstrip("/").rpartition("/")[2]
        if name in self.functions and name == path:
            return self._call_function(name, arguments[1:], stdin)
        if name in self.aliases and name == path:
            text = self.aliases.pop(name)
            return self.run(f"{text} {' '.join(map(quote, arguments[1:]))}", stdin)
        if UNKNOWN in name:
            self.findings.add_trait(Trait.UNKNOWN_PROGRAM)
            if OPAQUE_PROGRAMS & set(sources):
                self.findings.add_trait(Trait.UNREADABLE_SCRIPT)
        stdin = stdin if stdin is not EMPTY else self.default_stdin
        inherited = self.inherited_sources if any(UNKNOWN in argument for argument in arguments) else ()
        all_sources = tuple(dict.fromkeys((*sources, *stdin.sources, *inherited)))
        self.findings.programs.append(Program(name, tuple(words), all_sources))
        handler = self.handlers.get(name) or self.handlers.get(name.rstrip("0123456789.")) or self.default_handler
        stdout = handler(self, path, arguments[1:], stdin)
        self.budget.spend(0, len(stdout.text))
        return Flow(stdout.text, tuple(dict.fromkeys((name, *all_sources, *stdout.sources))))

    def _call_function(self, name: str, arguments: list[str], stdin: Flow) -> Flow:
        if name in self.fork_bombs:
            self.findings.add_trait(Trait.FORK_BOMB)
            return EMPTY
        if self.depth >= MAX_DEPTH:
            return EMPTY
        saved = self.set_positional(arguments)
        self.depth += 1
        stdout = self.walk(self.functions[name], stdin)
        self.depth -= 1
        self.variables.update(saved)
        return stdout

    def set_positional(self, arguments: Sequence[str]) -> dict[str, str]:
        """Set `$1`, `$2`, `$@`, `$*` and `$#`. Return the previous values."""
        new = {str(number): value for number, value in enumerate(arguments, 1)}
        new |= {"@": SPLIT.join(arguments), "*": " ".join(arguments), "#": str(len(arguments))}
        saved = {name: self.variables.get(name, UNKNOWN) for name in new}
        self.variables.update(new)
        return saved


def _field_text(node: Node, field: str) -> str:
    child = node.child_by_field_name(field)
    return node_text(child) if child is not None else ""


def _redirect_operator(node: Node) -> str:
    """Return the text of a redirect without its file descriptor: `> x` for `2> x`."""
    return node_text(node).lstrip("0123456789")


STATEMENT_HANDLERS: dict[str, Callable[[Shell, Node, Flow], Flow]] = {
    **dict.fromkeys(("program", "list", "compound_statement", "negated_command"), Shell._walk_children),
    **dict.fromkeys(("if_statement", "elif_clause", "else_clause"), Shell._walk_children),
    **dict.fromkeys(("c_style_for_statement", "do_group"), Shell._walk_children),
    **dict.fromkeys(("variable_assignments", "declaration_command"), Shell._walk_children),
    **dict.fromkeys(("case_statement", "case_item"), Shell._walk_case),
    **dict.fromkeys(("comment", "file_redirect", "heredoc_redirect", "herestring_redirect"), Shell._skip),
    "command": Shell._walk_command,
    "redirected_statement": Shell._walk_redirected,
    "pipeline": Shell._walk_pipeline,
    "subshell": Shell._walk_subshell,
    "while_statement": Shell._walk_while,
    "for_statement": Shell._walk_for,
    "test_command": Shell._walk_test,
    "function_definition": Shell._define_function,
    "variable_assignment": Shell._walk_assignment,
    "unset_command": Shell._walk_unset,
}
"""The method that runs each type of node. Of other types, the children are run."""
