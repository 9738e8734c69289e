"""The guard of a daemon: current rules, and a failure of ours that is never felt and never hidden."""

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.config import Paths
from claude_headspace.inputs.policy.guard import NOT_ASKED, PolicyGuard, asked_hooks
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations
from claude_headspace.kernel.policy.verdict import ABSTAIN, Verdict
from claude_headspace.ports import Received
from claude_headspace.testing import START, hook
from tests.kernel.story import new_agent


def call(command: object = "rm -rf /", at: int = START, root: str | None = None) -> Envelope:
    """A call of Bash."""
    context = Observations(project_root=root)
    return hook("PreToolUse", at, observations=context, tool_name="Bash", tool_input={"command": command})


def verdict_on(guard: PolicyGuard, envelope: Envelope, *, asked: bool = True) -> Verdict:
    """What a guard says of a call."""
    asyncio.run(guard.prepare(Received(envelope, decode(envelope)), expects_reply=asked))
    return guard.judge(envelope, new_agent())


@pytest.fixture
def guard(places: Paths, home: Path) -> PolicyGuard:
    """A guard with the shipped rules."""
    return PolicyGuard(places, "guard", home)


def test_a_call_is_gathered_then_judged(guard: PolicyGuard) -> None:
    """Once: a second look finds nothing, and what was not gathered is not judged."""
    envelope = call()
    found = verdict_on(guard, envelope)
    assert (found.ruling, found.rule, found.enforced) == ("deny", "system-delete", True)
    assert guard.judge(envelope, new_agent()) is ABSTAIN
    assert guard.judge(call(), new_agent()) is ABSTAIN


def test_what_is_not_kept_is_judged_all_the_same(guard: PolicyGuard) -> None:
    """A long command is cut before it is stored; what stands in the part that was cut is still seen."""
    kept, whole = call("echo …"), call(f"echo {'x' * 100_000}; rm -rf /; echo {'x' * 100_000}").payload
    assert verdict_on(guard, kept) is ABSTAIN
    assert verdict_on(guard, msgspec.structs.replace(call("echo …"), original_payload=whole)).rule == "system-delete"


def test_other_events_are_not_looked_at(guard: PolicyGuard) -> None:
    """Only a call that is about to be made."""
    assert verdict_on(guard, hook("PostToolUse", tool_name="Bash", tool_input={"command": "rm -rf /"})) is ABSTAIN
    assert not guard.lapses


def test_who_is_asked_to_wait() -> None:
    """Hooks wait only where the answer matters."""
    assert {preset: asked_hooks(preset) for preset in ("guard", "strict", "watch", "off")} == {
        "guard": ("PreToolUse",),
        "strict": ("PreToolUse",),
        "watch": (),
        "off": (),
    }


def test_a_call_that_nobody_asked_about_is_a_lapse(guard: PolicyGuard) -> None:
    """It is judged for the record, and times close to each other are one."""
    for second in (0, 5, 30):
        found = verdict_on(guard, call(at=START + second * SECOND), asked=False)
        assert (found.ruling, found.enforced, found.lapse) == ("deny", False, NOT_ASKED)
    verdict_on(guard, call("ls", START + 3_600 * SECOND), asked=False)
    assert [(lapse.calls, lapse.until - lapse.since) for lapse in guard.lapses] == [(3, 30 * SECOND), (1, 0)]
    assert "guards were off from" in guard.health()[2]


def test_the_shadow_has_no_lapses(places: Paths, home: Path) -> None:
    """Nobody waits for it, so nothing is missed."""
    found = verdict_on(PolicyGuard(places, "watch", home), call(), asked=False)
    assert (found.ruling, found.enforced, found.lapse) == ("deny", False, None)


@pytest.mark.parametrize("payload", [b"[]", b'{"tool_name": 7}', b'{"tool_input": "text"}'])
def test_what_cannot_be_understood_leaves_the_client_alone(guard: PolicyGuard, payload: bytes) -> None:
    """A payload of another shape is a failure of ours: abstain, write down, tell."""
    envelope = call()
    found = verdict_on(guard, msgspec.structs.replace(envelope, payload=payload))
    assert (found.ruling, found.enforced) == ("abstain", False)
    assert found.lapse is not None
    assert guard.lapses[0].calls == 1


def test_a_look_that_takes_too_long_is_given_up(places: Paths, home: Path) -> None:
    """A file system that hangs makes no hook wait: no patience at all is the quickest way to see it."""
    found = verdict_on(PolicyGuard(places, "guard", home, patience=0), call())
    assert (found.ruling, found.lapse) == ("abstain", "the call could not be looked at in time")


def test_changed_rules_are_read_and_broken_ones_are_not(places: Paths, home: Path) -> None:
    """The last good rules stay until the file is good again."""
    guard = PolicyGuard(places, "guard", home, look_again=0)
    places.policy_file.write_text('[[rule]]\nid = "x"\noutcome = "deny"\ncommands = ["deploy"]\n')
    assert verdict_on(guard, call("deploy")).rule == "x"
    places.policy_file.write_text("nonsense")
    assert verdict_on(guard, call("deploy")).rule == "x"
    assert guard.health()[1] is not None
    places.policy_file.unlink()
    assert verdict_on(guard, call("deploy")) is ABSTAIN
    assert guard.health()[1] is None


def test_rules_that_are_broken_from_the_start_leave_the_shipped_ones(places: Paths, home: Path) -> None:
    """Nobody is without guards because of a typing mistake."""
    places.policy_file.write_text("nonsense")
    guard = PolicyGuard(places, "guard", home)
    assert verdict_on(guard, call()).rule == "system-delete"
    assert guard.health()[1] is not None


def test_a_project_is_heard_where_it_is(guard: PolicyGuard, home: Path) -> None:
    """Its rules hold for calls in it alone; its broken file keeps its last good rules."""
    rules = home / "app/.headspace/policy.toml"
    rules.parent.mkdir()
    rules.write_text('[[rule]]\nid = "y"\noutcome = "deny"\ncommands = ["deploy"]\n')
    inside = str(home / "app")
    assert verdict_on(guard, call("deploy", root=inside)).rule == "project-y"
    assert verdict_on(guard, call("deploy", root=str(home))) is ABSTAIN
    rules.write_text('[[rule]]\nid = "z"\noutcome = "allow"\ncommands = ["rm"]\n')
    os.utime(rules, ns=(1, 1))
    assert verdict_on(guard, call("deploy", root=inside)).rule == "project-y"
    assert guard.health()[1] is not None
