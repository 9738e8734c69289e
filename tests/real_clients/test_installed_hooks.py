"""The real clients run the hooks that `headspace install` registers, and Codex only after a person accepted them."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace.clients.hooks import kind_of
from claude_headspace.clients.installation import INSTALLERS
from claude_headspace.clients.settings_change import install, uninstall
from claude_headspace.kernel.hooks import HookKind
from tests.real_client.client import Client, Terminals
from tests.real_client.model import reply, text
from tests.real_client.program import Unavailable
from tests.real_clients.homes import HOMES, OtherHome
from tests.support import wait_until

PROMPT, REPLY = "Fix the login", "I fixed the login."
TRUST_ALL, WITHOUT_TRUST = "2", "3"
"""The options of Codex's dialog."""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The state directory of a Headspace whose daemon does not run."""
    (tmp_path / "state" / "spool").mkdir(parents=True)
    return tmp_path / "state"


def new_home(name: str, tmp_path: Path) -> OtherHome:
    """A home of a client."""
    try:
        return HOMES[name](tmp_path / "home")
    except Unavailable as reason:
        pytest.skip(f"{name} cannot be run here: {reason}")


@contextlib.contextmanager
def running(home: OtherHome, state: Path, *, trusted: bool) -> Iterator[Client]:
    """A client that was started after its hooks were installed."""
    with home.model({PROMPT: [reply(text(REPLY))]}) as model, Terminals() as terminals:
        home.prepare(model.url)
        install(INSTALLERS[home.client_name].plan_install(home.config_dir, trusted=trusted), state, "hs_ingest_1")
        client = home.open_client(terminals, model.url)
        try:
            yield client
        finally:
            client.close()
            home.end_processes()


def take_turn(client: Client) -> None:
    """One prompt and its reply."""
    client.wait_until_ready()
    client.write(PROMPT)
    client.send()
    wait_until(lambda: REPLY in client.screen, "the reply of the model")


def events(state: Path) -> list[tuple[str, str]]:
    """The client and the name of each reported event, in order."""
    notes = [json.loads(path.read_bytes().split(b"\n")[0]) for path in sorted((state / "spool").glob("*.json"))]
    return [(each["client"], each["event"]) for each in notes]


@pytest.mark.parametrize("name", HOMES)
def test_the_client_runs_the_installed_hooks(name: str, tmp_path: Path, state: Path) -> None:
    """They report a turn under the name of the client, and a removal leaves nothing of them."""
    home = new_home(name, tmp_path)
    with running(home, state, trusted=True) as client:
        take_turn(client)
        wait_until(lambda: HookKind.PROMPT in kinds(state), "the hook of the prompt")
    assert {client for client, _ in events(state)} == {name}
    installer = INSTALLERS[name]
    assert list(installer.problems(home.config_dir, state)) == []
    uninstall(installer.plan_uninstall(home.config_dir))
    assert not installer.has_hooks(home.config_dir)
    assert not installer.files(home.config_dir).hooks_dir.exists()


def kinds(state: Path) -> set[HookKind | None]:
    """The kinds of the reported events."""
    return {kind_of(client, event) for client, event in events(state)}


@pytest.mark.parametrize("option", [TRUST_ALL, WITHOUT_TRUST])
def test_codex_asks_before_it_runs_new_hooks(tmp_path: Path, state: Path, option: str) -> None:
    """What the person chooses there is what Headspace reports."""
    home = new_home("codex", tmp_path)
    installer, is_trusted = INSTALLERS["codex"], option == TRUST_ALL
    with running(home, state, trusted=False) as client:
        wait_until(lambda: "Hooks need review" in client.screen, "the review of the hooks")
        [problem] = installer.problems(home.config_dir, state)
        assert problem.is_review
        client.press(option)
        client.press("Enter")
        wait_until(lambda: "Hooks need review" not in client.screen, "the end of the review")
        take_turn(client)
        if is_trusted:
            wait_until(lambda: ("codex", "Stop") in events(state), "the hook at the end of the turn")
    assert bool(events(state)) == is_trusted
    assert installer.registration(home.config_dir, state).is_active == is_trusted
    uninstall(installer.plan_uninstall(home.config_dir))
    assert "trusted_hash" not in (home.config_dir / "config.toml").read_text()
