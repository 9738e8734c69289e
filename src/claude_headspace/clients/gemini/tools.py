"""The tools of Gemini CLI, and the decoding of a tool use. Pure and total.

Hooks have no ids of calls: a call is identified by its tool and the digest of its input.
"""

from collections.abc import Iterator

from claude_headspace.clients.claude_code.tools import digest
from claude_headspace.clients.gemini.wire import WireInput, WireQuestion
from claude_headspace.kernel import facts
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import FileUse, Tool, ToolKind, ToolUse
from claude_headspace.kernel.wait.request import Ask, Option, Question

SHELL = "run_shell_command"
WRITE = "write_file"
EDIT = "replace"
FETCH = "web_fetch"

TOOLS: dict[str, Tool] = {
    SHELL: Tool(kind=ToolKind.SHELL, doing="running", wants="run"),
    WRITE: Tool(kind=ToolKind.WRITE, doing="writing", wants="write", file="file_path", use=Use.WRITE),
    EDIT: Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", file="file_path", use=Use.WRITE),
    "read_file": Tool(kind=ToolKind.READ, doing="reading", wants="read", file="file_path"),
    "read_many_files": Tool(kind=ToolKind.READ, doing="reading", wants="read"),
    "list_directory": Tool(kind=ToolKind.SEARCH, doing="listing", file="dir_path"),
    "glob": Tool(kind=ToolKind.SEARCH, doing="looking for"),
    "grep_search": Tool(kind=ToolKind.SEARCH, doing="searching for", file="dir_path", names="include_pattern"),
    FETCH: Tool(kind=ToolKind.WEB, doing="fetching", wants="fetch"),
    "google_web_search": Tool(kind=ToolKind.WEB, doing="searching the web for", wants="search the web for"),
    "ask_user": Tool(kind=ToolKind.QUESTION, asks="question"),
    "enter_plan_mode": Tool(kind=ToolKind.PLAN, wants="plan first"),
    "exit_plan_mode": Tool(kind=ToolKind.PLAN, asks="plan"),
    "invoke_agent": Tool(kind=ToolKind.SUBAGENT),
}
"""The tools by name. An unknown tool has the kind `other`."""

MCP_PREFIX = "mcp_"
"""Tools of MCP servers are called `mcp_<server>_<tool>`."""
MCP_TOOL = Tool(kind=ToolKind.MCP)
OTHER_TOOL = Tool(kind=ToolKind.OTHER)

YES_OR_NO = (Option("Yes"), Option("No"))
"""The options of a question of the type `yesno`."""

SUMMARY_FIELDS = ("command", "file_path", "pattern", "url", "query", "dir_path", "path", "prompt", "agent_name")
"""The input fields that people recognise a call by; the first that is set counts."""


def find_tool(name: str) -> Tool:
    """Look a tool up by its name."""
    return TOOLS.get(name) or (MCP_TOOL if name.startswith(MCP_PREFIX) else OTHER_TOOL)


def tool_use(name: str, tool_input: object, result: object = None) -> ToolUse:
    """Describe a tool use."""
    tool, given = find_tool(name), fit(tool_input, WireInput)[0]
    return ToolUse(
        name=name,
        kind=tool.kind,
        input=tool_input,
        result=result,
        command=given.command if tool.kind is ToolKind.SHELL else "",
        path=given.file_path or given.dir_path or given.path or None,
        files=tuple(_files(tool, tool_input)),
        ask=_ask(tool.asks, given) if tool.asks else None,
    )


def summary_of(tool_input: object) -> str:
    """What people recognise a call by, in one line."""
    given = fit(tool_input, WireInput)[0]
    return one_line(next((value for name in SUMMARY_FIELDS if (value := getattr(given, name))), ""))


def call_id(name: str, tool_input: object) -> str:
    """What identifies a call."""
    return short(f"{short(name)}:{digest(tool_input)}")


def tool_started(use: ToolUse) -> facts.ToolStarted:
    """A call begins."""
    identity = call_id(use.name, use.input)
    return facts.ToolStarted(identity, short(use.name), digest(use.input), summary_of(use.input), use.ask)


def _ask(kind: str, given: WireInput) -> Ask:
    """What a tool asks the user, with the ways to answer."""
    questions = tuple(
        Question(
            each.question,
            each.header,
            YES_OR_NO if each.type == "yesno" else _options(each),
            each.several,
        )
        for each in given.questions
    )
    text = "\n".join(question.text for question in questions) or given.plan or given.plan_path
    return Ask(kind, text, questions)


def _options(question: WireQuestion) -> tuple[Option, ...]:
    return tuple(Option(option.label, option.description) for option in question.options)


def _files(tool: Tool, given: object) -> Iterator[FileUse]:
    if not tool.file or not isinstance(given, dict):
        return
    path = given.get(tool.file)
    if tool.names:
        names = given.get(tool.names)
        directory = path if isinstance(path, str) and path else "."
        yield FileUse(directory, tool.use, recursive=True, names=names if isinstance(names, str) else "")
    elif isinstance(path, str) and path:
        yield FileUse(path, tool.use)
