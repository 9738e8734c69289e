"""Walks the syntax tree in the order in which bash would, and remembers what bash would know by then."""

from collections.abc import Callable, Sequence

from tree_sitter import Node

from claude_headspace.inputs.policy.paths import first_glob_match, make_absolute, read_small_text, uses
from claude_headspace.inputs.policy.shell import syntax, words
from claude_headspace.inputs.policy.shell.findings import MAX_DEPTH, MAX_WORDS, Findings
from claude_headspace.inputs.policy.shell.flow import EMPTY, Flow, concatenate
from claude_headspace.inputs.policy.shell.markers import SPLIT, quote, unmark, without_markers
from claude_headspace.kernel.policy.call import UNKNOWN, Program, Trait, Use

MAX_ITERATIONS = 20
"""Rounds of a loop that are looked at."""


Handler = Callable[["Shell", str, list[str], Flow], Flow]
"""What a program of which we know more does: the shell, its name, its arguments, what it is given to read."""


class Shell:
    """One shell, with what is known in it. `commands` knows the programs that run others."""

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
        self.inherited_sources: tuple[str, ...] = ()
        """Programs that what is unknown in the text itself comes from: `sh -c "kill $(lsof …)"`."""
        self._expansion_sources: list[str] = []

    # --- texts ---

    def run(self, text: str, given: Flow = EMPTY) -> Flow:
        """Read a text as commands of this very shell."""
        if self.depth >= MAX_DEPTH:
            self.findings.traits[Trait.UNREADABLE_SCRIPT] = None
            return Flow(UNKNOWN)
        self.depth += 1
        root = syntax.parse(text)
        out = self.walk(root, given)
        if root.has_error:
            self._run_statements_separately(text, given)
        self.depth -= 1
        return out

    def _run_statements_separately(self, text: str, given: Flow) -> None:
        """What can be read of a text that cannot be read as a whole."""
        self.findings.traits[Trait.UNREADABLE_SYNTAX] = None
        for piece in syntax.split_statements(text):
            root = syntax.parse(piece)
            if piece.strip() and not root.has_error:
                self.walk(root, given)

    def create_subshell(self, findings: Findings | None = None) -> "Shell":
        """A shell within this one: it knows the same, and what it changes stays in it; files are everybody's."""
        child = Shell(
            findings or self.findings,
            directory=self.directory,
            home=self.home,
            project=self.project,
            handlers=self.handlers,
            default_handler=self.default_handler,
        )
        child.variables, child.variable_sources = dict(self.variables), dict(self.variable_sources)
        child.functions, child.aliases, child.fork_bombs = (
            dict(self.functions),
            dict(self.aliases),
            set(self.fork_bombs),
        )
        child.written_files, child.links, child.depth = self.written_files, self.links, self.depth
        child.inherited_sources = self.inherited_sources
        return child

    # --- what words need (words.World) ---

    def get_variable(self, name: str) -> str:
        """A variable's value; unknown if it comes from elsewhere."""
        if name == "PWD":
            return self.directory
        self._expansion_sources += self.variable_sources.get(name, ())
        return self.variables.get(name, UNKNOWN)

    def assign(self, name: str, value: str) -> None:
        """A variable has this value from here on."""
        self.variables[name] = value
        self.variable_sources[name] = tuple(self._expansion_sources)

    def run_substitution(self, node: Node) -> str:
        """What the commands in `$( )` print."""
        kept, self._expansion_sources = self._expansion_sources, []
        out = self._run_in_subshell(node)
        self._expansion_sources = [*kept, *out.sources]
        return out.text

    def _run_in_subshell(self, node: Node) -> Flow:
        """What the commands of a substitution print; they have a shell of their own."""
        child = self.create_subshell()
        child.depth += 1
        if child.depth > MAX_DEPTH:
            self.findings.traits[Trait.UNREADABLE_SCRIPT] = None
            return Flow(UNKNOWN)
        return child._walk_children(node, EMPTY)

    def run_process_substitution(self, node: Node) -> str:
        """The file that `<( )` stands for."""
        out = self._run_in_subshell(node)
        name = f"/dev/fd/{63 + len(self.written_files)}"
        self.written_files[name] = out.text
        self._expansion_sources += out.sources
        return name

    # --- files ---

    def record_use(self, field: str, use: Use, by: str, *, recursive: bool = False) -> None:
        """Note what happens to the file or files that an argument names."""
        found = uses(field, self.directory, use, by=by, recursive=recursive, links=self.links)
        self.findings.paths += found

    def resolve_path(self, field: str) -> str:
        """The path that an argument names."""
        return make_absolute(unmark(field), self.directory)

    def read_content(self, field: str) -> tuple[str | None, bool]:
        """A file's text, and whether these commands wrote it themselves."""
        path = self.resolve_path(field)
        if path in self.written_files:
            return self.written_files[path], True
        return (without_markers(text) if (text := read_small_text(path)) is not None else None), False

    # --- statements ---

    def walk(self, node: Node, given: Flow = EMPTY) -> Flow:
        """Go through a statement; what it prints comes out."""
        statement = STATEMENT_HANDLERS.get(node.type)
        if statement is not None:
            return statement(self, node, given)
        if node.type in words.EXPANDERS:
            words.expand_word(node, self)
            return EMPTY
        return self._walk_children(node, given)

    def _walk_children(self, node: Node, given: Flow) -> Flow:
        out = [self.walk(child, given) for child in node.named_children]
        return concatenate(out)

    def _skip(self, _node: Node, _given: Flow) -> Flow:
        return EMPTY

    def _walk_pipeline(self, node: Node, given: Flow) -> Flow:
        for child in node.named_children:
            out = self.create_subshell().walk(child, given)
            given = Flow(out.text, (*given.sources, *out.sources))
        return given

    def _walk_subshell(self, node: Node, given: Flow) -> Flow:
        return self.create_subshell()._walk_children(node, given)

    def _define_function(self, node: Node, _given: Flow) -> Flow:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return EMPTY
        called = syntax.node_text(name)
        self.functions[called] = body
        if syntax.is_fork_bomb(called, body):
            self.fork_bombs.add(called)
        return EMPTY

    def _walk_for(self, node: Node, given: Flow) -> Flow:
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        written = [child for child in node.named_children if child not in (name, body)]
        values = [field for child in written for field in words.expand_word(child, self)]
        out = []
        for value in values[:MAX_ITERATIONS] or [self.get_variable("@")]:
            self.assign(syntax.node_text(name) if name else "", value)
            out.append(self.walk(body, given) if body else EMPTY)
        return concatenate(out)

    def _walk_while(self, node: Node, given: Flow) -> Flow:
        """Once, or once for every line that is read."""
        lines = given.text.splitlines()[:MAX_ITERATIONS] or [given.text]
        return concatenate(self._walk_children(node, Flow(line, given.sources)) for line in lines)

    def _walk_case(self, node: Node, given: Flow) -> Flow:
        return concatenate(self.walk(child, given) for child in node.named_children if child.type in STATEMENT_HANDLERS)

    def _walk_test(self, node: Node, given: Flow) -> Flow:
        if node.has_error and (rest := syntax.text_after_test(syntax.node_text(node))):
            return self.run(rest, given)
        return self._walk_children(node, given)

    def _walk_assignment(self, node: Node, _given: Flow) -> Flow:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return EMPTY
        kept, self._expansion_sources = self._expansion_sources, []
        if value is not None and value.type == "array":
            self._assign_array(syntax.node_text(name), value)
        else:
            new = words.expand_to_text(value, self)
            if any(child.type == "+=" for child in node.children):
                new = self.get_variable(syntax.node_text(name)) + new
            self.assign(syntax.node_text(name), new)
        self._expansion_sources = kept
        return EMPTY

    def _assign_array(self, name: str, node: Node) -> None:
        values = [unmark(field) for child in node.named_children for field in words.expand_word(child, self)]
        for number, value in enumerate(values):
            self.assign(f"{name}[{number}]", value)
        self.assign(name, values[0] if values else "")
        for whole in ("@", "*"):
            self.assign(f"{name}[{whole}]", SPLIT.join(values))

    def _walk_unset(self, node: Node, _given: Flow) -> Flow:
        for child in node.named_children:
            self.variables[syntax.node_text(child)] = ""
        return EMPTY

    # --- commands ---

    def _walk_command(self, node: Node, given: Flow) -> Flow:
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        assignments = [child for child in node.children if child.type == "variable_assignment"]
        written = [child for child in node.named_children if child not in redirects and child not in assignments]
        kept = dict(self.variables)
        for assignment in assignments:
            self._walk_assignment(assignment, EMPTY)
        given = self._redirect_input(redirects, given)
        outer, self._expansion_sources = self._expansion_sources, []
        if len(written) > MAX_WORDS:
            self.findings.traits[Trait.UNREADABLE_SCRIPT] = None
        arguments = [field for child in written[:MAX_WORDS] for field in words.expand_word(child, self)]
        fed, self._expansion_sources = tuple(self._expansion_sources), outer
        out = self.execute(arguments, given, fed)
        if written and assignments:
            self.variables = {
                **self.variables,
                **{name: kept[name] for name in kept if name in _assigned_names(assignments)},
            }
        return self._redirect_output(redirects, out)

    def _walk_redirected(self, node: Node, given: Flow) -> Flow:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.named_children if child != body]
        nested = [part for child in redirects if child.type == "heredoc_redirect" for part in child.named_children]
        redirects += [part for part in nested if part.type.endswith("_redirect")]
        given = self._redirect_input(redirects, given)
        out = self._redirect_output(redirects, self.walk(body, given) if body is not None else EMPTY)
        for part in nested:
            if part.type == "pipeline":
                out = self._walk_pipeline(part, out)
            elif part.type in STATEMENT_HANDLERS and not part.type.endswith("_redirect"):
                out = concatenate([out, self.walk(part, EMPTY)])
        return out

    def _redirect_input(self, redirects: Sequence[Node], given: Flow) -> Flow:
        for node in redirects:
            if node.type == "heredoc_redirect":
                given = Flow(self._heredoc_text(node))
            elif node.type == "herestring_redirect":
                given = Flow(words.expand_to_text(node.named_children[-1], self) + "\n")
            elif syntax.node_text(node).lstrip("0123456789").startswith("<") and node.named_children:
                kept, self._expansion_sources = self._expansion_sources, []
                name = words.expand_to_text(node.named_children[-1], self)
                by, self._expansion_sources = tuple(self._expansion_sources), kept
                self.record_use(name, Use.READ, "redirect")
                text, _ = self.read_content(name)
                given = Flow(UNKNOWN if text is None else text, by)
        return given

    def _heredoc_text(self, node: Node) -> str:
        body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
        start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
        if body is None:
            return ""
        if start is not None and any(quote in syntax.node_text(start) for quote in "'\"\\"):
            return syntax.node_text(body)
        return words.expand_heredoc(body, self)

    def _redirect_output(self, redirects: Sequence[Node], out: Flow) -> Flow:
        for node in redirects:
            sign = syntax.node_text(node).lstrip("0123456789")
            if node.type != "file_redirect" or (sign.startswith("<") and not sign.startswith("<>")):
                continue
            target = node.child_by_field_name("destination")
            if target is None or target.type == "number" or syntax.node_text(target).isdigit():
                continue
            if target.type == "process_substitution":
                self.create_subshell()._walk_children(target, out)
                continue
            name = words.expand_to_text(target, self)
            self.record_use(name, Use.WRITE, "redirect")
            errors = syntax.node_text(node).startswith("2")
            if not errors:
                path = self.resolve_path(name)
                before = self.written_files.get(path, "") if ">>" in sign else ""
                self.written_files[path] = before + out.text
                out = Flow("", out.sources)
        return out

    def execute(self, arguments: list[str], given: Flow, fed: tuple[str, ...] = ()) -> Flow:
        """Run a program: note it, and follow it where it runs others."""
        while arguments and unmark(arguments[0]) in (
            "",
            "{",
            "!",
        ):  # the grammar takes `! { rm x; }` for a program called {
            arguments = arguments[1:]
        if not arguments or not self.findings.try_count_command():
            return EMPTY
        path = first_glob_match(arguments[0], self.directory)
        name = path.rstrip("/").rpartition("/")[2]
        if name in self.functions and name == path:
            return self._call_function(name, arguments[1:], given)
        if name in self.aliases and name == path:
            text = self.aliases.pop(name)
            return self.run(f"{text} {' '.join(quote(argument) for argument in arguments[1:])}", given)
        if UNKNOWN in name:
            self.findings.traits[Trait.UNKNOWN_PROGRAM] = None
        ambient = self.inherited_sources if any(UNKNOWN in argument for argument in arguments) else ()
        came_from = tuple(dict.fromkeys((*fed, *given.sources, *ambient)))
        self.findings.programs.append(Program(name, tuple(map(unmark, arguments[1:])), came_from))
        out = self.handlers.get(name, self.default_handler)(self, path, arguments[1:], given)
        return Flow(out.text, tuple(dict.fromkeys((name, *came_from, *out.sources))))

    def _call_function(self, name: str, arguments: list[str], given: Flow) -> Flow:
        if name in self.fork_bombs:
            self.findings.traits[Trait.FORK_BOMB] = None
            return EMPTY
        if self.depth >= MAX_DEPTH:
            return EMPTY
        kept = self.set_positional(arguments)
        self.depth += 1
        out = self.walk(self.functions[name], given)
        self.depth -= 1
        self.variables.update(kept)
        return out

    def set_positional(self, arguments: Sequence[str]) -> dict[str, str]:
        """Set `$1`, `$2`, …; those that were set before come back."""
        new = {str(number): value for number, value in enumerate(arguments, 1)}
        new |= {"@": SPLIT.join(arguments), "*": " ".join(arguments), "#": str(len(arguments))}
        kept = {name: self.variables.get(name, UNKNOWN) for name in new}
        self.variables.update(new)
        return kept


def _assigned_names(assignments: Sequence[Node]) -> set[str]:
    found = (node.child_by_field_name("name") for node in assignments)
    return {syntax.node_text(node) for node in found if node is not None}


STATEMENT_HANDLERS: dict[str, Callable[[Shell, Node, Flow], Flow]] = {
    "program": Shell._walk_children,
    "command": Shell._walk_command,
    "redirected_statement": Shell._walk_redirected,
    "pipeline": Shell._walk_pipeline,
    "list": Shell._walk_children,
    "subshell": Shell._walk_subshell,
    "compound_statement": Shell._walk_children,
    "negated_command": Shell._walk_children,
    "if_statement": Shell._walk_children,
    "elif_clause": Shell._walk_children,
    "else_clause": Shell._walk_children,
    "while_statement": Shell._walk_while,
    "for_statement": Shell._walk_for,
    "c_style_for_statement": Shell._walk_children,
    "do_group": Shell._walk_children,
    "test_command": Shell._walk_test,
    "case_statement": Shell._walk_case,
    "case_item": Shell._walk_case,
    "function_definition": Shell._define_function,
    "variable_assignment": Shell._walk_assignment,
    "variable_assignments": Shell._walk_children,
    "declaration_command": Shell._walk_children,
    "unset_command": Shell._walk_unset,
    "comment": Shell._skip,
    "file_redirect": Shell._skip,
    "heredoc_redirect": Shell._skip,
    "herestring_redirect": Shell._skip,
}
"""How each kind of statement is gone through; of what is not listed, the parts are."""
