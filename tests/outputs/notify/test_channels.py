"""Channels: which are available, what they deliver, and the reasons of failures."""

from collections.abc import Iterator, Mapping

import pytest

from claude_headspace.kernel.notify.rules import DESKTOP, PAGE
from claude_headspace.outputs.notify.channels import Channels, Message, redact_addresses, send_to_address
from claude_headspace.outputs.notify.desktop import DeliveryFailed, Desktop, NoDesktop
from claude_headspace.outputs.notify.preferences import ChannelAddress, NotificationPreferences
from tests.receivers import SECRET, Receiver, receiver

MESSAGE = Message(title="calm-otter asks", text="Which colour?", link="http://here/agents/1", urgent=True, tag="w1")


class Screen:
    """A desktop that records what it shows."""

    kind = "a screen"

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.closed: list[str] = []

    def show(self, title: str, text: str, link: str, *, urgent: bool, tag: str) -> str:
        """Show it."""
        self.shown.append(f"{title}|{text}|{link}|{urgent}|{tag}")
        return str(len(self.shown))

    def close(self, receipt: str) -> None:
        """Close it."""
        self.closed.append(receipt)


def no_desktop(_env: Mapping[str, str]) -> Desktop | NoDesktop:
    """Find no desktop."""
    return NoDesktop("nothing here")


@pytest.fixture
def phone() -> Iterator[Receiver]:
    """A service that receives messages."""
    with receiver() as service:
        yield service


def test_the_state_of_every_channel(phone: Receiver) -> None:
    """The desktop, an open page, and every address. The address itself is never shown."""
    preferences = NotificationPreferences(addresses={"phone": ChannelAddress(urls=(phone.url,))})
    empty = Channels({}, no_desktop)
    assert empty.available(preferences) == {"phone"}
    assert [state.detail for state in empty.states(preferences)] == [
        "nothing here",
        "no open dashboard has notification permission",
        "no browser is subscribed",
        "json://…",
    ]
    full = Channels({}, lambda _env: Screen(), lambda: True)
    assert full.available(preferences) == {DESKTOP, PAGE, "phone"}


def test_a_desktop_message_is_shown_and_removed() -> None:
    """It is removed by its receipt."""
    screen = Screen()
    channels = Channels({}, lambda _env: screen)
    receipt = channels.send(DESKTOP, MESSAGE, NotificationPreferences())
    assert screen.shown == ["calm-otter asks|Which colour?|http://here/agents/1|True|w1"]
    channels.remove(DESKTOP, receipt, MESSAGE, NotificationPreferences())
    assert screen.closed == ["1"]


def test_a_message_is_sent_to_an_address(phone: Receiver) -> None:
    """Title, text and link; a brief channel does not get the text."""
    preferences = NotificationPreferences(
        addresses={"phone": ChannelAddress(urls=(phone.url,)), "open": ChannelAddress(urls=(phone.url,), brief=True)}
    )
    channels = Channels({}, no_desktop)
    channels.send("phone", MESSAGE, preferences)
    channels.send("open", MESSAGE, preferences)
    assert [(message["title"], message["message"]) for message in phone.messages] == [
        ("calm-otter asks", "Which colour?\nhttp://here/agents/1"),
        ("calm-otter asks", "http://here/agents/1"),
    ]


def test_only_channels_with_tell_over_get_a_message_about_a_closed_need(phone: Receiver) -> None:
    """Other services keep the message."""
    preferences = NotificationPreferences(
        addresses={
            "phone": ChannelAddress(urls=(phone.url,)),
            "team": ChannelAddress(urls=(phone.url,), tell_over=True),
        }
    )
    channels = Channels({}, no_desktop)
    channels.remove("phone", "", MESSAGE, preferences)
    channels.remove("team", "", MESSAGE, preferences)
    assert len(phone.messages) == 1


def test_the_reason_of_a_failure_has_no_secrets(phone: Receiver) -> None:
    """A service that refuses, an unreachable one, an unknown scheme, a removed channel."""
    phone.status = 403
    with pytest.raises(DeliveryFailed, match="403") as refused:
        send_to_address(ChannelAddress(urls=(phone.url,)), MESSAGE)
    with pytest.raises(DeliveryFailed) as absent:
        send_to_address(ChannelAddress(urls=(f"json://u:{SECRET}@127.0.0.1:1/{SECRET}",)), MESSAGE)
    with pytest.raises(DeliveryFailed) as unknown:
        send_to_address(ChannelAddress(urls=(f"fax://{SECRET}",)), MESSAGE)
    assert all(SECRET not in str(error.value) for error in (refused, absent, unknown))
    with pytest.raises(DeliveryFailed, match="the channel gone no longer exists"):
        Channels({}, no_desktop).send("gone", MESSAGE, NotificationPreferences())


@pytest.mark.parametrize(
    "url",
    [
        "tgram://123456789:abcdef-GHI/98765",
        "slack://TokenAAAA/TokenBBBB/TokenCCCC/#agents",
        "mailto://ann:pass%40word@example.com?to=bob@example.com",
        "ntfy://topic-nobody-guesses",
    ],
)
def test_addresses_are_redacted_in_a_text(url: str) -> None:
    """The complete address and its parts, quoted and unquoted."""
    parts = ("abcdef-GHI", "TokenBBBB", "pass%40word", "pass@word", "topic-nobody-guesses")
    redacted = redact_addresses(f"could not send to {url}: {' '.join(part for part in parts if part in url)}", (url,))
    assert not [part for part in parts if part in redacted and part in url]


def test_a_missing_desktop_is_logged_once(capsys: pytest.CaptureFixture[str]) -> None:
    """However often the states are read."""
    channels = Channels({}, no_desktop)
    for _ in range(3):
        channels.states(NotificationPreferences())
    assert capsys.readouterr().out.count("desktop_unavailable") == 1
