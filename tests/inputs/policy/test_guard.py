"""The guard keeps its rules up to date, and its own failures neither block the client nor stay hidden."""

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.config import Paths
from claude_headspace.inputs.policy.guard import NOT_ASKED, ONLY_REPORTED, PolicyGuard, asked_hooks
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations
from claude_headspace.kernel.policy.verdict import ABSTAIN, Verdict
from claude_headspace.ports import Received
from claude_headspace.testing import START, hook
from tests.kernel.story import new_agent


def call(command: object = "rm -rf /", at: int = START, root: str | None = None) -> Envelope:
    """Return the hook of a shell command."""
    context = Observations(project_root=root)
    return hook("PreToolUse", at, observations=context, tool_name="Bash", tool_input={"command": command})


def judge(guard: PolicyGuard, envelope: Envelope, *, expects_reply: bool = True) -> Verdict:
    """Prepare and judge a call."""
    asyncio.run(guard.prepare(Received(envelope, decode(envelope)), expects_reply=expects_reply))
    return guard.judge(envelope, new_agent())


@pytest.fixture
def guard(paths: Paths, home: Path) -> PolicyGuard:
    """A guard with the built-in rules."""
    return PolicyGuard(paths, "guard", home)


def test_prepared_call_is_judged_once(guard: PolicyGuard) -> None:
    """The second verdict is `abstain`, and so is that on a call that was not prepared."""
    envelope = call()
    found = judge(guard, envelope)
    assert (found.ruling, found.rule, found.enforced) == ("deny", "system-delete", True)
    assert guard.judge(envelope, new_agent()) is ABSTAIN
    assert guard.judge(call(), new_agent()) is ABSTAIN


def test_original_payload_is_judged(guard: PolicyGuard) -> None:
    """A command that is truncated before it is stored is judged completely."""
    stored, original = call("echo …"), call(f"echo {'x' * 25_000}; rm -rf /; echo {'x' * 25_000}").payload
    assert judge(guard, stored) is ABSTAIN
    assert judge(guard, msgspec.structs.replace(call("echo …"), original_payload=original)).rule == "system-delete"


def test_repeated_call_has_the_same_verdict(guard: PolicyGuard) -> None:
    """Every time. A call with the same texts in other fields is another call."""
    assert [judge(guard, call()).rule for _ in range(3)] == ["system-delete"] * 3
    swapped = {"command": "echo", "description": "sudo ls"}, {"command": "sudo ls", "description": "echo"}
    found = [judge(guard, hook("PreToolUse", tool_name="Bash", tool_input=each)) for each in swapped]
    assert [verdict.rule for verdict in found] == [None, "become-root"]


def test_repeated_call_sees_changed_files(guard: PolicyGuard, tmp_path: Path) -> None:
    """A script is read again, whatever the last verdict was."""
    script = tmp_path / "script.sh"
    for content, rule in (("ls", None), ("rm -rf /", "system-delete"), ("ls", None)):
        script.write_text(content)
        assert judge(guard, call(f"sh {script}")).rule == rule


def test_other_events_are_not_judged(guard: PolicyGuard) -> None:
    """Only the hook before a tool call is judged."""
    assert judge(guard, hook("PostToolUse", tool_name="Bash", tool_input={"command": "rm -rf /"})) is ABSTAIN
    assert not guard.lapses


def test_hooks_that_wait() -> None:
    """Hooks wait only with presets that enforce verdicts."""
    asking = (
        "PreToolUse",
        "codex.PreToolUse",
        "copilot.PreToolUse",
        "copilot.preToolUse",
        "gemini.BeforeTool",
        "opencode.tool.execute.before",
    )
    assert {preset: asked_hooks(preset) for preset in ("guard", "strict", "watch", "off")} == {
        "guard": asking,
        "strict": asking,
        "watch": (),
        "off": (),
    }


@pytest.mark.parametrize(("client", "ruling"), [("copilot", "ask"), ("codex", "deny")])
def test_a_client_that_cannot_ask_denies(guard: PolicyGuard, client: str, ruling: str) -> None:
    """The recorded verdict is the one that takes effect, and its reason says how to allow the call."""
    verdict = judge(guard, msgspec.structs.replace(call("sudo ls"), client=client))
    assert verdict.ruling == ruling
    assert ("allow it with a rule in policy.toml" in (verdict.reason or "")) is (ruling == "deny")


def test_call_without_a_waiting_hook_is_a_lapse(guard: PolicyGuard) -> None:
    """It is judged for the record. Calls close in time count as one lapse."""
    for second in (0, 5, 30):
        found = judge(guard, call(at=START + second * SECOND), expects_reply=False)
        assert (found.ruling, found.enforced, found.lapse) == ("deny", False, NOT_ASKED)
    judge(guard, call("ls", START + 3_600 * SECOND), expects_reply=False)
    assert [(lapse.calls, lapse.until - lapse.since) for lapse in guard.lapses] == [(3, 30 * SECOND), (1, 0)]
    assert "guard off for 4 tool calls;" in guard.health()[2]


def test_a_hook_that_only_reports_is_the_reason_of_its_lapse(guard: PolicyGuard) -> None:
    """The daemon was not asked, although it ran."""
    envelope = msgspec.structs.replace(call(), observations=Observations(only_reports=True))
    found = judge(guard, envelope, expects_reply=False)
    assert (found.ruling, found.enforced, found.lapse) == ("deny", False, ONLY_REPORTED)


def test_preset_watch_has_no_lapses(paths: Paths, home: Path) -> None:
    """No hook waits with this preset, so no verdict comes too late."""
    found = judge(PolicyGuard(paths, "watch", home), call(), expects_reply=False)
    assert (found.ruling, found.enforced, found.lapse) == ("deny", False, None)


@pytest.mark.parametrize("payload", [b'{"tool_name": 7}', b'{"tool_input": "text"}', b"{}"])
def test_payload_without_a_tool_does_not_block_the_client(guard: PolicyGuard, payload: bytes) -> None:
    """The guard abstains and records a lapse."""
    envelope = call()
    found = judge(guard, msgspec.structs.replace(envelope, payload=payload))
    assert (found.ruling, found.enforced) == ("abstain", False)
    assert found.lapse == "the hook names no tool"
    assert guard.lapses[0].calls == 1


def test_a_call_of_another_client_without_a_tool_is_described(guard: PolicyGuard) -> None:
    """An object in place of its name is no internal error."""
    payload = b'{"session_id": "s", "tool_name": {"a": 1}, "tool_input": {}}'
    envelope = msgspec.structs.replace(call(), client="gemini", name="BeforeTool", payload=payload)
    assert judge(guard, envelope).lapse == "the hook names no tool"


@pytest.mark.parametrize("payload", [b"[]", b"nonsense", b'{"tool_name": "Bash", "tool_input": "text"}'])
def test_unreadable_call_is_asked_about(guard: PolicyGuard, payload: bytes) -> None:
    """A tool call that cannot be read is not let through."""
    found = judge(guard, msgspec.structs.replace(call(), payload=payload))
    assert (found.ruling, found.rule, found.enforced) == ("ask", "not-analysed", True)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 5_000])
def test_huge_numbers_do_not_disable_the_guard(guard: PolicyGuard, number: str) -> None:
    """Neither beside the command nor in it."""
    payload = f'{{"tool_name": "Bash", "tool_input": {{"command": "rm -rf /", "n": [{number}]}}}}'.encode()
    assert judge(guard, msgspec.structs.replace(call(), payload=payload)).rule == "system-delete"
    assert judge(guard, call(f"x=abc; echo ${{x:{number}}} $(({number})); rm -rf /")).rule == "system-delete"


@pytest.mark.parametrize(
    "text",
    [
        "for a in {1..9}; do " * 9 + "echo $a;" + " done;" * 9 + "rm -rf ~",
        "x=ab;" + "x=$x$x;" * 40 + "rm -rf ~",
        "echo a;" * 30_000 + "rm -rf ~",
        "${" * 20_000,
    ],
    ids=["nested loops", "doubled variable", "many commands", "slow to parse"],
)
def test_excessive_command_is_asked_about(guard: PolicyGuard, text: str) -> None:
    """The guard judges the next command as usual."""
    assert (found := judge(guard, call(text))).ruling == "ask"
    assert found.enforced
    assert judge(guard, call()).rule == "system-delete"
    guard.close()


def test_analysis_times_out(paths: Paths, home: Path) -> None:
    """A hanging file system, simulated by a timeout of 0: the user is asked, and `/health` reports it."""
    guard = PolicyGuard(paths, "guard", home, timeout_seconds=0)
    found = judge(guard, call())
    assert (found.ruling, found.rule, found.enforced) == ("ask", "not-analysed", True)
    assert "the tool call was not analysed in time" in str(found.reason)
    assert "1 tool call could not be analysed" in guard.health()[2]


def test_failed_analysis_is_only_recorded_by_the_preset_watch(paths: Paths, home: Path) -> None:
    """No hook waits, and nothing is enforced."""
    found = judge(PolicyGuard(paths, "watch", home, timeout_seconds=0), call(), expects_reply=False)
    assert (found.ruling, found.enforced) == ("ask", False)


def test_changed_rules_are_loaded_if_valid(paths: Paths, home: Path) -> None:
    """The last valid rules stay in force while the file is invalid."""
    guard = PolicyGuard(paths, "guard", home, refresh_seconds=0)
    paths.policy_file.write_text('[[rule]]\nid = "x"\noutcome = "deny"\ncommands = ["deploy"]\n')
    assert judge(guard, call("deploy")).rule == "x"
    paths.policy_file.write_text("nonsense")
    assert judge(guard, call("deploy")).rule == "x"
    assert guard.health()[1] is not None
    paths.policy_file.unlink()
    assert judge(guard, call("deploy")) is ABSTAIN
    assert guard.health()[1] is None


def test_a_broken_file_is_reported_without_a_tool_call(paths: Paths, home: Path) -> None:
    """Requirement: a broken `policy.toml` is reported immediately, and so is its correction."""
    guard = PolicyGuard(paths, "guard", home, refresh_seconds=0)
    for text, is_broken in (("nonsense", True), ("", False)):
        paths.policy_file.write_text(text)
        assert (guard.health()[1] is not None) is is_broken


def test_invalid_rules_at_start_leave_the_built_in_ones(paths: Paths, home: Path) -> None:
    """An invalid file does not disable the guard."""
    paths.policy_file.write_text("nonsense")
    guard = PolicyGuard(paths, "guard", home)
    assert judge(guard, call()).rule == "system-delete"
    assert guard.health()[1] is not None


def test_project_rules_apply_in_the_project(guard: PolicyGuard, home: Path) -> None:
    """They do not apply elsewhere. An invalid file keeps the last valid rules."""
    rules = home / "app/.headspace/policy.toml"
    rules.parent.mkdir()
    rules.write_text('[[rule]]\nid = "y"\noutcome = "deny"\ncommands = ["deploy"]\n')
    inside = str(home / "app")
    assert judge(guard, call("deploy", root=inside)).rule == "project-y"
    assert judge(guard, call("deploy", root=str(home))) is ABSTAIN
    rules.write_text('[[rule]]\nid = "yy"\noutcome = "deny"\ncommands = ["deploy"]\n')
    assert judge(guard, call("deploy", root=inside)).rule == "project-yy"
    rules.write_text('[[rule]]\nid = "z"\noutcome = "allow"\ncommands = ["rm"]\n')
    os.utime(rules, ns=(1, 1))
    assert judge(guard, call("deploy", root=inside)).rule == "project-yy"
    assert guard.health()[1] is not None
