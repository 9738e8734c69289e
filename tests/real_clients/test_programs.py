"""The real clients run here, with their scripted models: without this, the other tests of this folder prove nothing."""

from pathlib import Path

import pytest

from tests.real_client.client import Terminals
from tests.real_client.model import reply, text
from tests.real_client.program import Unavailable
from tests.real_clients.homes import HOMES
from tests.support import wait_until


@pytest.mark.parametrize("name", HOMES)
def test_the_client_talks_to_its_model(name: str, tmp_path: Path) -> None:
    """A prompt reaches the scripted model, and its reply is on the screen."""
    try:
        home, terminals = HOMES[name](tmp_path / "home"), Terminals()
    except Unavailable as reason:
        pytest.skip(f"{name} cannot be run here: {reason}")
    with home.model({"Fix the login": [reply(text("I fixed the login."))]}) as model, terminals:
        client = home.open_client(terminals, model.url)
        try:
            client.wait_until_ready()
            client.write("Fix the login")
            client.send()
            wait_until(lambda: "I fixed the login." in client.screen, "the reply of the model")
        finally:
            client.close()
            home.end_processes()
