"""Web Push, end to end: a browser subscribes, a push service on loopback receives what the agents need, and the browser
decrypts it.
"""

import http.client
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest

from tests.push_endpoint import PushBrowser, PushService, push_service, verified_claims
from tests.stories.test_notifications import answer_in_terminal, ask, daemon_with, hook, notices, status, unsent_reasons
from tests.support import Reply, RunningDaemon, wait_until

ANDROID = "Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 Chrome/150.0.0.0 Mobile Safari/537.36"


@pytest.fixture
def service() -> Iterator[PushService]:
    """The push service of the phone."""
    with push_service() as running:
        yield running


@pytest.fixture
def daemon(tmp_path: Path, service: PushService) -> Iterator[RunningDaemon]:
    """A daemon on a machine without a desktop, which accepts that push service."""
    with daemon_with(tmp_path / "home", env={"HEADSPACE_PUSH_SERVICES": service.origin}) as running:
        yield running


class SignedInPhone(PushBrowser):
    """A browser that signed in through a link."""

    def __init__(self, daemon: RunningDaemon) -> None:
        super().__init__()
        self._daemon = daemon
        path = daemon.send("POST", "/api/admin/signin", {}, scope="admin").json()["path"]
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port)
        connection.request("GET", path)
        reply = connection.getresponse()
        cookie: SimpleCookie = SimpleCookie(reply.getheader("set-cookie"))
        key = (reply.getheader("location") or "").partition("#key=")[2]
        connection.close()
        value = "; ".join(f"{name}={morsel.value}" for name, morsel in cookie.items())
        self._headers = {"Cookie": value, "X-Headspace-Key": key, "User-Agent": ANDROID, "Origin": daemon.url}

    def post(self, path: str, body: dict[str, Any]) -> Reply:
        """Send a request as this browser."""
        return self._daemon.send("POST", path, body, self._headers, scope=None)

    def subscribe(self, service: PushService) -> dict[str, Any]:
        """Enable pushes in the settings."""
        reply = self.post("/api/notifications/push", self.subscription(service.endpoint()))
        assert reply.status == 200, reply.json()
        found: dict[str, Any] = reply.json()
        return found


def test_a_wait_reaches_the_phone_and_is_removed_when_it_is_answered(
    daemon: RunningDaemon, service: PushService
) -> None:
    """One push with the request and the path of exactly this wait, one that closes it, both under the same topic."""
    phone = SignedInPhone(daemon)
    subscribed = phone.subscribe(service)
    assert [(each["name"], each["is_this"]) for each in subscribed["browsers"]] == [("Chrome on Android", True)]
    agent = daemon.agent(ask(daemon))
    message = phone.decrypt(service.wait(1)[0].body)
    wait = agent["waits"][0]["id"]
    assert message["title"] == f"{agent['name']} wants to run"
    assert message["text"].startswith("make deploy")
    assert (message["path"], message["tag"]) == (f"/waits/{wait}", wait)
    assert verified_claims(service.pushes[0].headers["Authorization"])["key"] == subscribed["public_key"]
    status(daemon, "delivered")
    answer_in_terminal(daemon)
    closing = service.wait(2)[1]
    assert phone.decrypt(closing.body)["over"] is True
    assert closing.headers["Topic"] == service.pushes[0].headers["Topic"]
    assert status(daemon, "over")["channel"] == "push"


def test_brief_pushes_have_only_a_title(tmp_path: Path, service: PushService) -> None:
    """As for all channels: `brief = true` keeps texts of agents off the lock screen."""
    rules = "[channels.push]\nbrief = true\n"
    with daemon_with(tmp_path / "home", rules, env={"HEADSPACE_PUSH_SERVICES": service.origin}) as daemon:
        phone = SignedInPhone(daemon)
        phone.subscribe(service)
        ask(daemon)
        message = phone.decrypt(service.wait(1)[0].body)
        assert "wants to run" in message["title"]
        assert "text" not in message


def test_the_rules_of_all_channels_hold(tmp_path: Path, service: PushService) -> None:
    """In quiet hours only the kinds that are let through are pushed; the others are delayed, with the reason."""
    rules = '[quiet]\nfrom = "00:00"\nto = "24:00"\nlet_through = ["error"]\n'
    with daemon_with(tmp_path / "home", rules, env={"HEADSPACE_PUSH_SERVICES": service.origin}) as daemon:
        phone = SignedInPhone(daemon)
        phone.subscribe(service)
        ask(daemon, "asks")
        hook(daemon, "session-start", "fails", source="startup")
        hook(daemon, "user-prompt-submit", "fails", prompt="Go")
        hook(daemon, "stop-failure", "fails", error="rate_limit")
        assert "stopped: rate limit" in phone.decrypt(service.wait(1)[0].body)["title"]
        assert {notice["kind"] for notice in notices(daemon)} == {"error"}
        assert list(unsent_reasons(daemon).values()) == ["quiet hours"]


def test_a_removed_browser_receives_nothing(daemon: RunningDaemon, service: PushService) -> None:
    """Any signed-in browser can remove it, such as that of a laptop after the phone was lost."""
    phone, laptop = SignedInPhone(daemon), SignedInPhone(daemon)
    browser = phone.subscribe(service)["browsers"][0]["id"]
    assert laptop.post("/api/notifications/push/remove", {"id": browser}).json()["browsers"] == []
    channels = {each["name"]: each for each in daemon.get("/api/notifications").json()["channels"]}
    assert channels["push"]["detail"] == "no browser is subscribed"


def test_subscriptions_survive_a_restart(tmp_path: Path, service: PushService) -> None:
    """A push that was sent is not repeated."""
    home, env = tmp_path / "home", {"HEADSPACE_PUSH_SERVICES": service.origin}
    with daemon_with(home, env=env) as daemon:
        phone = SignedInPhone(daemon)
        phone.subscribe(service)
        ask(daemon, "first")
        service.wait(1)
        status(daemon, "delivered")
    with daemon_with(home, env=env) as daemon:
        ask(daemon, "second")
        wait_until(lambda: len(service.pushes) >= 2, "the push about the second agent")
        titles = [phone.decrypt(push.body)["title"] for push in service.pushes]
        assert len(titles) == len(set(titles)) == 2


def test_only_signed_in_browsers_subscribe(daemon: RunningDaemon, service: PushService) -> None:
    """A token is not enough, and the address must be a public push service or one of the settings."""
    phone = SignedInPhone(daemon)
    wanted = phone.subscription(service.endpoint())
    refused = daemon.send("POST", "/api/notifications/push", wanted, scope="act")
    assert (refused.status, refused.error["code"]) == (403, "no_browser")
    inside = phone.post("/api/notifications/push", phone.subscription("https://169.254.169.254/latest"))
    assert (inside.status, inside.error["code"]) == (400, "bad_push_service")
    assert phone.post("/api/notifications/push", {**wanted, "keys": {"p256dh": "AA", "auth": "AA"}}).status == 400


def test_nothing_shows_the_address_of_a_subscription(daemon: RunningDaemon, service: PushService) -> None:
    """No reply of the API, no event and no log has it: who knows it can send to the browser."""
    phone = SignedInPhone(daemon)
    shown = [str(phone.subscribe(service))]
    ask(daemon)
    service.wait(1)
    status(daemon, "delivered")
    shown += [str(daemon.get(path).json()) for path in ("/api/notifications", "/api/notifications/push", "/api/agents")]
    shown += [str(daemon.events()), daemon.log]
    assert all("/push/phone" not in text for text in shown)
