"""`open`: a link for people, that works once."""

import json
import urllib.parse

from claude_headspace.surfaces.cli.open import AGENT_VARIABLES
from tests.support import RunningDaemon
from tests.surfaces.cli.conftest import Headspace, run_headspace


def follow(daemon: RunningDaemon, link: str) -> tuple[str, str]:
    """Where a link leads, and the cookie that it sets."""
    parts = urllib.parse.urlsplit(link)
    reply = daemon.send("GET", f"{parts.path}?{parts.query}")
    assert reply.status == 303
    return reply.headers["location"], reply.headers.get("set-cookie", "")


def test_a_link_is_printed_where_there_is_no_screen(daemon: RunningDaemon) -> None:
    """It leads to the page with a cookie and its key, once."""
    done = run_headspace(daemon.home, "open")
    assert (done.returncode, done.stderr) == (0, "")
    link = done.stdout.strip()
    assert link.startswith(f"{daemon.url}/signin?code=")
    place, cookie = follow(daemon, link)
    assert place.startswith("/#key=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert follow(daemon, link) == ("/?signin=expired", "")


def test_a_link_in_json(headspace: Headspace) -> None:
    """Programs get the link and how long it is good for."""
    told = json.loads(headspace("open", "--json").stdout)
    assert set(told) == {"url", "expires_in_seconds"}


def test_an_agent_gets_no_link(daemon: RunningDaemon) -> None:
    """Whoever runs inside Claude Code could answer its own questions with it."""
    for mark in AGENT_VARIABLES:
        done = run_headspace(daemon.home, "open", **{mark: "1"})
        assert done.returncode == 1
        assert "cannot sign in" in done.stderr
