"""The page answers the real Codex while its own dialog stays usable, and shows the complete request before."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import Client, Terminals
from tests.real_client.installation import Installation
from tests.real_client.model import Script, reply, text
from tests.real_client.program import Unavailable
from tests.real_clients.codex.daemon_scenarios import asking
from tests.real_clients.homes import CodexDaemonHome, CodexHome
from tests.real_clients.models import patch
from tests.support import environment, wait_until
from tests.web.chromium import CHROMIUM, FLAGS

Opened = tuple[Installation, Client, CodexHome]


@contextmanager
def codex(folder: Path, script: Script, make_home: type[CodexHome]) -> Iterator[Opened]:
    """A running Headspace and a Codex that is ready."""
    try:
        home, opened = make_home(folder / "home"), Terminals()
    except Unavailable as reason:
        pytest.skip(f"Codex cannot be run here: {reason}")
    with (
        opened as terminals,
        home.model(script) as model,
        Installation(folder / "headspace", terminals, [home]) as installation,
    ):
        installation.start()
        installation.install()
        client = home.open_client(terminals, model.url)
        try:
            client.wait_until_ready()
            yield installation, client, home
        finally:
            client.close()
            home.end_processes()


def say(client: Client, words: str) -> None:
    """Send a prompt."""
    client.write(words)
    client.send()


def headspace(installation: Installation, *arguments: str) -> str:
    """What a `headspace` command prints."""
    command = [sys.executable, "-m", "claude_headspace", *arguments]
    env = environment(installation.root)
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=True)
    return done.stdout


def waits(installation: Installation) -> list[dict[str, Any]]:
    """The open waits."""
    found: list[dict[str, Any]] = installation.daemon.get("/api/waits").json()
    return found


def test_the_page_answers_while_the_dialog_is_open(tmp_path: Path) -> None:
    """It shows the whole command and what can be granted. The dialog closes, and the command runs."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    script = {"Make it": [reply(asking("touch made")), reply(text("I made it."))]}
    with codex(tmp_path, script, CodexDaemonHome) as (installation, client, home):
        say(client, "Make it")
        wait_until(lambda: any(each["held_until"] for each in waits(installation)), "a wait that can be answered")
        wait_until(client.options, "the dialog in the terminal")
        [wait] = waits(installation)
        shown = installation.daemon.get(f"/api/waits/{wait['id']}").json()
        assert (shown["request"]["text"], shown["request"]["complete"]) == ("touch made", True)
        assert [each["words"] for each in shown["suggestions"]] == ["Allow commands that start with touch made"]
        with playwright.sync_playwright() as started:
            browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_page()
            path = installation.daemon.send("POST", "/api/admin/signin", {}, scope="admin").json()["path"]
            page.goto(installation.daemon.url + path)
            page.goto(installation.daemon.url + "/waits")
            page.get_by_role("button", name="Allow", exact=True).click()
            wait_until((home.project / "made").exists, "the file of the command")
            browser.close()
        wait_until(lambda: not client.options(), "the dialog to close")
        wait_until(lambda: "I made it." in client.screen, "the end of the turn")
        [answered] = installation.daemon.get("/api/waits?all=true").json()
        assert (answered["answered"]["via"], answered["undelivered"]) == ("web", None)


def test_a_patch_of_several_files_is_shown_completely(tmp_path: Path) -> None:
    """The API, `show` and `approve` show every file with its diff, and the grant names the files."""
    text_of_patch = (
        "*** Begin Patch\n*** Update File: notes.txt\n@@\n-hello\n+goodbye\n"
        "*** Add File: made\n+one\n*** Delete File: old.txt\n*** End Patch\n"
    )
    script = {"Make it": [reply(patch(text_of_patch)), reply(text("I made it."))]}
    with codex(tmp_path, script, CodexDaemonHome) as (installation, client, home):
        (home.project / "notes.txt").write_text("hello\n")
        (home.project / "old.txt").write_text("old\n")
        say(client, "Make it")
        wait_until(lambda: any(each["held_until"] for each in waits(installation)), "a wait that can be answered")
        [wait] = waits(installation)
        shown = installation.daemon.get(f"/api/waits/{wait['id']}").json()
        request, [grant] = shown["request"], shown["suggestions"]
        assert (request["text"], request["complete"]) == ("apply_patch notes.txt, made, old.txt", True)
        assert request["paths"] == ["notes.txt", "made", "old.txt"]
        assert grant["words"] == "Allow further changes of notes.txt, made, old.txt without asking"
        for line in ("-hello", "+goodbye", "+++ b/made", "+one", "--- a/old.txt", "-old"):
            assert line in request["diff"].splitlines()
        [agent] = installation.daemon.agents()
        printed = headspace(installation, "approve", agent["name"], "--yes")
        for line in ("apply_patch notes.txt, made, old.txt", "-hello", "+goodbye", "+one", "-old"):
            assert line in printed
        wait_until(lambda: not (home.project / "old.txt").exists(), "the patch")


def test_without_the_daemon_only_the_terminal_answers(tmp_path: Path) -> None:
    """There is no socket: the API refuses an answer, and says where to give it."""
    script = {"Make it": [reply(asking("touch made")), reply(text("I made it."))]}
    with codex(tmp_path, script, CodexHome) as (installation, client, home):
        say(client, "Make it")
        wait_until(client.options, "the dialog in the terminal")
        [wait] = wait_until(lambda: waits(installation), "the wait")
        path = f"/api/waits/{wait['id']}/answer"
        refused = installation.daemon.send("POST", path, {"decision": "allow"}, scope="act")
        assert (refused.status, "terminal" in refused.error["message"]) == (409, True), refused.body
        client.press("y")
        wait_until((home.project / "made").exists, "the file of the command")
