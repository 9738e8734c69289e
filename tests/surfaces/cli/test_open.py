"""The command `open`."""

import json
import urllib.parse

from claude_headspace.clients.environment import MARKERS
from tests.support import RunningDaemon
from tests.surfaces.cli.conftest import Headspace, run_headspace


def follow(daemon: RunningDaemon, link: str) -> tuple[str, str]:
    """Where a link leads, and the cookie that it sets."""
    parts = urllib.parse.urlsplit(link)
    reply = daemon.send("GET", f"{parts.path}?{parts.query}")
    assert reply.status == 303
    return reply.headers["location"], reply.headers.get("set-cookie", "")


def test_the_link_is_printed_without_a_display(daemon: RunningDaemon) -> None:
    """It sets a cookie, and works once."""
    done = run_headspace(daemon.home, "open")
    assert (done.returncode, done.stderr) == (0, "")
    link = done.stdout.strip()
    assert link.startswith(f"{daemon.url}/signin?code=")
    place, cookie = follow(daemon, link)
    assert place.startswith("/#key=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert follow(daemon, link) == ("/?signin=expired", "")


def test_open_in_json(headspace: Headspace) -> None:
    """The link and its lifetime."""
    result = json.loads(headspace("open", "--json").stdout)
    assert set(result) == {"url", "expires_in_seconds"}


def test_a_link_for_the_phone_has_the_public_address(daemon: RunningDaemon) -> None:
    """Without `public_url` the command says what to do."""
    done = run_headspace(daemon.home, "open", "--phone", HEADSPACE_PUBLIC_URL="https://mac.example.net/")
    link = done.stdout.strip()
    assert link.startswith("https://mac.example.net/signin?code=")
    assert follow(daemon, link)[0].startswith("/#key=")
    without = run_headspace(daemon.home, "open", "--phone")
    assert (without.returncode, without.stdout) == (1, "")
    assert "public_url" in without.stderr


def test_agents_cannot_sign_in(daemon: RunningDaemon) -> None:
    """An agent could answer its own questions."""
    for mark in MARKERS:
        done = run_headspace(daemon.home, "open", **{mark: "1"})
        assert done.returncode == 1
        assert "cannot sign in" in done.stderr
