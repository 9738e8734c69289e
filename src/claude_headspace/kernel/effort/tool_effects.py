"""What a tool call touches: the files, the command, the dialogue. Read from the envelope, the same at every replay."""

import re
from typing import Any

import msgspec

from claude_headspace.kernel import wire
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.reading import answer_of, tolerant

LOADS = ("Read", "NotebookRead")
"""The tools that bring a file into the context."""

_OWN = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+)*(?:\S*/)?headspace\s+(?P<rest>.*)", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\$`]|\\.)*\"", re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*(?P<quote>['\"])(?P<word>\w+)(?P=quote)[ \t]*\n.*\n(?P=word)\s*\Z", re.DOTALL)


class Touch(msgspec.Struct, frozen=True):
    """A call as an effort sees it."""

    tool: str
    path: str | None = None
    command: str = ""

    @property
    def loads(self) -> str | None:
        """The file that comes into the context."""
        return self.path if self.tool in LOADS else None

    @property
    def is_own(self) -> bool:
        """Whether it is a command of Headspace itself, and nothing else beside it."""
        return self.tool == "Bash" and own_command(self.command) is not None

    @property
    def is_log(self) -> bool:
        """Whether it writes the log."""
        return self.is_own and (own_command(self.command) or "").startswith("effort log")


class _WireCall(msgspec.Struct):
    tool_name: str = ""
    tool_input: msgspec.Raw = wire.RAW_NULL
    tool_response: msgspec.Raw = wire.RAW_NULL


def touch_of(envelope: Envelope) -> Touch:
    """What the call of a tool hook touches."""
    call = tolerant(envelope.payload, _WireCall)[0]
    body = tolerant(call.tool_input, wire.WireToolInput)[0]
    return Touch(call.tool_name, body.file_path or body.notebook_path or body.path, body.command or "")


def dialogue_of(envelope: Envelope) -> str | None:
    """A question that was put to the human, with its options and the answer."""
    call = tolerant(envelope.payload, _WireCall)[0]
    if call.tool_name != "AskUserQuestion":
        return None
    body = tolerant(call.tool_input, wire.WireToolInput)[0]
    response = tolerant(call.tool_response, wire.WireToolResponse)[0]
    asked = [_question(question) for question in body.questions]
    return "\n".join([*asked, f"Answer: {answer_of(response.answers or body.answers) or 'none'}"])


def _question(question: wire.WireQuestion) -> str:
    options = ", ".join(option.label for option in question.options)
    return f"Question: {question.question}" + (f" ({options})" if options else "")


def own_command(command: str) -> str | None:
    """The words after `headspace`, if the whole is one plain command of ours; a quoted text may hold anything."""
    found = _OWN.fullmatch(command.strip())
    if found is None:
        return None
    rest = found["rest"]
    plain = _QUOTED.sub("''", _HEREDOC.sub("", rest))
    return rest if not re.search(r"[;&|`\n<>]|\$\(", plain) else None


def string_fields(payload: bytes, *names: str) -> dict[str, str]:
    """Fields of a payload that are texts."""
    try:
        found: dict[str, Any] = msgspec.json.decode(payload, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return {}
    return {name: found[name] for name in names if isinstance(found.get(name), str)}
