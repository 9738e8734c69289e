"""The service worker: it keeps the files of the page and nothing else, shows pushes, and opens what they are about."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Worker, expect

from tests.push_endpoint import PushBrowser, PushService, push_service
from tests.stories.test_notifications import answer_in_terminal, ask
from tests.support import RunningDaemon, running_daemon, wait_until
from tests.web.conftest import PHONE, Pages
from tests.web.test_notifications import HIDE_TAB

CACHED = """async () => {
  const names = await caches.keys();
  const lists = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
  return { names, paths: lists.flat().map(({ url }) => new URL(url).pathname) };
}"""
SHOWN = """async () => {
  const found = await (await navigator.serviceWorker.ready).getNotifications();
  return found.map(({ title, body, tag, data }) => ({ title, body, tag, path: data.path }));
}"""
CLICK = """async (tag) => {
  const [notification] = await self.registration.getNotifications({ tag });
  const event = new NotificationEvent("notificationclick", { notification });
  const done = new Promise((resolve) => Object.defineProperty(event, "waitUntil", { value: (work) => resolve(work) }));
  self.dispatchEvent(event);
  await done.catch(() => undefined);
}"""
"""A click as the browser reports it. Only a person may focus a window, so that part of it fails."""


THROWING_CONSTRUCTOR = """() => {
  window.Notification = class {
    static permission = "granted";
    static async requestPermission() { return "granted"; }
    constructor() { throw new TypeError("Illegal constructor"); }
  };
}"""


def open_with_worker(pages: Pages, daemon: RunningDaemon, path: str = "/", **options: Any) -> tuple[Page, Worker]:
    """A page that a service worker controls, and this service worker."""
    page = pages.open(daemon, path, service_workers="allow", permissions=["notifications"], **options)
    page.wait_for_function("async () => (await navigator.serviceWorker.ready).active.state === 'activated'")
    page.wait_for_function("navigator.serviceWorker.controller !== null")
    return page, page.context.service_workers[0]


class PushedPage:
    """Delivers pushes to the service worker of a page, as the browser does after decrypting them."""

    def __init__(self, page: Page, daemon: RunningDaemon) -> None:
        self._origin = daemon.url
        self._session = page.context.new_cdp_session(page)
        self._registrations: list[dict[str, Any]] = []
        self._session.on("ServiceWorker.workerRegistrationUpdated", self._collect)
        self._session.send("ServiceWorker.enable")
        wait_until(lambda: page.evaluate("1") and self._registrations, "the registration of the service worker")

    def _collect(self, event: dict[str, Any]) -> None:
        scope = f"{self._origin}/"
        self._registrations += [each for each in event["registrations"] if each["scopeURL"] == scope]

    def push(self, data: str) -> None:
        """Deliver a push."""
        registration = self._registrations[-1]["registrationId"]
        parameters = {"origin": self._origin, "registrationId": registration, "data": data}
        self._session.send("ServiceWorker.deliverPushMessage", parameters)


def shown(page: Page) -> list[dict[str, str]]:
    """The notifications of this origin."""
    found: list[dict[str, str]] = page.evaluate(SHOWN)
    return found


def test_only_files_of_the_build_are_kept(pages: Pages, daemon: RunningDaemon) -> None:
    """After views were opened and data was loaded: no path of the API, and one cache."""
    page, _worker = open_with_worker(pages, daemon)
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Files")).to_be_visible()
    cached = page.evaluate(CACHED)
    assert len(cached["names"]) == 1
    assert {"/", "/theme.js", "/manifest.webmanifest"} <= set(cached["paths"])
    assert all(
        path == "/" or path.startswith(("/assets/", "/icons/", "/theme.js", "/manifest.")) for path in cached["paths"]
    )


def test_without_the_daemon_the_page_opens_and_says_so(pages: Pages, tmp_path: Path) -> None:
    """It shows nothing that was loaded before, and recovers when the daemon runs again."""
    home = tmp_path / "home"
    with running_daemon(home, heartbeat_seconds=1) as first:
        page, _worker = open_with_worker(pages, first)
        ask(first)
        expect(page.locator(".card")).to_be_visible()
        port = first.port
    page.goto(f"{first.url}/waits")
    expect(page.get_by_text("Headspace is not responding.")).to_be_visible()
    expect(page.get_by_text("headspace up")).to_be_visible()
    assert "make deploy" not in page.content()
    with running_daemon(home, heartbeat_seconds=1, port=port):
        expect(page.locator("article.wait")).to_be_visible()


def test_an_upgraded_daemon_shows_its_own_page(pages: Pages, daemon: RunningDaemon) -> None:
    """HTML comes from the daemon, and the cache of another build is removed."""
    page, worker = open_with_worker(pages, daemon)
    worker.evaluate("async () => { await (await caches.open('headspace-shell-old')).put('/', new Response('old')); }")
    with page.expect_response(lambda response: response.url == f"{daemon.url}/waits") as found:
        page.goto(f"{daemon.url}/waits")
    assert found.value.text() != "old"
    page.evaluate("async () => { await (await navigator.serviceWorker.ready).unregister(); }")
    page.reload()
    page.wait_for_function("async () => !(await caches.keys()).includes('headspace-shell-old')")


def test_a_push_is_shown_and_removed(pages: Pages, daemon: RunningDaemon) -> None:
    """A later push of the same need replaces the notification; one that says that the need is met removes it."""
    page, _worker = open_with_worker(pages, daemon)
    pushed = PushedPage(page, daemon)
    pushed.push(json.dumps({"tag": "w1", "title": "calm-otter asks", "text": "Which colour?", "path": "/waits/w1"}))
    wait_until(lambda: shown(page), "the notification")
    assert shown(page) == [{"title": "calm-otter asks", "body": "Which colour?", "tag": "w1", "path": "/waits/w1"}]
    pushed.push(json.dumps({"tag": "w1", "title": "calm-otter still asks", "path": "/waits/w1"}))
    wait_until(lambda: [each["title"] for each in shown(page)] == ["calm-otter still asks"], "the later notification")
    pushed.push(json.dumps({"tag": "w1", "title": "Resolved: calm-otter asks", "over": True}))
    wait_until(lambda: shown(page) == [], "the notification to be removed")


def test_a_click_on_a_notification_opens_its_wait(pages: Pages, daemon: RunningDaemon) -> None:
    """In the page that is open, without reloading it."""
    agent = daemon.agent(ask(daemon))
    page, worker = open_with_worker(pages, daemon, viewport=PHONE, has_touch=True)
    wait = agent["waits"][0]["id"]
    PushedPage(page, daemon).push(json.dumps({"tag": wait, "title": "asks", "path": f"/waits/{wait}"}))
    wait_until(lambda: shown(page), "the notification")
    page.evaluate("() => { window.isSame = true; }")
    worker.evaluate(CLICK, wait)
    expect(page.locator(f"#wait-{wait}")).to_be_visible()
    assert page.url == f"{daemon.url}/waits/{wait}"
    assert page.evaluate("window.isSame")
    wait_until(lambda: shown(page) == [], "the notification to be closed")


@pytest.fixture
def service() -> Iterator[PushService]:
    """The push service of the browser."""
    with push_service() as running:
        yield running


SUBSCRIBE = """(subscription) => {
  let current = null;
  const unsubscribe = async () => { window.unsubscribed = true; };
  PushManager.prototype.getSubscription = async () => current;
  PushManager.prototype.subscribe = async (options) => {
    window.wanted = options;
    return (current = { ...subscription, options: {}, toJSON: () => subscription, unsubscribe });
  };
}"""
"""The tests reach no push service of a browser vendor, so the subscription is one of ours."""


def test_pushes_are_enabled_in_the_settings(pages: Pages, tmp_path: Path, service: PushService) -> None:
    """The settings list this browser, a test reaches it, and it can be removed."""
    with running_daemon(tmp_path / "home", heartbeat_seconds=2, push_services=service.origin) as daemon:
        page, _worker = open_with_worker(pages, daemon, "/settings", viewport=PHONE)
        browser = PushBrowser()
        page.evaluate(SUBSCRIBE, browser.subscription(service.endpoint()))
        page.get_by_role("button", name="Push to this browser").click()
        expect(page.get_by_text("This browser receives pushes")).to_be_visible()
        key = daemon.get("/api/notifications/push").json()["public_key"]
        assert page.evaluate("window.wanted") == {"userVisibleOnly": True, "applicationServerKey": key}
        page.get_by_role("button", name="Send a test").click()
        assert browser.decrypt(service.wait(1)[0].body)["title"] == "Headspace test notification"
        browsers = page.get_by_role("list", name="Browsers that receive pushes")
        expect(browsers.get_by_text("(this browser)")).to_be_visible()
        browsers.get_by_role("button", name="Remove").click()
        expect(page.get_by_role("button", name="Push to this browser")).to_be_visible()
        page.wait_for_function("window.unsubscribed")
        assert daemon.get("/api/notifications/push").json()["browsers"] == []


def test_a_page_notifies_through_the_service_worker(pages: Pages, daemon: RunningDaemon) -> None:
    """As on Android, where the constructor of notifications throws. It is removed when the need is met."""
    page, _worker = open_with_worker(pages, daemon, "/settings")
    page.evaluate(THROWING_CONSTRUCTOR)
    page.get_by_role("button", name="Enable notifications in this browser").click()
    wait_until(
        lambda: daemon.get("/api/notifications").json()["channels"][1]["available"],
        "the page to be registered as a channel",
    )
    page.evaluate(HIDE_TAB)
    agent = daemon.agent(ask(daemon))
    wait_until(lambda: shown(page), "the notification")
    wait = agent["waits"][0]["id"]
    assert [(each["tag"], each["path"]) for each in shown(page)] == [(wait, f"/waits/{wait}")]
    answer_in_terminal(daemon)
    wait_until(lambda: shown(page) == [], "the notification to be removed")


def test_the_page_can_be_installed(pages: Pages, daemon: RunningDaemon) -> None:
    """The manifest has no errors, its icons exist, and Chromium finds nothing that prevents the installation."""
    page, _worker = open_with_worker(pages, daemon)
    session = page.context.new_cdp_session(page)
    assert session.send("Page.getAppManifest")["errors"] == []
    manifest = daemon.send("GET", "/manifest.webmanifest")
    assert manifest.headers["content-type"] == "application/manifest+json"
    assert {icon["purpose"] for icon in manifest.json()["icons"]} == {"any", "maskable"}
    for icon in manifest.json()["icons"]:
        assert daemon.send("GET", icon["src"]).status == 200
    problems = session.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {each["errorId"] for each in problems} <= {"in-incognito"}
