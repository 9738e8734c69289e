"""Views of a wait: on the board, and with the complete request."""

import html
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec

from claude_headspace.kernel.agent import Answered, Wait
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.hidden_characters import HiddenCharacter, find_controls, find_hidden
from claude_headspace.kernel.text import Time, iso, optional_iso, strings_in
from claude_headspace.kernel.views.fields import View, view_of
from claude_headspace.kernel.wait.answers import UNCONFIRMED
from claude_headspace.kernel.wait.grants import WARNINGS, Grant, GrantOption, lifetime_of
from claude_headspace.kernel.wait.request import Field, Question


class GrantOptionView(msgspec.Struct, frozen=True):
    """A permission that can be granted together with an answer."""

    id: str
    """Derived from its content, so an id never stands for another permission."""
    kind: str
    """`rule`, `mode` or `directory`."""
    words: str
    """What it permits."""
    destination: str
    lifetime: str
    """Where it is stored and how long it lasts, in words."""
    warning: str
    """Why it allows more than its words say; empty if it does not."""


class AnsweredView(msgspec.Struct, frozen=True):
    """An answer through Headspace: what, by whom, from where, when, and how long the wait was open."""

    words: str
    by: str
    via: str
    at: Time
    after_seconds: float
    grants: tuple[GrantOptionView, ...]
    """What it grants beyond this call."""
    problem: str
    """Why the client did not receive it; empty if it did or if that is unknown."""
    unconfirmed: bool
    """Whether the client did not confirm it and may still take it."""


class GrantView(msgspec.Struct, frozen=True):
    """A permission that the agent was granted through Headspace: what, where it is stored, by whom, when."""

    words: str
    kind: str
    """`rule`, `mode` or `directory`."""
    destination: str
    lifetime: str
    """Where it is stored and how long it lasts, in words."""
    by: str
    via: str
    at: Time


class WaitFields(msgspec.Struct, frozen=True, kw_only=True):
    """What every view of a wait has."""

    id: str
    agent_id: str
    kind: str
    text: str
    questions: tuple[Question, ...]
    form: tuple[Field, ...]
    """The fields of an MCP server's form."""
    tool: str | None
    summary: str
    subagent_id: str | None
    opened_at: Time
    held_until: Time | None
    """Until when it can be answered through Headspace; null: only in the terminal."""
    answered: AnsweredView | None
    """The answer given through Headspace. While the wait is open, the client has not applied it yet."""
    closed_at: Time | None
    resolution: str | None
    undelivered: AnsweredView | None
    """An answer given through Headspace that the client did not receive: answer again, here or in the terminal."""
    obstacle: str
    """Why it cannot be answered through Headspace, as a sentence; empty if it can, or if nothing is known."""


class WaitView(WaitFields, frozen=True, kw_only=True):
    """A wait: the agent needs a person."""

    suggestions: list[dict[str, Any]]
    """The permission rules that the client suggests, as the client sent them."""


class RequestView(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent requests, in full. Secrets are redacted."""

    text: str
    """The command, the plan, the question, the names of the edited files, or the arguments as lines."""
    diff: str = ""
    """The changes of the files as a unified diff; empty if the request edits no file."""
    arguments: dict[str, Any] = {}
    """The named arguments of the tool."""
    path: str = ""
    """The file that the call edits, as the call names it; several are separated by commas; empty if it edits none."""
    paths: tuple[str, ...] = ()
    """All files that the call edits, as the call names them."""
    complete: bool = True
    """False if something is left out."""
    left_out: int = 0
    """How many characters are left out of `text`, `diff` and `arguments`."""


class WaitDetailsView(WaitFields, frozen=True, kw_only=True):
    """A wait with the complete request."""

    request: RequestView
    hidden_characters: tuple[HiddenCharacter, ...]
    """Hidden characters in `request.text`; those in other parts and entities in a plan have position -1. In paths and
    names, line feeds and tabs are hidden characters, too.
    """
    suggestions: tuple[GrantOptionView, ...]
    """What can be granted together with the answer. A change of the mode is last: it allows more than this request."""


def wait_view(wait: Wait) -> WaitView:
    """A wait with its options."""
    return _wait_view(WaitView, wait, suggestions=_suggestions(wait.suggestions))


def wait_details_view(wait: Wait, request: RequestView, options: Sequence[GrantOption]) -> WaitDetailsView:
    """A wait with the complete request."""
    choices = strings_in(msgspec.json.decode(msgspec.json.encode((wait.questions, wait.form))))
    formatted = (html.unescape(request.text),) if wait.kind == "plan" else ()
    hidden = find_hidden_in_request(request, *formatted, *choices, names=(wait.tool or "", *_labels(wait)))
    suggestions = _option_views(sorted(options, key=lambda option: option.kind == "mode"))
    return _wait_view(WaitDetailsView, wait, request=request, hidden_characters=hidden, suggestions=suggestions)


def find_hidden_in_request(
    request: RequestView, *options: str, names: Sequence[str] = ()
) -> tuple[HiddenCharacter, ...]:
    """The hidden characters of the text, then each kind that is only in other parts, the options or names, once."""
    found = find_hidden(request.text)
    known = {each.code for each in found}
    parts = (request.diff, *_texts(request.arguments), *options)
    others = {each.code: each for part in parts for each in find_hidden(part)}
    others |= {
        each.code: each
        for name in (*(request.paths or (request.path,)), *request.arguments, *names)
        for each in find_controls(name)
    }
    return (*found, *(msgspec.structs.replace(each, at=-1) for code, each in others.items() if code not in known))


def _labels(wait: Wait) -> Iterator[str]:
    return (option.label for question in wait.questions for option in question.options)


def _texts(arguments: dict[str, Any]) -> Iterator[str]:
    return chain(arguments, strings_in(arguments))


def _wait_view(kind: type[View], wait: Wait, **computed: object) -> View:
    return view_of(
        kind,
        wait,
        opened_at=iso(wait.opened_at),
        held_until=optional_iso(wait.held_until or None),
        answered=_answered(wait, wait.answered),
        undelivered=_answered(wait, wait.undelivered),
        closed_at=optional_iso(wait.closed_at),
        **computed,
    )


def _answered(wait: Wait, done: Answered | None) -> AnsweredView | None:
    if done is None:
        return None
    after = round((done.at - wait.opened_at) / SECOND, 3)
    unconfirmed = done.problem.startswith(UNCONFIRMED)
    grants = _option_views(done.grants)
    return AnsweredView(done.words, done.by, done.via, iso(done.at), after, grants, done.problem, unconfirmed)


def grant_view(grant: Grant) -> GrantView:
    """A permission that the agent was granted."""
    return view_of(GrantView, grant, lifetime=lifetime_of(grant.destination), at=iso(grant.at))


def _option_views(options: Sequence[GrantOption]) -> tuple[GrantOptionView, ...]:
    return tuple(
        view_of(GrantOptionView, each, lifetime=lifetime_of(each.destination), warning=WARNINGS.get(each.kind, ""))
        for each in options
    )


def _suggestions(stored: str) -> list[dict[str, object]]:
    """The client's suggestions; empty if they cannot be decoded."""
    try:
        return msgspec.json.decode(stored, type=list[dict[str, object]]) if stored else []
    except (msgspec.DecodeError, RecursionError):
        return []
