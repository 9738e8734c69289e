"""Replies to opencode's plugin, what can be granted, and what calls change."""

import json
from typing import Any

import msgspec

from claude_headspace.clients.changes import file_edits
from claude_headspace.clients.opencode import replies
from claude_headspace.clients.opencode.tools import tool_use
from claude_headspace.clients.requests import grant_options, requested_edits
from claude_headspace.clients.tools import summarize_input
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.policy.verdict import Ruling, Verdict
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.kernel.wait.request import Option, Question
from tests.clients.opencode.test_decode import decoded, report

BEFORE = "tool.execute.before"


def test_a_denied_call_gets_the_reason() -> None:
    """Only before a tool runs, and only if the verdict is enforced."""
    deny = Verdict(Ruling.DENY, "no-rm", "Too dangerous.")
    assert json.loads(replies.verdict_reply(BEFORE, deny)) == {"deny": "Too dangerous."}
    assert replies.verdict_reply("chat.message", deny) == b""
    assert replies.verdict_reply(BEFORE, Verdict(Ruling.DENY, enforced=False)) == b""
    assert replies.verdict_reply(BEFORE, Verdict(Ruling.ALLOW)) == b""


def test_a_call_that_a_guard_asks_about_is_denied() -> None:
    """The client cannot be made to ask."""
    assert json.loads(replies.verdict_reply(BEFORE, Verdict(Ruling.ASK, reason="Uses sudo."))) == {"deny": "Uses sudo."}


def answered(hook: HookKind, answer: Answer, **wait: Any) -> Any:
    """The reply to an answered dialog."""
    name = "question.asked" if hook is HookKind.ELICITATION else "permission.asked"
    open_wait = Wait(id="w1", agent_id="a1", kind="permission", text="", opened_at=1, **wait)
    return json.loads(replies.answer_reply(decoded(name, report(event={})), open_wait, answer))["answer"]


def test_permissions_are_answered_as_in_the_terminal() -> None:
    """Once, always if something is granted, or rejected: with words the agent continues."""
    permission = HookKind.PERMISSION
    assert answered(permission, Answer(decision="allow")) == {"reply": "once"}
    assert answered(permission, Answer(decision="allow", grant=("rule-1",))) == {"reply": "always"}
    assert answered(permission, Answer(decision="deny")) == {"reply": "reject"}
    assert answered(permission, Answer(decision="deny", message="Use b.")) == {"reply": "reject", "message": "Use b."}


def test_questions_are_answered_in_their_order() -> None:
    """Each with its labels; a denied question is dismissed."""
    questions = (Question("Which colour?", options=(Option("Red"),)), Question("Which sizes?", several=True))
    given = Answer(answers={"Which sizes?": ["S", "L"], "Which colour?": "Red"})
    assert answered(HookKind.ELICITATION, given, questions=questions) == {"answers": [["Red"], ["S", "L"]]}
    assert answered(HookKind.ELICITATION, Answer(decision="deny"), questions=questions) == {"answers": None}


def test_always_says_what_it_grants() -> None:
    """All patterns of the dialog, as one permission."""
    asked = {"id": "per_1", "permission": "bash", "patterns": ["env"], "always": ["env *", "sort *"]}
    fact = decoded("permission.asked", report(event=asked)).fact
    [option] = grant_options("opencode", fact.suggestions)  # type: ignore[union-attr]  # a permission
    assert (option.kind, option.words) == ("rule", "Allow bash of env *, sort *")
    assert grant_options("opencode", "[broken") == grant_options("opencode", "") == ()


def test_the_edit_that_a_call_requests() -> None:
    """Of the tools that write one file."""
    [edit] = requested_edits(
        "opencode", tool_use("edit", {"filePath": "a.py", "oldString": "1", "newString": "2"}, "c1")
    )
    [write] = requested_edits("opencode", tool_use("write", {"filePath": "a.py", "content": "3"}, "c1"))
    assert edit.replacements[0].new == "2"
    assert write.content == "3"
    assert requested_edits("opencode", tool_use("bash", {"command": "ls"}, "c1")) == ()


def test_a_patch_is_shown_as_it_is() -> None:
    """Its text has no pair of old and new text, so all of it is shown."""
    patch = "*** Begin Patch\n*** Add File: a.py\n+1\n*** End Patch"
    assert requested_edits("opencode", tool_use("apply_patch", {"patchText": patch}, "c1")) == ()


def test_the_files_of_a_patch() -> None:
    """A patch names several files, and deletes some."""
    patch = "*** Begin Patch\n*** Add File: a.py\n+1\n*** Delete File: b.py\n*** End Patch"
    use = tool_use("apply_patch", {"patchText": patch}, "c1")
    assert [(each.path, each.use) for each in use.files] == [("a.py", Use.WRITE), ("b.py", Use.DELETE)]


def finished(tool: str, given: object, metadata: object) -> Envelope:
    """The report of a finished call."""
    payload = report(tool_name=tool, tool_input=given, tool_response={"metadata": metadata})
    return Envelope(
        id="e1",
        name="tool.execute.after",
        origin=Origin.HOOK,
        client="opencode",
        host="laptop",
        fired_at=1,
        received_at=1,
        payload=msgspec.json.encode(payload),
    )


def test_finished_calls_report_their_edits() -> None:
    """With the client's own diff, which has the line numbers."""
    diff = "Index: /app/x\n=====\n--- /app/x\n+++ /app/x\n@@ -7,2 +7,2 @@\n-one\n+uno\n two\n"
    given = {"filePath": "/app/x", "oldString": "one", "newString": "uno"}
    [edit] = file_edits(finished("edit", given, {"diff": diff}))
    assert (edit.path, edit.hunks[0].old_start, edit.hunks[0].lines) == ("/app/x", 7, ("-one", "+uno", " two"))
    [write] = file_edits(finished("write", {"filePath": "/app/y", "content": "one\n"}, {"exists": False}))
    assert (write.created, write.after) == (True, "one\n")
    assert file_edits(finished("bash", {"command": "ls"}, {})) == ()


def test_calls_are_summarised_by_what_people_recognise() -> None:
    """The command, the file, or the files of a patch."""
    patch = "*** Begin Patch\n*** Update File: a.py\n*** End Patch"
    inputs: tuple[object, ...] = (
        {"command": "ls"},
        {"filePath": "/app/x", "oldString": "1"},
        {"patchText": patch},
        {},
        None,
    )
    assert [summarize_input(given) for given in inputs] == ["ls", "/app/x", "a.py", "", ""]
