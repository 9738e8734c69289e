"""Foreign JSON, read with tolerance, and what every decoder makes of calls and texts.

`decode` reads hooks and the registry with it, `transcript` reads lines. Total: what does not fit is left out, and said.
"""

import hashlib
import re
from typing import TypeVar

import msgspec

from claude_headspace.kernel import facts, wire
from claude_headspace.kernel.wait_request import Ask, Option, Question

ASKING_TOOLS = {"AskUserQuestion": "question", "ExitPlanMode": "plan", "EnterPlanMode": "plan"}
"""The tools that are themselves a question to the human, and what they wait for."""

SUMMARY_LIMIT = 300
LONGEST_NAME = 500

_SUMMARY_FIELDS = (
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "skill",
    "subject",
    "description",
    "prompt",
    "path",
)
NOTIFICATION = "<task-notification>"
_TASK_ID = re.compile(r"<task-id>([^<]{1,200})</task-id>")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape in a JSON text: a whole pair of surrogates, half of one (the group), or any other."""

_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeError)

_T = TypeVar("_T")
_Name = TypeVar("_Name", bound=str | None)
_Shape = TypeVar("_Shape", bound=msgspec.Struct)


def tolerant(payload: bytes | msgspec.Raw, shape: type[_Shape]) -> tuple[_Shape, str | None]:
    """Read a payload into a shape; leave out what does not fit and say so."""
    try:
        return msgspec.json.decode(payload, type=shape), None
    except _UNREADABLE:
        return _salvaged(bytes(payload), shape)


def _salvaged(payload: bytes, shape: type[_Shape]) -> tuple[_Shape, str]:
    """Keep the fields that fit, be it after mending."""
    members = None
    if payload.lstrip()[:1] == b"{":
        members = _read(payload, dict[str, msgspec.Raw]) or _read(_mended(payload), dict[str, msgspec.Raw])
    if members is None:
        return shape(), "payload is not a JSON object"
    kept: dict[str, object] = {}
    dropped: list[str] = []
    for field in msgspec.structs.fields(shape):
        if field.encode_name in members:
            member = b'{"%s":%s}' % (field.encode_name.encode(), bytes(members[field.encode_name]))
            fitting = _read(member, shape) or _read(_mended(member), shape)
            if fitting is None:
                dropped.append(field.encode_name)
            else:
                kept[field.name] = getattr(fitting, field.name)
    return shape(**kept), f"unexpected type of {', '.join(sorted(dropped))}" if dropped else "text is not Unicode"


def _read(payload: bytes, shape: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(payload, type=shape)
    except _UNREADABLE:
        return None


def _mended(payload: bytes) -> bytes:
    """Replace what is no text: half an emoji (a cut in JavaScript leaves one) or bytes that are not UTF-8."""
    whole = _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], payload)
    return whole.decode("utf-8", "replace").encode()


# --- calls and texts --------------------------------------------------------------------------------------------------


def digest(raw: msgspec.Raw) -> str:
    """Tell inputs apart: the dialog of a call repeats its input but not its id."""
    return hashlib.blake2b(bytes(raw), digest_size=8).hexdigest()


def one_line(text: str, limit: int = SUMMARY_LIMIT) -> str:
    """Fold white space and cut at a word's end."""
    folded = " ".join(text[: limit * 4].split())
    if len(folded) <= limit:
        return folded
    return folded[: limit - 1].rsplit(" ", 1)[0] + "…"


def short(text: _Name) -> _Name:
    """An id or a name that an agent carries, if there is one: it has no business to be long."""
    if text is None or len(text) <= LONGEST_NAME:
        return text
    return f"{text[: LONGEST_NAME - 1]}…"  # type: ignore[return-value]  # a str like the one that came


def summary_of(tool_input: wire.WireToolInput) -> str:
    """What people recognise a call by."""
    found = next((value for name in _SUMMARY_FIELDS if (value := getattr(tool_input, name))), "")
    return one_line(found)


def ask_of(tool: str, tool_input: wire.WireToolInput) -> Ask | None:
    """What a tool asks the human, with the ways to answer."""
    kind = ASKING_TOOLS.get(tool)
    if kind is None:
        return None
    questions = tuple(
        Question(
            question.question,
            question.header,
            tuple(Option(option.label, option.description) for option in question.options),
            question.multi_select,
        )
        for question in tool_input.questions
    )
    text = "\n".join(question.text for question in questions) or tool_input.plan or ""
    return Ask(kind, text, questions)


def tool_started(call_id: str | None, tool: str, tool_input: msgspec.Raw) -> facts.ToolStarted:
    """A call; without an id it is known by its tool and input."""
    body = tolerant(tool_input, wire.WireToolInput)[0]
    mark, tool = digest(tool_input), short(tool)
    return facts.ToolStarted(short(call_id or f"{tool}:{mark}"), tool, mark, summary_of(body), ask_of(tool, body))


def answer_of(answers: dict[str, object]) -> str:
    """What the human answered, in one text."""
    return "\n".join(f"{question} {answer}" for question, answer in answers.items() if isinstance(answer, str))


def task_that_came_back(text: str) -> str | None:
    """The background work that a prompt brings back, if nobody typed it."""
    if not text.lstrip().startswith(NOTIFICATION):
        return None
    found = _TASK_ID.search(text)
    return found.group(1) if found else ""
