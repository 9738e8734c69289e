"""Channels: what can be used, what arrives, and what is said when it does not."""

from collections.abc import Iterator, Mapping

import pytest

from claude_headspace.kernel.notify.rules import DESKTOP, PAGE
from claude_headspace.outputs.notify.channels import Channels, Message, redact_addresses, send_to_address
from claude_headspace.outputs.notify.desktop import DeliveryFailed, Desktop, NoDesktop
from claude_headspace.outputs.notify.preferences import ChannelAddress, NotificationPreferences
from tests.receivers import SECRET, Receiver, receiver

MESSAGE = Message(title="calm-otter asks", text="Which colour?", link="http://here/agents/1", urgent=True, tag="w1")


class Screen:
    """A desktop that remembers."""

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


def none(_env: Mapping[str, str]) -> Desktop | NoDesktop:
    """There is no desktop."""
    return NoDesktop("nothing here")


@pytest.fixture
def phone() -> Iterator[Receiver]:
    """Somewhere to send to."""
    with receiver() as made:
        yield made


def test_what_can_be_used_is_known(phone: Receiver) -> None:
    """A desktop that is there, a page that is open, every address; never what an address is."""
    book = NotificationPreferences(addresses={"phone": ChannelAddress(urls=(phone.url,))})
    empty = Channels({}, none)
    assert empty.available(book) == {"phone"}
    assert [state.detail for state in empty.states(book)] == [
        "nothing here",
        "no open page that may notify",
        "json://…",
    ]
    full = Channels({}, lambda _env: Screen(), lambda: True)
    assert full.available(book) == {DESKTOP, PAGE, "phone"}


def test_a_message_is_shown_and_taken_back() -> None:
    """On the desktop, by its receipt."""
    screen = Screen()
    channels = Channels({}, lambda _env: screen)
    receipt = channels.send(DESKTOP, MESSAGE, NotificationPreferences())
    assert screen.shown == ["calm-otter asks|Which colour?|http://here/agents/1|True|w1"]
    channels.remove(DESKTOP, receipt, MESSAGE, NotificationPreferences())
    assert screen.closed == ["1"]


def test_a_message_reaches_an_address(phone: Receiver) -> None:
    """Title, text and link; a brief channel gets nothing of what is asked."""
    book = NotificationPreferences(
        addresses={"phone": ChannelAddress(urls=(phone.url,)), "open": ChannelAddress(urls=(phone.url,), brief=True)}
    )
    channels = Channels({}, none)
    channels.send("phone", MESSAGE, book)
    channels.send("open", MESSAGE, book)
    assert [(call["title"], call["message"]) for call in phone.calls] == [
        ("calm-otter asks", "Which colour?\nhttp://here/agents/1"),
        ("calm-otter asks", "http://here/agents/1"),
    ]


def test_only_who_wants_to_know_is_told_that_it_is_over(phone: Receiver) -> None:
    """A message that cannot be taken back stays."""
    book = NotificationPreferences(
        addresses={
            "phone": ChannelAddress(urls=(phone.url,)),
            "team": ChannelAddress(urls=(phone.url,), tell_over=True),
        }
    )
    channels = Channels({}, none)
    channels.remove("phone", "", MESSAGE, book)
    channels.remove("team", "", MESSAGE, book)
    assert len(phone.calls) == 1


def test_a_failure_says_why_without_the_secret(phone: Receiver) -> None:
    """A service that refuses, one that is not there, an address that is none, a channel that went away."""
    phone.status = 403
    with pytest.raises(DeliveryFailed, match="403") as refused:
        send_to_address(ChannelAddress(urls=(phone.url,)), MESSAGE)
    with pytest.raises(DeliveryFailed) as absent:
        send_to_address(ChannelAddress(urls=(f"json://u:{SECRET}@127.0.0.1:1/{SECRET}",)), MESSAGE)
    with pytest.raises(DeliveryFailed) as unknown:
        send_to_address(ChannelAddress(urls=(f"fax://{SECRET}",)), MESSAGE)
    assert all(SECRET not in str(error.value) for error in (refused, absent, unknown))
    with pytest.raises(DeliveryFailed, match="no channel gone"):
        Channels({}, none).send("gone", MESSAGE, NotificationPreferences())


@pytest.mark.parametrize(
    "url",
    [
        "tgram://123456789:abcdef-GHI/98765",
        "slack://TokenAAAA/TokenBBBB/TokenCCCC/#agents",
        "mailto://ann:pass%40word@example.com?to=bob@example.com",
        "ntfy://topic-nobody-guesses",
    ],
)
def test_nothing_of_an_address_is_left_in_a_text(url: str) -> None:
    """Neither the whole nor its parts, also unquoted."""
    parts = ("abcdef-GHI", "TokenBBBB", "pass%40word", "pass@word", "topic-nobody-guesses")
    said = redact_addresses(f"could not send to {url}: {' '.join(part for part in parts if part in url)}", (url,))
    assert not [part for part in parts if part in said and part in url]


def test_a_machine_without_a_desktop_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    """However often it is looked at."""
    channels = Channels({}, none)
    for _ in range(3):
        channels.states(NotificationPreferences())
    assert capsys.readouterr().out.count("no_desktop") == 1
