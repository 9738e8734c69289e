"""Web Push: what push services and browsers receive, which addresses are used, and how long subscriptions last."""

import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.outputs.notify.desktop import DeliveryFailed
from claude_headspace.outputs.notify.push import push_service as sending
from claude_headspace.outputs.notify.push.channel import PushChannel
from claude_headspace.outputs.notify.push.encryption import BLOCK_BYTES, MAX_BYTES, PushMessage, encode
from claude_headspace.outputs.notify.push.subscriptions import (
    MAX_SUBSCRIPTIONS,
    Subscription,
    Subscriptions,
    check_endpoint,
    parse_keys,
)
from claude_headspace.testing import ManualClock
from tests.push_endpoint import PushBrowser, PushService, decode64, encode64, push_service, verified_claims

ORIGIN = "https://mac.tail1.ts.net"
MESSAGE = PushMessage(tag="w1", title="calm-otter asks", text="Which colour? 🟠", path="/waits/w1")
DAY = 24 * 3600 * SECOND


@pytest.fixture
def service() -> Iterator[PushService]:
    """A push service."""
    with push_service() as running:
        yield running


@pytest.fixture
def clock() -> ManualClock:
    """A settable clock."""
    return ManualClock()


class Phone(PushBrowser):
    """A subscribed browser."""

    def __init__(self, name: str, endpoint: str) -> None:
        super().__init__()
        self.name = name
        self.endpoint = endpoint

    def subscribed(self, clock: ManualClock) -> Subscription:
        """Its subscription, for a sign-in of thirty days."""
        return Subscription(
            browser=self.name,
            endpoint=self.endpoint,
            browser_key=self.public_key,
            browser_secret=self.secret,
            name="Chrome on Android",
            origin=ORIGIN,
            created_at=clock(),
            expires_at=clock() + 30 * DAY,
        )


def channel_in(
    folder: Path, clock: ManualClock, service: PushService | None = None, secret: bytes = b"s"
) -> PushChannel:
    """The channel with its files in a folder."""
    services = [service.origin] if service is not None else []
    return PushChannel(folder / "push-key.pem", Subscriptions(folder / "push.json", secret, clock), services)


def test_a_browser_decrypts_the_message(tmp_path: Path, clock: ManualClock, service: PushService) -> None:
    """The request is signed with the key that browsers subscribe with, for this push service alone."""
    phone = Phone("one", service.endpoint())
    channel = channel_in(tmp_path, clock, service)
    channel.subscriptions.add(phone.subscribed(clock))
    channel.send(MESSAGE, urgent=True)
    [push] = service.pushes
    assert phone.decrypt(push.body) == {
        "tag": "w1",
        "title": "calm-otter asks",
        "text": "Which colour? 🟠",
        "path": "/waits/w1",
    }
    claims = verified_claims(push.headers["Authorization"])
    assert (claims["aud"], claims["sub"], claims["key"]) == (service.origin, ORIGIN, channel.public_key)
    assert push.path == "/push/phone"
    assert {name: push.headers[name] for name in ("Content-Encoding", "Urgency", "TTL")} == {
        "Content-Encoding": "aes128gcm",
        "Urgency": "high",
        "TTL": "86400",
    }


def test_a_later_message_of_the_same_need_replaces_the_earlier_one(
    tmp_path: Path, clock: ManualClock, service: PushService
) -> None:
    """Both have the same topic, another need has another one, and no topic shows the need."""
    channel = channel_in(tmp_path, clock, service)
    channel.subscriptions.add(Phone("one", service.endpoint()).subscribed(clock))
    channel.send(MESSAGE, urgent=True)
    channel.send(PushMessage(tag="w1", title="Resolved", over=True), urgent=False)
    channel.send(PushMessage(tag="w2", title="Another"), urgent=False)
    first, second, other = (push.headers["Topic"] for push in service.pushes)
    assert first == second != other
    assert len(first) == 32
    assert "w1" not in first
    assert [push.headers["Urgency"] for push in service.pushes] == ["high", "normal", "normal"]


def test_the_length_of_a_message_says_little() -> None:
    """Messages fill blocks. The longest text fits into what push services accept."""
    assert len(encode(MESSAGE)) == BLOCK_BYTES
    longest = encode(msgspec.structs.replace(MESSAGE, text="🟠" * 5_000))
    assert len(longest) <= MAX_BYTES
    assert len(longest) % BLOCK_BYTES == 0
    assert msgspec.json.decode(longest, type=PushMessage).text.endswith("🟠…")


@pytest.mark.parametrize("status", sending.GONE)
def test_a_browser_that_ended_its_subscription_is_forgotten(
    tmp_path: Path, clock: ManualClock, service: PushService, status: int
) -> None:
    """Also after a restart. The message counts as delivered if another browser received it."""
    with push_service() as other:
        channel = PushChannel(
            tmp_path / "key", Subscriptions(tmp_path / "push.json", b"s", clock), [service.origin, other.origin]
        )
        channel.subscriptions.add(Phone("gone", service.endpoint()).subscribed(clock))
        channel.subscriptions.add(Phone("here", other.endpoint()).subscribed(clock))
        service.status = status
        channel.send(MESSAGE, urgent=True)
        assert len(other.pushes) == 1
    assert [each.browser for each in channel.subscriptions.current()] == ["here"]
    assert [each.browser for each in channel_in(tmp_path, clock).subscriptions.current()] == ["here"]


def test_a_refusal_is_a_failure_without_the_address(tmp_path: Path, clock: ManualClock, service: PushService) -> None:
    """The subscription stays, and the failure is known until the next success."""
    channel = channel_in(tmp_path, clock, service)
    channel.subscriptions.add(Phone("one", service.endpoint("a-secret")).subscribed(clock))
    service.status = 429
    with pytest.raises(DeliveryFailed) as failure:
        channel.send(MESSAGE, urgent=True)
    assert str(failure.value) == "too many messages (127.0.0.1: status 429)"
    assert channel.failures == {"one": str(failure.value)}
    service.status = 201
    channel.send(MESSAGE, urgent=True)
    assert channel.failures == {}


def test_redirects_are_not_followed(tmp_path: Path, clock: ManualClock, service: PushService) -> None:
    """A push service cannot send the daemon to another address."""
    channel = channel_in(tmp_path, clock, service)
    channel.subscriptions.add(Phone("one", service.endpoint()).subscribed(clock))
    service.status, service.location = 307, service.endpoint("elsewhere")
    with pytest.raises(DeliveryFailed, match="status 307"):
        channel.send(MESSAGE, urgent=True)
    assert [push.path for push in service.pushes] == ["/push/phone"]


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://push.example.com/1",
        "https://127.0.0.1/1",
        "https://[::1]/1",
        "https://10.0.0.8/1",
        "https://169.254.169.254/latest",
        "https://push.example.com:8443/1",
        "https://user:password@push.example.com/1",
        "https://[/1",
        "https:///1",
        "file:///etc/passwd",
        "ftp://push.example.com/1",
        "http://127.0.0.1:5055/api/admin/signin",
    ],
)
def test_only_public_push_services_are_accepted(endpoint: str) -> None:
    """Except those of the settings, with exactly their scheme, host and port."""
    with pytest.raises(BadRequest):
        check_endpoint(endpoint, {"http://127.0.0.1:5056", "https://10.0.0.80"})
    check_endpoint("https://fcm.googleapis.com/fcm/send/x", ())
    check_endpoint("http://127.0.0.1:5056/1", {"http://127.0.0.1:5056"})


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "192.168.1.1",
        "100.64.0.1",
        "0.1.2.3",
        "224.0.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:127.0.0.1",
    ],
)
def test_private_addresses_are_not_public(address: str) -> None:
    """Loopback, private and link-local networks, multicast, and such addresses inside of IPv6."""
    assert not sending.is_public(address)
    assert sending.is_public("142.250.1.188")
    assert sending.is_public("2a00:1450:4001::5f")


def test_a_name_that_leads_to_this_machine_is_refused(tmp_path: Path, clock: ManualClock) -> None:
    """The address is checked when the message is sent, after the name was resolved."""
    channel = channel_in(tmp_path, clock)
    channel.subscriptions.add(Phone("one", "https://localhost/1").subscribed(clock))
    with pytest.raises(DeliveryFailed, match="localhost is not a public address"):
        channel.send(MESSAGE, urgent=True)


def test_the_files_are_private_and_stay_the_same(tmp_path: Path, clock: ManualClock, service: PushService) -> None:
    """A restart keeps the key and the subscriptions; a new secret ends the subscriptions."""
    channel = channel_in(tmp_path, clock, service)
    channel.subscriptions.add(Phone("one", service.endpoint()).subscribed(clock))
    key = channel.public_key
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    again = channel_in(tmp_path, clock, service)
    assert again.public_key == key
    assert [each.browser for each in again.subscriptions.current()] == ["one"]
    assert channel_in(tmp_path, clock, service, secret=b"another").subscriptions.current() == []


def test_a_subscription_lasts_as_long_as_the_sign_in(tmp_path: Path, clock: ManualClock, service: PushService) -> None:
    """Afterwards the channel is not available."""
    channel = channel_in(tmp_path, clock, service)
    channel.subscriptions.add(Phone("one", service.endpoint()).subscribed(clock))
    assert (channel.is_available, channel.detail) == (True, "1 subscribed browser")
    clock.advance(31 * 24 * 3600)
    assert (channel.is_available, channel.detail) == (False, "no browser is subscribed")
    with pytest.raises(DeliveryFailed, match="no browser is subscribed"):
        channel.send(MESSAGE, urgent=True)
    assert service.pushes == []


def test_a_browser_has_one_subscription(tmp_path: Path, clock: ManualClock) -> None:
    """A new one replaces it, also after a new sign-in of the same browser. The number of browsers is limited."""
    subscriptions = Subscriptions(tmp_path / "push.json", b"s", clock)
    for name, endpoint in (
        ("one", "https://a.example/1"),
        ("one", "https://a.example/2"),
        ("two", "https://a.example/2"),
    ):
        subscriptions.add(Phone(name, endpoint).subscribed(clock))
    assert [(each.browser, each.endpoint) for each in subscriptions.current()] == [("two", "https://a.example/2")]
    for number in range(MAX_SUBSCRIPTIONS):
        subscriptions.add(Phone(f"n{number}", f"https://b.example/{number}").subscribed(clock))
    assert len(subscriptions.current()) == MAX_SUBSCRIPTIONS
    assert subscriptions.current()[0].browser == "n0"


def test_an_unreadable_file_counts_as_empty(tmp_path: Path, clock: ManualClock) -> None:
    """And the next subscription replaces it."""
    (tmp_path / "push.json").write_text('{"installation": 1}')
    subscriptions = Subscriptions(tmp_path / "push.json", b"s", clock)
    assert subscriptions.current() == []
    subscriptions.add(Phone("one", "https://a.example/1").subscribed(clock))
    assert len(Subscriptions(tmp_path / "push.json", b"s", clock).current()) == 1


def test_keys_that_no_browser_has_are_refused() -> None:
    """Too short, no base 64, and a point that is not on the curve."""
    browser = PushBrowser()
    key, secret = encode64(browser.public_key), encode64(browser.secret)
    assert parse_keys(key, secret) == (browser.public_key, browser.secret)
    for wrong_key, wrong_secret in ((key[:40], secret), (key, "AAAA"), ("ä", secret), (encode64(b"\x04" * 65), secret)):
        with pytest.raises(BadRequest):
            parse_keys(wrong_key, wrong_secret)
    assert decode64(key) == browser.public_key
