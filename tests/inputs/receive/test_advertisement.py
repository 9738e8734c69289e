"""The daemon's sign: up while it runs, kept up, gone when it stops."""

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from claude_headspace.clients.claude_code.wire import HOOKS
from claude_headspace.config import Paths, find_paths
from claude_headspace.inputs.receive.advertisement import Advertisement, ExpectedHooks
from claude_headspace.kernel.hooks import HookKind


async def until(condition: Callable[[], object]) -> None:
    """Ask until it is so, within a limit that only a hang reaches."""
    for _ in range(60_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise TimeoutError


@pytest.fixture
def places(tmp_path: Path) -> Paths:
    """A home."""
    return find_paths({"HEADSPACE_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("host", "line"),
    [
        ("127.0.0.1", "127.0.0.1 5055 {pid}\n"),
        ("0.0.0.0", "127.0.0.1 5055 {pid}\n"),  # noqa: S104  # only written down
        ("::", "::1 5055 {pid}\n"),
    ],
)
def test_it_says_where_and_who(places: Paths, host: str, line: str) -> None:
    """One line: how to reach it, and its process; for its user alone."""
    Advertisement(places, (host, 5055), ()).update()
    assert places.address_file.read_text() == line.format(pid=os.getpid())
    assert stat.S_IMODE(places.address_file.stat().st_mode) == 0o600
    assert list(places.state.iterdir()) == [places.address_file]


def test_it_says_what_it_wants_to_be_asked(places: Paths) -> None:
    """There is a file for each event that waits for an answer, and none for the others, whoever was here before."""
    Advertisement(places, ("127.0.0.1", 5055), ("Stop", "PreToolUse", "../oops")).update()
    assert asked(places) == {"Stop", "PreToolUse"}
    Advertisement(places, ("127.0.0.1", 5055), ("Stop", "NewEvent")).update()
    assert asked(places) == {"Stop", "NewEvent"}
    Advertisement(places, ("127.0.0.1", 5055), ("*",)).update()
    assert asked(places) == set(HOOKS)
    Advertisement(places, ("127.0.0.1", 5055), ()).update()
    assert asked(places) == set()


def asked(places: Paths) -> set[str]:
    """The events that are asked."""
    return {path.name for path in places.asked_hooks_dir.iterdir()}


def test_what_is_wanted_for_a_while_is_asked_for_a_while(places: Paths) -> None:
    """Somebody may want to answer more for some time; what is held longer stays so."""
    expected = ExpectedHooks()
    presence = Advertisement(places, ("127.0.0.1", 5055), ("Stop",), {"PermissionRequest": 65}, expected)
    expected.declare("somebody", frozenset({HookKind.BEFORE_TOOL, HookKind.PERMISSION}))
    presence.update()
    assert asked(places) == {"Stop", "PreToolUse", "PermissionRequest"}
    assert (places.asked_hooks_dir / "PermissionRequest").read_text() == "65\n"
    expected.declare("somebody", frozenset())
    presence.update()
    assert asked(places) == {"Stop", "PermissionRequest"}


def test_it_is_kept_up(places: Paths) -> None:
    """A sign that was taken away or overwritten comes back, and the mark of one who does not answer goes."""
    here = Advertisement(places, ("127.0.0.1", 5055), ())
    here.update()
    told = places.address_file.read_text()
    places.address_file.write_text("of another one")
    places.no_answer_file.touch()
    here.update()
    assert places.address_file.read_text() == told
    assert not places.no_answer_file.exists()
    places.address_file.unlink()
    here.update()
    assert places.address_file.read_text() == told


def test_it_goes_with_the_daemon(places: Paths) -> None:
    """After the daemon has stopped nobody is sent to its address, and nobody asks."""

    async def story() -> None:
        here = Advertisement(places, ("127.0.0.1", 5055), ("Stop",))
        here.start()
        await until(places.address_file.exists)
        assert asked(places) == {"Stop"}
        await here.stop()

    asyncio.run(story())
    assert not places.address_file.exists()
    assert asked(places) == set()


def test_a_disk_that_cannot_be_written_does_not_stop_it(tmp_path: Path) -> None:
    """Where no sign can be put up the daemon runs all the same."""

    async def story() -> None:
        here = Advertisement(find_paths({"HEADSPACE_HOME": str(tmp_path / "nowhere")}), ("127.0.0.1", 5055), ("Stop",))
        here.start()
        await asyncio.sleep(0.01)
        await here.stop()

    asyncio.run(story())
