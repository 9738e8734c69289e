"""Questions of opencode, and the answers to them, as facts. Pure."""

from collections.abc import Sequence

from claude_headspace.clients.opencode import tools, wire
from claude_headspace.kernel.facts import DialogClosed, PermissionAsked
from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.wait.request import Ask, Option, Question

ANSWERED = "answered"


def questions_asked(
    questions: Sequence[wire.WireQuestion], request_id: str, *, tool: str = "", call_id: str = "", digest: str = ""
) -> PermissionAsked:
    """The client shows questions."""
    asked = tuple(_question(each) for each in questions)
    text = "\n".join(question.text for question in asked)
    return PermissionAsked(
        short(tool or tools.QUESTION),
        digest,
        one_line(text),
        Ask("question", text, asked),
        call_id=short(call_id),
        request_id=short(request_id),
    )


def questions_answered(request_id: str, answers: Sequence[Sequence[str]]) -> DialogClosed:
    """A person answered the questions."""
    return DialogClosed(short(request_id), ANSWERED, "\n".join(", ".join(labels) for labels in answers))


def _question(asked: wire.WireQuestion) -> Question:
    options = tuple(Option(option.label, option.description) for option in asked.options)
    return Question(asked.question, asked.header, options, asked.multiple)
