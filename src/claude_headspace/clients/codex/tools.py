"""The tools of Codex: the table of tools by name, and the decoding of a tool use. Pure and total.

Hooks name every shell call `Bash`. The rollout has the model's own names and arguments: `normalize_call` converts them,
so that both sources describe the same call.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from claude_headspace.clients.codex import wire
from claude_headspace.clients.codex.patches import ADD, DELETE, UPDATE, parse_patch
from claude_headspace.kernel import facts
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.text import one_line, short, strings_under
from claude_headspace.kernel.tolerant_json import fit, parse
from claude_headspace.kernel.tools import FileUse, Tool, ToolKind, ToolUse
from claude_headspace.kernel.wait.request import Ask, Option, Question

SHELL, PATCH, SPAWN, QUESTION = "Bash", "apply_patch", "spawn_agent", "request_user_input"

TOOLS: dict[str, Tool] = {
    SHELL: Tool(kind=ToolKind.SHELL, wants="run"),
    PATCH: Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", use=Use.WRITE),
    SPAWN: Tool(kind=ToolKind.SUBAGENT),
    QUESTION: Tool(kind=ToolKind.QUESTION, asks="question"),
    "send_input": Tool(kind=ToolKind.MESSAGE),
    "web_search": Tool(kind=ToolKind.WEB, doing="searching the web for", wants="search the web for"),
    "view_image": Tool(kind=ToolKind.READ, doing="reading", wants="read", file="path"),
}
"""The tools by name. A tool that is not in the table is of kind `mcp` if its name says so, else `other`."""

SHELL_NAMES = ("exec_command", "shell", "shell_command", "local_shell")
"""The model's names of the shell tool."""
NAMESPACES = ("collaboration", "multi_agent_v1")
"""Groups of tools. Hooks may put the name of the group directly before that of the tool."""
MCP_PREFIX = "mcp__"
MCP_TOOL, OTHER_TOOL = Tool(kind=ToolKind.MCP), Tool(kind=ToolKind.OTHER)

PATCH_USES = {ADD: Use.WRITE, UPDATE: Use.WRITE, DELETE: Use.DELETE}
MCP_USES: tuple[tuple[Use, tuple[str, ...]], ...] = (
    (Use.DELETE, ("delete", "remove", "unlink", "move", "rename")),
    (Use.WRITE, ("write", "edit", "create", "append", "save", "patch", "update", "copy")),
)
"""What a file tool of an MCP server does, by the words in its name. Others read."""
MCP_PATHS = ("path", "file_path", "filepath", "file", "source", "destination", "target", "paths", "directory")

REASON = "description"
"""A permission repeats the input of its call with the reason in this field."""


def find_tool(name: str) -> Tool:
    """Look a tool up by its name."""
    return TOOLS.get(plain_name(name)) or (MCP_TOOL if name.startswith(MCP_PREFIX) else OTHER_TOOL)


def plain_name(name: str) -> str:
    """The name of a tool without its group."""
    return next((name.removeprefix(group) for group in NAMESPACES if name.startswith(group)), name)


def tool_use(name: str, tool_input: Any, call_id: str | None, result: object = None) -> ToolUse:
    """Describe a tool use."""
    tool, given = find_tool(name), fit(tool_input, wire.WireToolInput)[0]
    files = tuple(_files(name, tool, given, tool_input))
    return ToolUse(
        name=name,
        kind=tool.kind,
        id=call_id,
        input=tool_input,
        result=result,
        command=given.command or "" if tool.kind is ToolKind.SHELL else "",
        path=files[0].path if files and tool.kind in (ToolKind.EDIT, ToolKind.READ) else None,
        files=files,
        ask=_ask(given) if tool.kind is ToolKind.QUESTION else None,
    )


def normalize_call(name: str, namespace: str, arguments: Any) -> tuple[str, Any]:
    """The name and the input of a call as hooks have them, from those of the model."""
    is_json = isinstance(arguments, str) and name != PATCH
    given = parse(arguments.encode("utf-8", "replace"))[0] if is_json else arguments
    if name in SHELL_NAMES and isinstance(given, dict):
        return SHELL, {"command": _command_line(given.get("cmd", given.get("command")))}
    if name == PATCH:
        return name, {"command": arguments} if isinstance(arguments, str) else arguments
    if namespace.startswith(MCP_PREFIX):
        return f"{namespace.rstrip('_')}__{name}", given
    return name, given


def _command_line(command: object) -> str:
    """A command line. The older shell tool has a list of words, which ends in the script of a shell."""
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        return words[-1] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return command if isinstance(command, str) else ""


def digest(tool_input: object) -> str:
    """Identify an input: the dialog of a call repeats its input, but not its id.

    The dialog adds its reason, and leaves out the line break at the end of a patch.
    """
    given = tool_input.items() if isinstance(tool_input, dict) else ()
    same = {name: value.strip() if isinstance(value, str) else value for name, value in given if name != REASON}
    try:
        text = msgspec.json.encode(same or tool_input, order="deterministic")
    except (ValueError, RecursionError, OverflowError):
        text = repr(tool_input).encode("utf-8", "replace")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def summary_of(use: ToolUse) -> str:
    """What people recognise a call by, in one line."""
    given = fit(use.input, wire.WireToolInput)[0]
    if use.name == PATCH:
        return one_line(", ".join(dict.fromkeys(file.path for file in use.files)))
    return one_line(given.command or given.message or given.query or given.path or given.url or "")


def tool_started(use: ToolUse) -> facts.ToolStarted:
    """A call begins; without an id it is identified by its tool and input."""
    name, mark = short(use.name), digest(use.input)
    return facts.ToolStarted(short(use.id or f"{name}:{mark}"), name, mark, summary_of(use), use.ask)


def result_of(response: object) -> wire.WireResult:
    """The fields of a result, which is a text with JSON in it."""
    value = parse(response.encode("utf-8", "replace"))[0] if isinstance(response, str) else response
    return fit(value, wire.WireResult)[0]


def answer_of(result: wire.WireResult) -> str:
    """What the user answered to the questions of a call, in one text."""
    return "\n".join(", ".join(each.answers) for each in result.answers.values())


def _ask(given: wire.WireToolInput) -> Ask:
    questions = tuple(
        Question(
            each.question,
            each.header,
            tuple(Option(option.label, option.description) for option in each.options or ()),
        )
        for each in given.questions
    )
    return Ask("question", "\n".join(question.text for question in questions), questions)


def _files(name: str, tool: Tool, given: wire.WireToolInput, tool_input: Any) -> Iterator[FileUse]:
    if name == PATCH:
        for section in parse_patch(given.command or ""):
            yield FileUse(section.path, Use.DELETE if section.moved_to else PATCH_USES[section.action])
            if section.moved_to:
                yield FileUse(section.moved_to, Use.WRITE)
    elif tool.file and given.path:
        yield FileUse(given.path, tool.use)
    elif tool.kind is ToolKind.MCP and isinstance(tool_input, dict):
        verb = name.rpartition("__")[2].lower()
        use = next((use for use, words in MCP_USES if any(word in verb for word in words)), Use.READ)
        paths = strings_under(tool_input, MCP_PATHS)
        yield from (FileUse(path, use) for path in paths if path.startswith(("/", "~", ".")) or "/" in path)
