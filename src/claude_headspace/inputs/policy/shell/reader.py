"""Walks the syntax tree in the order in which bash would, and remembers what bash would know by then."""

from collections.abc import Callable, Sequence

from tree_sitter import Node

from claude_headspace.inputs.policy.paths import absolute, looked_up, script_text, uses
from claude_headspace.inputs.policy.shell import syntax, words
from claude_headspace.inputs.policy.shell.findings import DEEPEST, MOST_WORDS, Findings
from claude_headspace.inputs.policy.shell.flow import EMPTY, Flow, joined
from claude_headspace.inputs.policy.shell.markers import SPLIT, plain, quoted, without_markers
from claude_headspace.kernel.policy.call import UNKNOWN, Program, Trait, Use

MOST_ROUNDS = 20
"""Rounds of a loop that are looked at."""


Run = Callable[["Shell", str, list[str], Flow], Flow]
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
        commands: dict[str, Run],
        ordinary: Run,
    ) -> None:
        self.findings = findings
        self.directory = directory
        self.home = home
        self.project = project
        self.commands = commands
        self.ordinary = ordinary
        self.variables = {"HOME": home, "PWD": directory, "IFS": " \t\n", "TMPDIR": "/tmp", "?": "0"}  # noqa: S108
        self.origins: dict[str, tuple[str, ...]] = {}
        self.functions: dict[str, Node] = {}
        self.bombs: set[str] = set()
        self.aliases: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.depth = 0
        self.ambient: tuple[str, ...] = ()
        """Programs that what is unknown in the text itself comes from: `sh -c "kill $(lsof …)"`."""
        self._sources: list[str] = []

    # --- texts ---

    def run(self, text: str, given: Flow = EMPTY) -> Flow:
        """Read a text as commands of this very shell."""
        if self.depth >= DEEPEST:
            self.findings.traits[Trait.UNREADABLE_SCRIPT] = None
            return Flow(UNKNOWN)
        self.depth += 1
        root = syntax.parse(text)
        out = self.walk(root, given)
        if root.has_error:
            self._run_pieces(text, given)
        self.depth -= 1
        return out

    def _run_pieces(self, text: str, given: Flow) -> None:
        """What can be read of a text that cannot be read as a whole."""
        self.findings.traits[Trait.UNREADABLE_SYNTAX] = None
        for piece in syntax.pieces(text):
            root = syntax.parse(piece)
            if piece.strip() and not root.has_error:
                self.walk(root, given)

    def child(self, findings: Findings | None = None) -> "Shell":
        """A shell within this one: it knows the same, and what it changes stays in it; files are everybody's."""
        child = Shell(
            findings or self.findings,
            directory=self.directory,
            home=self.home,
            project=self.project,
            commands=self.commands,
            ordinary=self.ordinary,
        )
        child.variables, child.origins = dict(self.variables), dict(self.origins)
        child.functions, child.aliases, child.bombs = dict(self.functions), dict(self.aliases), set(self.bombs)
        child.files, child.links, child.depth = self.files, self.links, self.depth
        child.ambient = self.ambient
        return child

    # --- what words need (words.World) ---

    def variable(self, name: str) -> str:
        """A variable's value; unknown if it comes from elsewhere."""
        if name == "PWD":
            return self.directory
        self._sources += self.origins.get(name, ())
        return self.variables.get(name, UNKNOWN)

    def assign(self, name: str, value: str) -> None:
        """A variable has this value from here on."""
        self.variables[name] = value
        self.origins[name] = tuple(self._sources)

    def substituted(self, node: Node) -> str:
        """What the commands in `$( )` print."""
        kept, self._sources = self._sources, []
        out = self._within(node)
        self._sources = [*kept, *out.by]
        return out.text

    def _within(self, node: Node) -> Flow:
        """What the commands of a substitution print; they have a shell of their own."""
        child = self.child()
        child.depth += 1
        if child.depth > DEEPEST:
            self.findings.traits[Trait.UNREADABLE_SCRIPT] = None
            return Flow(UNKNOWN)
        return child._sequence(node, EMPTY)

    def substituted_file(self, node: Node) -> str:
        """The file that `<( )` stands for."""
        out = self._within(node)
        name = f"/dev/fd/{63 + len(self.files)}"
        self.files[name] = out.text
        self._sources += out.by
        return name

    # --- files ---

    def touch(self, field: str, use: Use, by: str, *, recursive: bool = False) -> None:
        """Note what happens to the file or files that an argument names."""
        found = uses(field, self.directory, use, by=by, recursive=recursive, links=self.links)
        self.findings.paths += found

    def place(self, field: str) -> str:
        """The path that an argument names."""
        return absolute(plain(field), self.directory)

    def content(self, field: str) -> tuple[str | None, bool]:
        """A file's text, and whether these commands wrote it themselves."""
        path = self.place(field)
        if path in self.files:
            return self.files[path], True
        return (without_markers(text) if (text := script_text(path)) is not None else None), False

    # --- statements ---

    def walk(self, node: Node, given: Flow = EMPTY) -> Flow:
        """Go through a statement; what it prints comes out."""
        statement = STATEMENTS.get(node.type)
        if statement is not None:
            return statement(self, node, given)
        if node.type in words.READERS:
            words.fields(node, self)
            return EMPTY
        return self._sequence(node, given)

    def _sequence(self, node: Node, given: Flow) -> Flow:
        out = [self.walk(child, given) for child in node.named_children]
        return joined(out)

    def _nothing(self, _node: Node, _given: Flow) -> Flow:
        return EMPTY

    def _pipeline(self, node: Node, given: Flow) -> Flow:
        for child in node.named_children:
            out = self.child().walk(child, given)
            given = Flow(out.text, (*given.by, *out.by))
        return given

    def _subshell(self, node: Node, given: Flow) -> Flow:
        return self.child()._sequence(node, given)

    def _function(self, node: Node, _given: Flow) -> Flow:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return EMPTY
        called = syntax.source(name)
        self.functions[called] = body
        if syntax.is_fork_bomb(called, body):
            self.bombs.add(called)
        return EMPTY

    def _for(self, node: Node, given: Flow) -> Flow:
        name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        written = [child for child in node.named_children if child not in (name, body)]
        values = [field for child in written for field in words.fields(child, self)]
        out = []
        for value in values[:MOST_ROUNDS] or [self.variable("@")]:
            self.assign(syntax.source(name) if name else "", value)
            out.append(self.walk(body, given) if body else EMPTY)
        return joined(out)

    def _while(self, node: Node, given: Flow) -> Flow:
        """Once, or once for every line that is read."""
        lines = given.text.splitlines()[:MOST_ROUNDS] or [given.text]
        return joined(self._sequence(node, Flow(line, given.by)) for line in lines)

    def _case(self, node: Node, given: Flow) -> Flow:
        return joined(self.walk(child, given) for child in node.named_children if child.type in STATEMENTS)

    def _test(self, node: Node, given: Flow) -> Flow:
        if node.has_error and (rest := syntax.after_test(syntax.source(node))):
            return self.run(rest, given)
        return self._sequence(node, given)

    def _assignment(self, node: Node, _given: Flow) -> Flow:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return EMPTY
        kept, self._sources = self._sources, []
        if value is not None and value.type == "array":
            self._assign_array(syntax.source(name), value)
        else:
            new = words.text_of(value, self)
            if any(child.type == "+=" for child in node.children):
                new = self.variable(syntax.source(name)) + new
            self.assign(syntax.source(name), new)
        self._sources = kept
        return EMPTY

    def _assign_array(self, name: str, node: Node) -> None:
        values = [plain(field) for child in node.named_children for field in words.fields(child, self)]
        for number, value in enumerate(values):
            self.assign(f"{name}[{number}]", value)
        self.assign(name, values[0] if values else "")
        for whole in ("@", "*"):
            self.assign(f"{name}[{whole}]", SPLIT.join(values))

    def _unset(self, node: Node, _given: Flow) -> Flow:
        for child in node.named_children:
            self.variables[syntax.source(child)] = ""
        return EMPTY

    # --- commands ---

    def _command(self, node: Node, given: Flow) -> Flow:
        redirects = [child for child in node.children if child.type.endswith("_redirect")]
        assignments = [child for child in node.children if child.type == "variable_assignment"]
        written = [child for child in node.named_children if child not in redirects and child not in assignments]
        kept = dict(self.variables)
        for assignment in assignments:
            self._assignment(assignment, EMPTY)
        given = self._stdin(redirects, given)
        outer, self._sources = self._sources, []
        if len(written) > MOST_WORDS:
            self.findings.traits[Trait.UNREADABLE_SCRIPT] = None
        arguments = [field for child in written[:MOST_WORDS] for field in words.fields(child, self)]
        fed, self._sources = tuple(self._sources), outer
        out = self.execute(arguments, given, fed)
        if written and assignments:
            self.variables = {**self.variables, **{name: kept[name] for name in kept if name in _names(assignments)}}
        return self._stdout(redirects, out)

    def _redirected(self, node: Node, given: Flow) -> Flow:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.named_children if child != body]
        nested = [part for child in redirects if child.type == "heredoc_redirect" for part in child.named_children]
        redirects += [part for part in nested if part.type.endswith("_redirect")]
        given = self._stdin(redirects, given)
        out = self._stdout(redirects, self.walk(body, given) if body is not None else EMPTY)
        for part in nested:
            if part.type == "pipeline":
                out = self._pipeline(part, out)
            elif part.type in STATEMENTS and not part.type.endswith("_redirect"):
                out = joined([out, self.walk(part, EMPTY)])
        return out

    def _stdin(self, redirects: Sequence[Node], given: Flow) -> Flow:
        for node in redirects:
            if node.type == "heredoc_redirect":
                given = Flow(self._heredoc(node))
            elif node.type == "herestring_redirect":
                given = Flow(words.text_of(node.named_children[-1], self) + "\n")
            elif syntax.source(node).lstrip("0123456789").startswith("<") and node.named_children:
                kept, self._sources = self._sources, []
                name = words.text_of(node.named_children[-1], self)
                by, self._sources = tuple(self._sources), kept
                self.touch(name, Use.READ, "redirect")
                text, _ = self.content(name)
                given = Flow(UNKNOWN if text is None else text, by)
        return given

    def _heredoc(self, node: Node) -> str:
        body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
        start = next((child for child in node.named_children if child.type == "heredoc_start"), None)
        if body is None:
            return ""
        if start is not None and any(quote in syntax.source(start) for quote in "'\"\\"):
            return syntax.source(body)
        return words.filled(body, self)

    def _stdout(self, redirects: Sequence[Node], out: Flow) -> Flow:
        for node in redirects:
            sign = syntax.source(node).lstrip("0123456789")
            if node.type != "file_redirect" or (sign.startswith("<") and not sign.startswith("<>")):
                continue
            target = node.child_by_field_name("destination")
            if target is None or target.type == "number" or syntax.source(target).isdigit():
                continue
            if target.type == "process_substitution":
                self.child()._sequence(target, out)
                continue
            name = words.text_of(target, self)
            self.touch(name, Use.WRITE, "redirect")
            errors = syntax.source(node).startswith("2")
            if not errors:
                path = self.place(name)
                before = self.files.get(path, "") if ">>" in sign else ""
                self.files[path] = before + out.text
                out = Flow("", out.by)
        return out

    def execute(self, arguments: list[str], given: Flow, fed: tuple[str, ...] = ()) -> Flow:
        """Run a program: note it, and follow it where it runs others."""
        while arguments and plain(arguments[0]) in (
            "",
            "{",
            "!",
        ):  # the grammar takes `! { rm x; }` for a program called {
            arguments = arguments[1:]
        if not arguments or not self.findings.spend():
            return EMPTY
        path = looked_up(arguments[0], self.directory)
        name = path.rstrip("/").rpartition("/")[2]
        if name in self.functions and name == path:
            return self._called(name, arguments[1:], given)
        if name in self.aliases and name == path:
            text = self.aliases.pop(name)
            return self.run(f"{text} {' '.join(quoted(argument) for argument in arguments[1:])}", given)
        if UNKNOWN in name:
            self.findings.traits[Trait.UNKNOWN_PROGRAM] = None
        ambient = self.ambient if any(UNKNOWN in argument for argument in arguments) else ()
        came_from = tuple(dict.fromkeys((*fed, *given.by, *ambient)))
        self.findings.programs.append(Program(name, tuple(map(plain, arguments[1:])), came_from))
        out = self.commands.get(name, self.ordinary)(self, path, arguments[1:], given)
        return Flow(out.text, tuple(dict.fromkeys((name, *came_from, *out.by))))

    def _called(self, name: str, arguments: list[str], given: Flow) -> Flow:
        if name in self.bombs:
            self.findings.traits[Trait.FORK_BOMB] = None
            return EMPTY
        if self.depth >= DEEPEST:
            return EMPTY
        kept = self.positional(arguments)
        self.depth += 1
        out = self.walk(self.functions[name], given)
        self.depth -= 1
        self.variables.update(kept)
        return out

    def positional(self, arguments: Sequence[str]) -> dict[str, str]:
        """Set `$1`, `$2`, …; those that were set before come back."""
        new = {str(number): value for number, value in enumerate(arguments, 1)}
        new |= {"@": SPLIT.join(arguments), "*": " ".join(arguments), "#": str(len(arguments))}
        kept = {name: self.variables.get(name, UNKNOWN) for name in new}
        self.variables.update(new)
        return kept


def _names(assignments: Sequence[Node]) -> set[str]:
    found = (node.child_by_field_name("name") for node in assignments)
    return {syntax.source(node) for node in found if node is not None}


STATEMENTS: dict[str, Callable[[Shell, Node, Flow], Flow]] = {
    "program": Shell._sequence,
    "command": Shell._command,
    "redirected_statement": Shell._redirected,
    "pipeline": Shell._pipeline,
    "list": Shell._sequence,
    "subshell": Shell._subshell,
    "compound_statement": Shell._sequence,
    "negated_command": Shell._sequence,
    "if_statement": Shell._sequence,
    "elif_clause": Shell._sequence,
    "else_clause": Shell._sequence,
    "while_statement": Shell._while,
    "for_statement": Shell._for,
    "c_style_for_statement": Shell._sequence,
    "do_group": Shell._sequence,
    "test_command": Shell._test,
    "case_statement": Shell._case,
    "case_item": Shell._case,
    "function_definition": Shell._function,
    "variable_assignment": Shell._assignment,
    "variable_assignments": Shell._sequence,
    "declaration_command": Shell._sequence,
    "unset_command": Shell._unset,
    "comment": Shell._nothing,
    "file_redirect": Shell._nothing,
    "heredoc_redirect": Shell._nothing,
    "herestring_redirect": Shell._nothing,
}
"""How each kind of statement is gone through; of what is not listed, the parts are."""
