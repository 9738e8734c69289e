"""A clock that never goes back, even if the system clock does."""

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
    """A machine whose system clock can be set, while time passes independently."""

    def __init__(self) -> None:
        self.wall = ManualClock()
        self._monotonic = ManualClock(0)

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self.wall.advance(seconds)
        self._monotonic.advance(seconds)

    def steady_clock(self, on_jump: Callable[[str], None] = lambda _message: None) -> SteadyClock:
        """A steady clock of this machine."""
        return SteadyClock(on_jump, lambda: self.wall() * 1_000, lambda: self._monotonic() * 1_000)


def test_it_follows_the_system_clock() -> None:
    """As long as that does not go back."""
    machine = Machine()
    clock = machine.steady_clock()
    for seconds in (0, 1, 0.5, 10 * HOUR):
        machine.pass_time(seconds)
        assert clock() == machine.wall.now == clock()
    assert clock.correct(START) == START


def test_it_slows_down_after_the_system_clock_is_set_back() -> None:
    """It continues at half speed until the system clock has caught up."""
    machine, messages = Machine(), list[str]()
    clock = machine.steady_clock(messages.append)
    before = clock()
    machine.wall.advance(-HOUR)
    assert clock() == before
    assert messages == ["the system clock was set back by 3600 s"]
    machine.pass_time(60)
    assert clock() == before + 30 * SECOND
    machine.pass_time(2 * HOUR)
    assert clock() == machine.wall.now


@given(st.lists(st.tuples(st.integers(-10_000, 10_000), st.floats(0, 100)), max_size=50))
def test_it_never_goes_back(steps: list[tuple[int, float]]) -> None:
    """Whatever happens to the system clock."""
    machine = Machine()
    clock, last = machine.steady_clock(), START
    for jump, passed in steps:
        machine.wall.advance(jump)
        machine.pass_time(passed)
        assert clock() >= last
        last = clock()
        assert last >= machine.wall.now


def test_it_continues_after_the_last_stored_event() -> None:
    """Also if the clock was set back before the daemon started. A time in the far future is ignored."""
    clock = Machine().steady_clock()
    clock.continue_after(START - SECOND)
    clock.continue_after(START + MAX_FUTURE + SECOND)
    assert clock() == START
    clock.continue_after(START + HOUR * SECOND)
    assert clock() == START + HOUR * SECOND


def test_agents_change_state_after_the_clock_was_set_back() -> None:
    """Hooks whose times are an hour before those of stored hooks still count as newer."""
    machine = Machine()
    clock, wall = machine.steady_clock(), machine.wall

    async def nowhere(_cwd: str | None) -> Observations:
        return Observations()

    async def story() -> list[str]:
        receiver = HookReceiver("laptop", clock, nowhere, correct_time=clock.correct)
        engine = engine_over(TemporaryJournal(), lambda: "agent-1")
        engine.start()
        states = []

        async def fire(event: str, fields: bytes = b"") -> None:
            machine.pass_time(1)
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
