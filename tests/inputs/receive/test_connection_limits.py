"""The limits of connections: which one is closed, and what does not count."""

import asyncio
from collections.abc import Callable

import pytest

from claude_headspace.inputs.receive import connection_limits
from claude_headspace.inputs.receive.connection_limits import Connection, ConnectionGuard, ConnectionLimits


def run(limits: ConnectionLimits, test: Callable[[ConnectionGuard, list[str]], None]) -> None:
    """Run a test in an event loop, with a guard and the list of closed connections."""

    async def main() -> None:
        test(ConnectionGuard(limits), [])

    asyncio.run(main())


def connection(name: str, closed: list[str], peer: str = "a", *, paused: bool = False) -> Connection:
    """A connection that records its end."""
    return Connection(peer, lambda reason: closed.append(f"{name}: {reason}"), lambda: paused)


def test_busy_connections_are_never_closed() -> None:
    """If all are busy, a new one is refused."""

    def test(guard: ConnectionGuard, closed: list[str]) -> None:
        held = [connection(name, closed) for name in "ab"]
        for each in held:
            assert guard.add(each)
            each.complete_request()
        assert not guard.add(connection("c", closed))
        assert closed == []
        held[1].wait()
        assert guard.add(connection("d", closed))
        assert closed == ["b: too many"]

    run(ConnectionLimits(max_connections=2), test)


def test_a_reply_before_the_end_of_a_request_leaves_the_connection_idle() -> None:
    """It can be closed; and a second request that is complete before the first reply keeps it busy."""
    each = connection("a", [])
    each.begin_request()
    each.wait()
    each.complete_request()
    assert not each.is_busy
    each.complete_request()
    each.complete_request()
    each.wait()
    assert each.is_busy


def test_the_peer_with_too_many_loses_its_own() -> None:
    """Also if another peer has waited longer."""

    def test(guard: ConnectionGuard, closed: list[str]) -> None:
        for name, peer in (("old", "b"), ("one", "a"), ("two", "a"), ("three", "a")):
            assert guard.add(connection(name, closed, peer))
        assert closed == ["one: too many"]

    run(ConnectionLimits(max_per_peer=2), test)


@pytest.mark.parametrize(("paused", "expected"), [(True, []), (False, ["a: slow"])])
def test_time_in_which_the_daemon_does_not_read_does_not_count(paused: bool, expected: list[str]) -> None:
    """A large body that has to wait for others is not slow."""

    async def main() -> None:
        closed = list[str]()
        guard = ConnectionGuard(ConnectionLimits(request_seconds=0.2))
        each = connection("a", closed, paused=paused)
        guard.add(each)
        each.begin_request()
        await asyncio.sleep(2.2 * connection_limits.SWEEP_SECONDS)
        assert closed == expected

    asyncio.run(main())


def test_the_memory_of_a_complete_request_is_released() -> None:
    """Only what is still buffered counts, and the request that arrives is not the one that is dropped."""

    def test(guard: ConnectionGuard, closed: list[str]) -> None:
        first, second = connection("first", closed), connection("second", closed)
        for each in (first, second):
            guard.add(each)
            each.begin_request()
            guard.buffer(each, 60)
        assert closed == ["first: too much memory"]
        guard.buffer(second, 90)
        guard.release(second)
        guard.buffer(second, 90)
        assert len(closed) == 1

    run(ConnectionLimits(max_buffered_bytes=100), test)
