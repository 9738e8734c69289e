"""The names under which acts are stored."""

import msgspec
import pytest

from claude_headspace.kernel import acts
from claude_headspace.kernel.act_events import decode_act, wrap_act
from claude_headspace.kernel.wait.grants import GrantOption


@pytest.mark.parametrize(
    ("act", "name"),
    [
        (acts.AgentRenamed(name="x"), "AgentRenamed"),
        (acts.ConversationPrompted(), "ConversationWoken"),
        (acts.RemoteActionRequested(), "ErrandAsked"),
        (acts.RemoteActionAccepted(), "ErrandTaken"),
        (acts.RemoteActionCancelled(), "ErrandGivenUp"),
        (acts.RemoteActionFinished(), "ErrandDone"),
        (acts.NotificationStarted(), "NoticeBegun"),
        (acts.NotificationCompleted(), "NoticeSettled"),
        (acts.NotificationClosed(), "NoticeOver"),
    ],
)
def test_an_act_keeps_its_stored_name(act: acts.Act, name: str) -> None:
    """Events of earlier versions are read, and their readers read new events."""
    envelope = wrap_act(act, "e1", "laptop", 1)
    assert (envelope.name, decode_act(envelope).anomaly) == (name, None)
    assert acts.ACTS[name] is type(act)


@pytest.mark.parametrize(
    "act",
    [
        acts.WaitAnswered(wait_id="w1", answer=msgspec.Raw(b'{"decision":"allow"}')),
        acts.RemoteActionRequested(errand=msgspec.Raw(b'{"kind":"send","text":"Go on"}')),
    ],
)
def test_an_act_with_a_nested_document_is_no_anomaly(act: acts.Act) -> None:
    """The answer to a wait and a remote action carry a document, which is read without complaint."""
    assert decode_act(wrap_act(act, "e1", "laptop", 1)).anomaly is None


def test_grants_without_id_are_decoded() -> None:
    """Earlier versions stored the grants of an answer without their ids."""
    stored = b'{"wait_id":"w1","grants":[{"kind":"rule","words":"Allow make","destination":"this session"}]}'
    envelope = msgspec.structs.replace(wrap_act(acts.WaitAnswered(wait_id="w1"), "e1", "laptop", 1), payload=stored)
    option = GrantOption(kind="rule", words="Allow make", destination="this session")
    assert decode_act(envelope).fact == acts.WaitAnswered(wait_id="w1", grants=(option,))
