"""A notification contains a link to answer: once, without signing in, and never by opening the page."""

import http.client
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from claude_headspace.surfaces.auth.answer_links import AnswerGrant, AnswerLinks
from tests.receivers import receiver
from tests.stories.asking_client import COMMAND, QUESTIONS, AskingClient, printed
from tests.support import LIMIT_SECONDS, Reply, running_daemon, wait_until

HOST = "headspace.example.net"


class Reader:
    """A person who received a message on another device."""

    def __init__(self, asking: AskingClient, to: str = "ann@example.org") -> None:
        self._port = asking.daemon.port
        links = AnswerLinks((asking.home / "secret").read_bytes(), f"https://{HOST}")
        [wait] = asking.held()
        self.path = "/answer/" + links.sign(AnswerGrant(wait["id"], to))

    def look(self, method: str = "GET") -> Reply:
        """Open the link, as people and previews do."""
        return self._send(method, None, {})

    def press(self, origin: str = f"https://{HOST}", **form: str) -> Reply:
        """Press a button of the page."""
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": origin}
        return self._send("POST", urlencode(form).encode(), headers)

    def _send(self, method: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=LIMIT_SECONDS)
        try:
            connection.request(method, self.path, body, {"Host": HOST, **headers})
            with connection.getresponse() as response:
                return Reply(response.status, response.headers, response.read())
        finally:
            connection.close()


@pytest.fixture
def asking(tmp_path: Path, client_pid: int) -> Iterator[AskingClient]:
    """A working client and a daemon with a public address."""
    with running_daemon(tmp_path, public_url=f"https://{HOST}") as daemon:
        yield AskingClient(tmp_path, daemon, client_pid)


@pytest.mark.parametrize(("more", "answers"), [("", True), ("brief = true\n", False)])
def test_a_message_contains_the_link(tmp_path: Path, client_pid: int, more: str, answers: bool) -> None:
    """The recipient of a question can answer with the link. A brief channel, which others may read, has no link."""
    with receiver() as phone:
        (tmp_path / "notify.toml").write_text(f'[channels.phone]\nurl = "{phone.url}"\n{more}')
        with running_daemon(tmp_path, public_url=f"https://{HOST}") as daemon:
            asking = AskingClient(tmp_path, daemon, client_pid)
            hook = asking.ask()
            (message,) = phone.wait(1)
            link = message["message"].splitlines()[-1]
            assert link.startswith(f"https://{HOST}/answer/") is answers
            if answers:
                reader = Reader(asking, "phone")
                assert link.endswith(reader.path)
                reader.press(do="allow")
            else:
                assert link == f"https://{HOST}/agents/{daemon.agents()[0]['id']}"
                asking.headspace("approve", daemon.agents()[0]["name"])
            assert printed(hook)


def test_a_link_answers_once_and_then_shows_the_author(asking: AskingClient) -> None:
    """Opening does nothing, a button answers, and later visitors see who answered."""
    hook = asking.ask()
    reader = Reader(asking)
    page = reader.look()
    assert (page.status, b"make test" in page.body, b"Allow" in page.body) == (200, True, True)
    reader.look("HEAD")
    assert len(asking.held()) == 1
    pressed = reader.press(do="allow")
    assert (pressed.status, pressed.headers["location"]) == (303, reader.path)
    assert printed(hook)["decision"] == {"behavior": "allow"}
    after = reader.look()
    assert (b"Allowed" in after.body, b"ann@example.org" in after.body, b"make test" in after.body) == (
        True,
        True,
        False,
    )
    assert reader.press(do="deny").status == 303
    (wait,) = asking.daemon.get("/api/waits?all=true").json()
    assert (wait["answered"]["by"], wait["answered"]["via"]) == ("ann@example.org", "link")
    assert asking.daemon.verified()


def test_questions_are_answered_on_the_page_behind_a_link(asking: AskingClient) -> None:
    """An incomplete answer is refused with the missing parts. A complete one is sent in the client's format."""
    hook = asking.ask("q1", QUESTIONS)
    reader = Reader(asking)
    missing = reader.press(do="answer", option0="Red")
    assert (missing.status, b"has no answer" in missing.body, b"/api/" in missing.body) == (400, True, False)
    reader.press(do="answer", option0="Red", own1="XS")
    assert printed(hook)["decision"]["updatedInput"]["answers"] == {"Which colour?": "Red", "Which sizes?": "XS"}


def test_a_link_allows_only_what_it_showed(asking: AskingClient) -> None:
    """While a part of the request is left out, only refusing works, even for a forged form."""
    long = {"tool_name": "Bash", "tool_input": {"command": "echo " + "x" * 100_000 + " && rm -rf /"}}
    hook = asking.ask("t1", long)
    reader = Reader(asking)
    assert b"rm -rf /" in reader.look().body
    refused = reader.press(do="allow")
    assert (refused.status, b"Show all of it before you allow it" in refused.body) == (400, True)
    assert len(asking.held()) == 1
    reader.path += "?all=true"
    assert b'value="allow">' in reader.look().body
    assert reader.press(do="allow").status == 303
    assert printed(hook)["decision"] == {"behavior": "allow"}


def test_a_link_is_valid_only_for_its_wait(asking: AskingClient) -> None:
    """It is not an API token, and a forged link is refused."""
    hook = asking.ask()
    reader = Reader(asking)
    token = reader.path.removeprefix("/answer/")
    headers = {"Authorization": f"Bearer {token}", "X-Headspace-Key": token}
    assert asking.daemon.send("GET", "/api/agents", headers=headers, scope=None).status == 401
    reader.path = reader.path[:-1] + ("0" if reader.path[-1] != "0" else "1")
    assert (reader.look().status, reader.press(do="allow").status) == (404, 404)
    assert len(asking.held()) == 1
    hook.terminate()
    hook.communicate()


def test_another_site_cannot_press_the_button(asking: AskingClient) -> None:
    """Only the form of the page is accepted."""
    hook = asking.ask()
    reader = Reader(asking)
    assert reader.press("https://evil.example", do="allow").status == 403
    assert reader.press("null", do="allow").status == 403
    assert len(asking.held()) == 1
    hook.terminate()
    hook.communicate()


def test_a_link_ends_with_its_wait(asking: AskingClient) -> None:
    """After an answer in the terminal the page accepts none and does not repeat the question."""
    hook = asking.ask()
    reader = Reader(asking)
    asking.hook("PostToolUse", tool_use_id="t1", tool_response={}, **COMMAND)
    assert printed(hook) is None
    wait_until(lambda: not asking.held(), "the end of the wait")
    page = reader.look().body
    assert (b"make test" in page, b"<form" in page) == (False, False)
    reader.press(do="allow")
    (wait,) = asking.daemon.get("/api/waits?all=true").json()
    assert wait["answered"] is None


def test_the_page_of_a_link_has_no_script_and_is_not_cached(asking: AskingClient) -> None:
    """It has one inline style and no external resources, and its form sends the origin."""
    hook = asking.ask()
    page = Reader(asking).look()
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "same-origin"
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert re.findall(rb"(?:src|href)=\"([^\"]*)\"", page.body) == [b"/answer.css"]
    hook.terminate()
    hook.communicate()


def test_hooks_under_the_public_name_need_a_token(asking: AskingClient) -> None:
    """A proxy on this machine forwards external requests, so requests under its name are not local."""
    connection = http.client.HTTPConnection("127.0.0.1", asking.daemon.port, timeout=LIMIT_SECONDS)
    body = b'{"session_id": "stranger", "cwd": "/"}'
    connection.request("POST", "/hook/session-start", body, {"Host": HOST, "Content-Type": "application/json"})
    with connection.getresponse() as response:
        assert response.status == 401
    connection.close()
