"""The permissions that the client suggests, in words."""

import json
from typing import Any

import pytest

from claude_headspace.clients.claude_code.suggestions import grant_options, selected_updates

MAKE = {"toolName": "Bash", "ruleContent": "make:*"}
DOCS = {"toolName": "WebFetch"}
ALLOW: dict[str, Any] = {"type": "addRules", "behavior": "allow", "rules": [MAKE], "destination": "localSettings"}


def words(**update: Any) -> list[tuple[str, str, str]]:
    """What a suggestion says."""
    return [(each.kind, each.words, each.destination) for each in grant_options(json.dumps([update]))]


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        (ALLOW, [("rule", "Allow Bash(make:*)", "this project, for you")]),
        ({**ALLOW, "destination": "projectSettings"}, [("rule", "Allow Bash(make:*)", "this project, for everyone")]),
        (
            {**ALLOW, "rules": [MAKE, DOCS], "destination": "userSettings"},
            [("rule", "Allow Bash(make:*)", "all your projects"), ("rule", "Allow WebFetch", "all your projects")],
        ),
        ({**ALLOW, "behavior": "deny"}, [("rule", "Always deny Bash(make:*)", "this project, for you")]),
        (
            {**ALLOW, "type": "replaceRules", "rules": [MAKE, DOCS]},
            [("rule", "Allow only Bash(make:*), WebFetch", "this project, for you")],
        ),
        (
            {"type": "addDirectories", "directories": ["/a", "/b"], "destination": "session"},
            [("directory", "Allow access to /a", "this session"), ("directory", "Allow access to /b", "this session")],
        ),
        (
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
            [("mode", "Switch this session to acceptEdits", "this session")],
        ),
        (
            {"type": "setMode", "mode": "plan", "destination": "userSettings"},
            [("mode", "Start sessions in mode plan", "all your projects")],
        ),
    ],
)
def test_each_permission_is_one_suggestion(update: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    """With what it permits, and where it is stored."""
    assert words(**update) == expected


@pytest.mark.parametrize(
    "update",
    [
        {"type": "somethingNew", "destination": "session"},
        {**ALLOW, "destination": "elsewhere"},
        {**ALLOW, "behavior": "maybe"},
        {**ALLOW, "rules": [{"toolName": 3}]},
        {**ALLOW, "rules": "all"},
        {**ALLOW, "rules": [{"toolName": "Bash", "ruleContent": "curl -H [redacted]"}]},
        {**ALLOW, "rules": [{"toolName": "Bash", "ruleContent": "a … [12 bytes left out] … b"}]},
        {"type": "addDirectories", "directories": [], "destination": "session"},
        {"type": "setMode", "destination": "session"},
    ],
)
def test_what_cannot_be_described_is_not_offered(update: dict[str, Any]) -> None:
    """Nor what was changed when it was stored."""
    assert words(**update) == []


@pytest.mark.parametrize("stored", ["", "no json", "{}", "[1]"])
def test_malformed_suggestions_are_left_out(stored: str) -> None:
    """They are data of another program."""
    assert grant_options(stored) == ()
    assert selected_updates(stored, ["rule-1"]) == []


def test_an_id_stands_for_its_content() -> None:
    """The same permission has the same id, another one has another id."""
    [first] = grant_options(json.dumps([ALLOW]))
    again = grant_options(json.dumps([{**ALLOW, "rules": [DOCS, MAKE]}]))
    assert first.id in [each.id for each in again]
    assert len({each.id for each in again}) == 2
