"""Observations and decisions are stored as one JSON object."""

import json

from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.envelope import (
    NO_DECISIONS,
    NO_OBSERVATIONS,
    Decisions,
    Observations,
    Origin,
    decided,
    decode_context,
    encode_context,
)
from tests.kernel.story import envelope


def test_both_are_one_object_under_the_stored_names() -> None:
    """The log of earlier versions has the same fields; each struct reads its own."""
    observations = Observations(client_pid=7, tmux_pane="%1", anomaly="the text was repaired")
    decisions = Decisions(parent_id="a1", session_notice=SessionNotice(context_level=80), directives=("a.md",))
    stored = encode_context(envelope("Stop", 1, {}, observations=observations, decisions=decisions))
    assert json.loads(stored) == {
        "tmux_pane": "%1",
        "client_pid": 7,
        "flaw": "the text was repaired",
        "parent_id": "a1",
        "directives": ["a.md"],
        "care": {"level": 80},
    }
    assert decode_context(stored) == (observations, decisions)


def test_nothing_is_an_empty_object() -> None:
    """Without observations, decisions or both."""
    bare = envelope("Stop", 1, {}, observations=NO_OBSERVATIONS)
    assert encode_context(bare) == b"{}"
    assert encode_context(decided(bare, parent_id="a1")) == b'{"parent_id":"a1"}'
    assert decode_context("{}") == (NO_OBSERVATIONS, NO_DECISIONS)


def test_the_assigned_mode_is_stored_in_place_of_the_declared_one() -> None:
    """A declaration that was not accepted is not in the log. Only hooks are assigned a mode."""
    declared = Observations(declared_mode="mission", declared_mission_id="m1")
    hook = envelope("Stop", 1, {}, observations=declared)
    assert encode_context(hook) == b"{}"
    assert json.loads(encode_context(decided(hook, mode="background"))) == {"mode": "background"}
    act = envelope("AgentRegistered", 1, {}, origin=Origin.OPERATOR, observations=declared)
    stored = encode_context(act)
    assert json.loads(stored) == {"mode": "mission", "mission_id": "m1"}
    observations, decisions = decode_context(stored)
    again = envelope("AgentRegistered", 1, {}, origin=Origin.OPERATOR, observations=observations, decisions=decisions)
    assert encode_context(again) == stored
