"""A client that is killed has crashed, whichever it is and whatever it does."""

import os
import signal
from pathlib import Path

import pytest

from tests.real_client.client import Terminals
from tests.real_client.installation import Installation
from tests.real_client.model import reply, text
from tests.real_client.program import Unavailable
from tests.real_clients.homes import HOMES
from tests.real_clients.opencode.home import PreparedHome
from tests.support import wait_until

HOMES_BY_CLIENT = HOMES | {"opencode": PreparedHome}


@pytest.mark.parametrize("client", HOMES_BY_CLIENT)
def test_an_idle_client_that_is_killed_has_crashed(tmp_path: Path, client: str) -> None:
    """The process that Headspace shows is the client itself, not the program that started it.

    A client that only loses that program ends by itself and says so, as if its terminal was closed.
    """
    try:
        home, opened = HOMES_BY_CLIENT[client](tmp_path / "home"), Terminals()
    except Unavailable as reason:
        pytest.skip(f"{client} cannot be run here: {reason}")
    script = {"Say hello": [reply(text("Hello."))]}
    with (
        opened as terminals,
        home.model(script) as model,
        Installation(tmp_path / "headspace", terminals, [home]) as installation,
    ):
        installation.start()
        installation.install()
        with_terminal = home.open_client(terminals, model.url)
        with_terminal.wait_until_ready()
        with_terminal.write("Say hello")
        with_terminal.send()

        def agent() -> dict[str, object]:
            return next(iter(installation.daemon.agents()), {})

        wait_until(lambda: agent().get("state") == "idle" and agent().get("command"), "the end of the turn")
        pid = agent()["pid"]
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: agent().get("state") == "ended", "the end")
        assert (agent()["end_reason"], agent()["crashed"]) == ("vanished", True)
