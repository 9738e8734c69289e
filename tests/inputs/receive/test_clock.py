"""A clock that never goes back, whatever the machine's does."""

import asyncio
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.inputs.receive.clock import MAX_FUTURE, SteadyClock
from claude_headspace.inputs.receive.receiver import HookReceiver
from claude_headspace.kernel.envelope import SECOND, Observations
from claude_headspace.testing import START, ManualClock
from tests.engines import engine_over
from tests.journals import TemporaryJournal

HOUR = 3600


class Machine:
    """A machine whose clock is set by hand, and on which time passes all the same."""

    def __init__(self) -> None:
        self.wall = ManualClock()
        self._passing = ManualClock(0)

    def live(self, seconds: float) -> None:
        """Let time pass."""
        self.wall.advance(seconds)
        self._passing.advance(seconds)

    def steady(self, noticed: Callable[[str], None] = lambda _what: None) -> SteadyClock:
        """Its clock, made steady."""
        return SteadyClock(self.wall, noticed, self._passing)


def test_it_is_the_machines_clock_as_long_as_that_runs() -> None:
    """Forward, by little or much, it simply follows."""
    machine = Machine()
    clock = machine.steady()
    for seconds in (0, 1, 0.5, 10 * HOUR):
        machine.live(seconds)
        assert clock() == machine.wall.now == clock()
    assert clock.correct(START) == START


def test_it_stays_when_the_machines_is_set_back() -> None:
    """It goes on from where it was, at half the speed, until the other has caught up."""
    machine, noticed = Machine(), list[str]()
    clock = machine.steady(noticed.append)
    before = clock()
    machine.wall.advance(-HOUR)
    assert clock() == before
    assert noticed == ["the machine's clock was set back by 3600 s"]
    machine.live(60)
    assert clock() == before + 30 * SECOND
    machine.live(2 * HOUR)
    assert clock() == machine.wall.now


@given(st.lists(st.tuples(st.integers(-10_000, 10_000), st.floats(0, 100)), max_size=50))
def test_it_never_goes_back(steps: list[tuple[int, float]]) -> None:
    """Whatever is done to the machine's clock."""
    machine = Machine()
    clock, last = machine.steady(), START
    for jump, lived in steps:
        machine.wall.advance(jump)
        machine.live(lived)
        assert clock() >= last
        last = clock()
        assert last >= machine.wall.now


def test_it_goes_on_where_the_journal_ended() -> None:
    """A daemon that starts after the clock was set back begins after what is stored; a far future is not believed."""
    clock = Machine().steady()
    clock.continue_after(START - SECOND)
    clock.continue_after(START + MAX_FUTURE + SECOND)
    assert clock() == START
    clock.continue_after(START + HOUR * SECOND)
    assert clock() == START + HOUR * SECOND


def test_agents_move_on_after_the_clock_was_set_back() -> None:
    """Hooks that fire an hour `before` what is known are news all the same, and those from before the jump are not."""
    machine = Machine()
    clock, wall = machine.steady(), machine.wall

    async def nowhere(_cwd: str | None) -> Observations:
        return Observations()

    async def story() -> list[str]:
        receiver = HookReceiver("laptop", clock, nowhere, correct_time=clock.correct)
        engine = engine_over(TemporaryJournal(), lambda: "agent-1")
        engine.start()
        states = []

        async def fire(event: str, fields: bytes = b"") -> None:
            machine.live(1)
            body = b'{"session_id": "one", "cwd": "/app"' + fields + b"}"
            fired = f"{(wall.now - SECOND // 100) / SECOND:.6f}".encode()
            received = await receiver.receive(event, body, [(b"x-headspace-fired-at", fired)])
            states.append((await engine.submit(received.envelope, event=received.event)).agent.state.value)

        await fire("session-start")
        await fire("user-prompt-submit", b', "prompt": "Go."')
        await fire("stop", b', "last_assistant_message": "I am done."')
        wall.advance(-HOUR)
        await fire("user-prompt-submit", b', "prompt": "Once more."')
        await fire("stop", b', "last_assistant_message": "Shall I go on?"')
        await engine.stop()
        return states

    assert asyncio.run(story()) == ["idle", "working", "idle", "working", "waiting"]
