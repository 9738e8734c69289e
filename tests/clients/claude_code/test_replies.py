"""Replies to hooks, in the client's JSON."""

import json
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.claude_code.replies import answer_reply, verdict_reply
from claude_headspace.clients.claude_code.suggestions import grant_options
from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.kernel.wait.request import Option, Question
from claude_headspace.testing import hook

COLOUR = Question("Which colour?", "Colour", (Option("Red"), Option("Blue")))
SIZES = Question("Which sizes?", "Sizes", (Option("S"), Option("L")), several=True)
RULES = '[{"type":"setMode","mode":"acceptEdits","destination":"session"}]'
INPUT = {"questions": [{"question": "Which colour?"}, {"question": "Which sizes?"}]}


def wait(kind: str, **known: Any) -> Wait:
    """A wait of a kind."""
    return Wait(id="w1", agent_id="a1", kind=kind, text="?", opened_at=1, **known)


def reply(answer: Answer, about: Wait, tool_input: object = None, event: str = "PermissionRequest") -> dict[str, Any]:
    """The reply to a held hook."""
    asked = decode(hook(event, session_id="s1", tool_name="Bash", tool_input=tool_input))
    output: dict[str, Any] = msgspec.json.decode(answer_reply(asked, about, answer))["hookSpecificOutput"]
    assert output.pop("hookEventName") == event
    return output


def test_a_permission_is_allowed_and_denied() -> None:
    """Allow, deny with a message, and allow with another input."""
    about = wait("permission", suggestions=RULES)
    assert reply(Answer(decision="allow"), about) == {"decision": {"behavior": "allow"}}
    assert reply(Answer(decision="deny", message="not that"), about) == {
        "decision": {"behavior": "deny", "message": "not that"}
    }
    assert reply(Answer(decision="allow", input={"command": "ls"}), about) == {
        "decision": {"behavior": "allow", "updatedInput": {"command": "ls"}}
    }


def test_only_selected_permissions_are_granted() -> None:
    """One of two rules of one suggestion, and not the mode. A bare "always" grants nothing."""
    rules = [{"toolName": "Bash", "ruleContent": "make:*"}, {"toolName": "Bash", "ruleContent": "git push:*"}]
    suggested = {"type": "addRules", "rules": rules, "behavior": "allow", "destination": "localSettings"}
    about = wait("permission", suggestions=json.dumps([suggested, *json.loads(RULES)]))
    chosen = next(each.id for each in grant_options(about.suggestions) if each.words == "Allow Bash(make:*)")
    assert reply(Answer(decision="allow", grant=(chosen,)), about) == {
        "decision": {"behavior": "allow", "updatedPermissions": [{**suggested, "rules": rules[:1]}]}
    }
    assert reply(Answer(decision="allow", always=True), about) == {"decision": {"behavior": "allow"}}


def test_answers_are_added_to_the_questions_input() -> None:
    """By the text of the question, several labels joined with commas, as the client stores them."""
    about = wait("question", questions=(COLOUR, SIZES))
    output = reply(Answer(answers={"Colour": "Red", "Which sizes?": ["S", "L"]}), about, INPUT)
    answers = {"Which colour?": "Red", "Which sizes?": "S, L"}
    assert output == {"decision": {"behavior": "allow", "updatedInput": {**INPUT, "answers": answers}}}


def test_a_form_is_filled_in_or_declined() -> None:
    """An elicitation has an action, and content if it is accepted."""
    about = wait("elicitation")
    assert reply(Answer(action="accept", content={"a": 1}), about, event="Elicitation") == {
        "action": "accept",
        "content": {"a": 1},
    }
    assert reply(Answer(action="cancel"), about, event="Elicitation") == {"action": "cancel"}


@pytest.mark.parametrize("tool_input", [None, 3, "text", []])
def test_any_input_is_accepted(tool_input: object) -> None:
    """The reply is built whatever the payload contains."""
    about = wait("question", questions=(COLOUR,))
    output = reply(Answer(answers={"Colour": "Red"}), about, tool_input)
    assert output["decision"]["updatedInput"] == {"answers": {"Which colour?": "Red"}}


def test_an_approved_plan_gets_its_input_back_without_its_text() -> None:
    """Newer clients close the dialog of a plan only with an input. The stored plan may be cut, so it is left out."""
    given = {"plan": "# Long", "planFilePath": "/plans/a.md"}
    assert reply(Answer(decision="allow"), wait("plan"), given) == {
        "decision": {"behavior": "allow", "updatedInput": {"planFilePath": "/plans/a.md"}}
    }
    assert reply(Answer(decision="deny", message="shorter"), wait("plan"), given) == {
        "decision": {"behavior": "deny", "message": "shorter"}
    }


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "SessionStart", "UserPromptSubmit", "Unknown"])
def test_an_abstention_has_no_reply(event: str) -> None:
    """Not even an empty object, because the output of a hook may reach the model."""
    assert verdict_reply(event, ABSTAIN) == b""


@pytest.mark.parametrize("ruling", [Ruling.ALLOW, Ruling.ASK, Ruling.DENY])
def test_a_ruling_before_a_call(ruling: Ruling) -> None:
    """The reply has the decision and its reason."""
    said = json.loads(verdict_reply("PreToolUse", Verdict(ruling, "no-sudo", "sudo is not wanted here")))
    assert said == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": ruling.value,
            "permissionDecisionReason": "sudo is not wanted here",
        }
    }


def test_a_ruling_on_a_permission() -> None:
    """A rule without a reason is named."""
    assert json.loads(verdict_reply("PermissionRequest", Verdict(Ruling.ALLOW)))["hookSpecificOutput"]["decision"] == {
        "behavior": "allow"
    }
    refused = json.loads(verdict_reply("PermissionRequest", Verdict(Ruling.DENY, "no-sudo")))
    assert refused["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "Headspace: no-sudo"}


@pytest.mark.parametrize(("event", "ruling"), [("PermissionRequest", Ruling.ASK), ("Stop", Ruling.DENY)])
def test_rulings_that_a_hook_cannot_express(event: str, ruling: Ruling) -> None:
    """They are left to the client."""
    assert verdict_reply(event, Verdict(ruling, "rule", "reason")) == b""
