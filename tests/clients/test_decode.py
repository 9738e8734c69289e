"""Decoding: every envelope gives an event. What does not fit is left out and reported as an anomaly."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.clients.claude_code import wire
from claude_headspace.clients.claude_code.decode import FACTS, FACTS_IN_SUBAGENT, TOOL_FACTS
from claude_headspace.clients.claude_code.hook_kinds import KINDS
from claude_headspace.clients.claude_code.tools import digest
from claude_headspace.clients.decode import decode
from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.envelope import Observations, Origin
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.text import one_line
from claude_headspace.kernel.wait.request import Ask, Option, Question
from tests.kernel.story import answered, envelope, plan, question, running, task_notification, time_at

HOOK_NAMES = """
SessionStart SessionEnd Setup InstructionsLoaded UserPromptSubmit UserPromptExpansion MessageDisplay PreToolUse
PermissionRequest PermissionDenied PostToolUse PostToolUseFailure PostToolBatch Notification SubagentStart SubagentStop
TaskCreated TaskCompleted Stop StopFailure PreCompact PostCompact PreModelSwitch PostModelSwitch ConfigChange CwdChanged
DirectoryAdded FileChanged WorktreeCreate WorktreeRemove TeammateIdle Elicitation ElicitationResult
""".split()


def decode_hook(name: str, **payload: object) -> Event:
    """Decode a hook."""
    return decode(envelope(name, 1, payload))


# --- the list of hooks ------------------------------------------------------------------------------------------------


def test_all_33_hooks_have_a_wire_type() -> None:
    """All hooks of Claude Code 2.1.325, and no others."""
    assert len(HOOK_NAMES) == 33
    assert set(wire.HOOKS) == set(HOOK_NAMES)


def test_the_tables_name_only_known_hooks() -> None:
    """A misspelt name in a table of the decoder would never be used."""
    assert set(FACTS) | set(TOOL_FACTS) | set(KINDS) <= set(HOOK_NAMES)
    assert set(FACTS_IN_SUBAGENT) <= set(FACTS)


@pytest.mark.parametrize("name", HOOK_NAMES)
def test_an_empty_payload_is_no_anomaly(name: str) -> None:
    """Every field of every hook may be missing."""
    event = decode(envelope(name, 1, b"{}"))
    assert (event.meta.name, event.meta.session_id, event.anomaly) == (name, "", None)


# --- what every event comes with --------------------------------------------------------------------------------------


def test_the_time_is_that_of_the_envelope() -> None:
    """A timestamp inside a payload is only data."""
    assert decode_hook("SessionStart", timestamp=1234567890).meta.at == time_at(1)


def test_both_spellings_of_the_directory_are_decoded() -> None:
    """`cwd` and `working_directory` mean the same; `cwd` comes first."""
    assert decode(envelope("Stop", 1, b'{"working_directory":"/a"}')).meta.cwd == "/a"
    assert decode(envelope("Stop", 1, b'{"working_directory":"/a","cwd":"/b"}')).meta.cwd == "/b"


def test_common_fields_are_decoded() -> None:
    """Session, prompt, mode and thread."""
    meta = decode_hook(
        "PreToolUse",
        transcript_path="/t.jsonl",
        prompt_id="p1",
        permission_mode="plan",
        agent_id="sub-1",
        agent_type="Explore",
    ).meta
    assert (meta.session_id, meta.transcript_path, meta.prompt_id) == ("session-1", "/t.jsonl", "p1")
    assert (meta.permission_mode, meta.subagent_id, meta.subagent_type) == ("plan", "sub-1", "Explore")


def test_the_event_has_the_observations_of_its_envelope() -> None:
    """Process, terminal and project."""
    context = Observations(client_pid=7, branch="main")
    assert decode(envelope("Stop", 1, {}, observations=context)).observations == context


# --- what hooks mean --------------------------------------------------------------------------------------------------


def test_a_question_has_its_options() -> None:
    """AskUserQuestion has texts, headers and options."""
    fact = decode_hook("PreToolUse", **question("call-1")).fact
    assert isinstance(fact, facts.ToolStarted)
    assert fact.ask == Ask(
        "question",
        "Which colour?",
        (Question("Which colour?", "Colour", (Option("Red", "warm"), Option("Blue", "cold")), several=False),),
    )


@pytest.mark.parametrize(("tool", "kind"), [("ExitPlanMode", "plan"), ("EnterPlanMode", "plan")])
def test_plan_modes_wait_for_a_plan(tool: str, kind: str) -> None:
    """Entering and leaving plan mode ask the user."""
    fact = decode_hook("PreToolUse", **(plan("call-1") | {"tool_name": tool})).fact
    assert isinstance(fact, facts.ToolStarted)
    assert fact.ask == Ask(kind, "1. Do it")


def test_other_tools_ask_nothing() -> None:
    """A shell command is not a question."""
    fact = decode_hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="call-1").fact
    assert isinstance(fact, facts.ToolStarted)
    assert (fact.call_id, fact.tool, fact.summary, fact.ask) == ("call-1", "Bash", "ls", None)


def test_a_dialog_has_the_digest_of_its_call() -> None:
    """PermissionRequest names no call: the same input gives the same digest as PreToolUse."""
    body = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    before, dialog = decode_hook("PreToolUse", **body).fact, decode_hook("PermissionRequest", **body).fact
    assert isinstance(before, facts.ToolStarted)
    assert isinstance(dialog, facts.PermissionAsked)
    assert before.digest == dialog.digest != digest({"command": "rm"})
    assert dialog.ask == Ask("permission", "Bash: ls")


def test_suggestions_of_a_dialog_are_kept_as_json() -> None:
    """Unchanged, as the client sent them."""
    fact = decode_hook("PermissionRequest", tool_name="Bash", permission_suggestions=[{"type": "setMode"}]).fact
    assert isinstance(fact, facts.PermissionAsked)
    assert fact.suggestions == '[{"type":"setMode"}]'


def test_the_end_of_a_question_has_the_answers() -> None:
    """The selected labels are decoded."""
    fact = decode_hook("PostToolUse", **answered("call-1")).fact
    assert isinstance(fact, facts.ToolFinished)
    assert (fact.call_id, fact.answer) == ("call-1", "Which colour? Red")


def test_background_work_is_recognised() -> None:
    """From the response: a shell that continues, and a sub-agent that was only launched."""
    shell = decode_hook("PostToolUse", tool_input={"command": "sleep 9"}, tool_response={"backgroundTaskId": "b1"}).fact
    sub = decode_hook("PostToolUse", tool_response={"status": "async_launched", "agentId": "a1"}).fact
    done = decode_hook("PostToolUse", tool_response={"status": "completed", "agentId": "a1"}).fact
    assert isinstance(shell, facts.ToolFinished)
    assert isinstance(sub, facts.ToolFinished)
    assert isinstance(done, facts.ToolFinished)
    assert shell.background_task == facts.Task(id="b1", kind="shell", description="sleep 9")
    assert (sub.background_subagent, done.background_subagent) == ("a1", None)


def test_a_task_notification_is_not_a_typed_prompt() -> None:
    """A prompt with the result of finished work names its task. Any other prompt was typed."""
    assert decode_hook("UserPromptSubmit", prompt=task_notification("b1")).fact == facts.PromptSubmitted(
        task_notification("b1"), "b1"
    )
    assert decode_hook("UserPromptSubmit", prompt="<task-notification>").fact == facts.PromptSubmitted(
        "<task-notification>", ""
    )
    assert decode_hook("UserPromptSubmit", prompt="What is <task-notification>?").fact == facts.PromptSubmitted(
        "What is <task-notification>?"
    )


def test_only_running_tasks_are_listed() -> None:
    """Finished entries in the list of a Stop do not count, and a missing list is not an empty one."""
    tasks = [*running("a1", "b1"), {"id": "b2", "type": "shell", "status": "completed"}]
    listed = decode_hook("Stop", last_assistant_message="Done.", background_tasks=tasks).fact
    assert isinstance(listed, facts.TurnStopped)
    assert [task.id for task in listed.background or ()] == ["a1", "b1"]
    assert decode_hook("Stop").fact == facts.TurnStopped(None, None)
    assert decode_hook("Stop", background_tasks=[]).fact == facts.TurnStopped(None, ())


@pytest.mark.parametrize(
    ("kind", "asks"),
    [
        ("permission_prompt", "permission"),
        ("agent_needs_input", "dialog"),
        ("elicitation_dialog", "elicitation"),
        ("idle_prompt", None),
        ("auth_success", None),
        ("something_new", None),
    ],
)
def test_notifications_imply_a_dialog_or_none(kind: str, asks: str | None) -> None:
    """Only some kinds of notifications report an open dialog."""
    fact = decode_hook("Notification", notification_type=kind, message="Hear me").fact
    assert fact == facts.AttentionRequested(kind, "Hear me", Ask(asks, "Hear me") if asks else None)


@pytest.mark.parametrize("kind", [None, ""])
def test_a_stop_without_a_type_is_no_subagent(kind: str | None) -> None:
    """Compaction and prompt suggestions fire such a SubagentStop."""
    assert decode_hook("SubagentStop", agent_id="a1", agent_type=kind).fact == facts.Observed()
    assert decode_hook("SubagentStop", agent_id="a1", agent_type="Explore").fact == facts.SubagentStopped()


@pytest.mark.parametrize("name", ["Stop", "StopFailure"])
def test_a_stop_of_a_subagent_ends_the_subagent(name: str) -> None:
    """Not the turn of the agent."""
    assert decode_hook(name, agent_id="a1", agent_type="Explore").fact == facts.SubagentStopped()


@pytest.mark.parametrize("name", ["SessionStart", "SessionEnd", "UserPromptSubmit", "PreCompact", "CwdChanged"])
def test_session_hooks_of_a_subagent_are_ignored(name: str) -> None:
    """Sessions, prompts and directories of a sub-agent are not those of the agent."""
    assert decode_hook(name, agent_id="a1", agent_type="Explore").fact == facts.Observed()


def test_registry_entries_are_decoded() -> None:
    """They report the status of the client and its dialog."""

    def entry(**fields: object) -> facts.Fact:
        body = msgspec.json.encode({"sessionId": "session-1", "pid": 7} | fields)
        return decode(envelope("Registry", 1, body, origin=Origin.REGISTRY)).fact

    assert entry(status="busy") == facts.ClientReported("busy")
    assert entry(status="waiting", waitingFor="input needed") == facts.ClientReported(
        "waiting", Ask("question", "input needed")
    )
    assert entry(status="waiting", waitingFor="new thing") == facts.ClientReported(
        "waiting", Ask("dialog", "new thing")
    )
    assert entry() == facts.ClientReported("")
    assert entry(entrypoint="sdk-cli") == facts.ClientReported("", headless=True)


def test_a_vanished_process_and_a_new_name() -> None:
    """Events of the process table and acts are decoded."""
    gone = decode(envelope("ClientVanished", 1, b"{}", origin=Origin.PROCESS, observations=Observations(client_pid=7)))
    named = decode(envelope("AgentRenamed", 1, b'{"name":"anna"}', origin=Origin.OPERATOR))
    odd = decode(envelope("Danced", 1, b"{}", origin=Origin.OPERATOR))
    assert gone.fact == facts.ClientVanished(7)
    assert named.fact == acts.AgentRenamed(name="anna")
    assert (odd.fact, odd.anomaly) == (facts.Observed(), "unknown act Danced")


def test_a_summary_is_one_short_line() -> None:
    """White space is folded, and long text is cut at the end of a word."""
    assert one_line(" a\n\n  b ") == "a b"
    assert one_line("word " * 100, 12) == "word word…"


# --- tolerance --------------------------------------------------------------------------------------------------------


def test_an_unknown_hook_is_an_anomaly() -> None:
    """It proves that the agent is alive."""
    event = decode_hook("BrainTransplant", surprise=1)
    assert (event.fact, event.anomaly) == (facts.Observed(), "unknown event BrainTransplant")
    assert event.meta.session_id == "session-1"


@pytest.mark.parametrize(
    "payload", [b"", b"nonsense", b"[]", b"null", b'"text"', b"{}{}", b'{"a"', b"\xff\xfe", b"[" * 9]
)
def test_a_payload_that_is_no_object_is_an_anomaly(payload: bytes) -> None:
    """It still gives an event."""
    event = decode(envelope("Stop", 1, payload))
    assert (event.fact, event.anomaly) == (facts.TurnStopped(), "payload is not a JSON object")


@pytest.mark.parametrize(
    ("name", "field"),
    [(name, field.encode_name) for name, shape in wire.HOOKS.items() for field in msgspec.structs.fields(shape)],
)
def test_a_field_of_the_wrong_type_is_left_out(name: str, field: str) -> None:
    """The rest of the payload is decoded."""
    wrong = [{"no": "such thing"}, 12.5]
    event = decode_hook(name, **{"session_id": "kept", "prompt_id": "p1", field: wrong})
    assert event.meta.session_id == ("" if field == "session_id" else "kept")
    assert event.meta.prompt_id == (None if field == "prompt_id" else "p1")
    unparsed = field in ("tool_input", "tool_response", "requested_schema")
    assert event.anomaly == (None if unparsed else f"unexpected type of {field}")


@pytest.mark.parametrize("depth", [900, 100_000])
def test_a_deeply_nested_payload_is_decoded(depth: int) -> None:
    """It gives an event."""
    deep = b"[" * depth + b"]" * depth
    payload = b'{"session_id":"session-1","tool_name":"Bash","tool_input":%s}' % deep
    assert isinstance(decode(envelope("PreToolUse", 1, payload)).fact, facts.ToolStarted)


def test_a_lone_surrogate_is_replaced() -> None:
    """The rest of the text is kept. An escaped backslash is not a surrogate."""
    event = decode(envelope("UserPromptSubmit", 1, rb'{"session_id":"s","prompt":"cut \ud83d, \\ud83d, \ud83d\ude00"}'))
    assert event.fact == facts.PromptSubmitted("cut \ufffd, \\ud83d, \U0001f600")
    assert (event.meta.session_id, event.anomaly) == ("s", "text is not Unicode")


def test_invalid_bytes_are_replaced() -> None:
    """Bytes that are not UTF-8."""
    event = decode(envelope("UserPromptSubmit", 1, b'{"session_id":"s","prompt":"caf\xe9"}'))
    assert (event.fact, event.meta.session_id) == (facts.PromptSubmitted("caf\ufffd"), "s")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
FIELDS = sorted({field.encode_name for shape in wire.HOOKS.values() for field in msgspec.structs.fields(shape)})
NAMES = st.sampled_from([*HOOK_NAMES, "BrainTransplant"])


@given(NAMES, st.dictionaries(st.sampled_from(FIELDS) | st.text(), ANYTHING, max_size=8), st.sampled_from(Origin))
def test_any_object_under_any_name_gives_an_event(name: str, payload: dict[str, object], origin: Origin) -> None:
    """Decoding never raises, and the event keeps its name and its time."""
    event = decode(envelope(name, 1, msgspec.json.encode(payload), origin=origin))
    assert (event.meta.name, event.meta.at) == (name, time_at(1))


@given(NAMES, st.binary(max_size=200), st.sampled_from(Origin))
def test_any_bytes_give_an_event(name: str, payload: bytes, origin: Origin) -> None:
    """Decoding never raises."""
    assert decode(envelope(name, 1, payload, origin=origin)).meta.name == name
