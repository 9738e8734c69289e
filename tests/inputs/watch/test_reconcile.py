"""Looking for oneself: how often, when it changes, and that one source which fails does not blind the others."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from claude_headspace.inputs.watch.reconcile import Cadence, Mode, Polling, Reconciler, awake_clock, polling
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.testing import START, ManualClock

FAST = Cadence(active=3600, silent=0.01, silent_after=300)
"""Real silence is told by the clock in hand; only the pause between two looks is lived through."""


@pytest.mark.parametrize(
    ("silence", "expected"),
    [
        (0, Polling(Mode.HOOKS_ACTIVE, 60)),
        (59, Polling(Mode.HOOKS_ACTIVE, 60)),
        (299.999, Polling(Mode.HOOKS_ACTIVE, 60)),
        (300, Polling(Mode.POLLING_FALLBACK, 2)),
        (86_400, Polling(Mode.POLLING_FALLBACK, 2)),
        (-5, Polling(Mode.HOOKS_ACTIVE, 60)),
    ],
)
def test_the_mode_follows_from_the_silence(silence: float, expected: Polling) -> None:
    """Sixty seconds while hooks arrive, two after three hundred of silence; a clock set back changes nothing."""
    assert polling(Cadence(), START + round(silence * SECOND), START) == expected


def test_a_daemon_that_never_heard_a_hook_counts_from_its_start() -> None:
    """Silence begins when somebody listens."""
    clock = ManualClock()
    reconciler = Reconciler(Cadence(), clock, [])
    assert reconciler.polling.mode is Mode.HOOKS_ACTIVE
    assert reconciler.last_event_at is None
    clock.advance(300)
    assert reconciler.polling == Polling(Mode.POLLING_FALLBACK, 2)


def test_a_hook_ends_the_silence() -> None:
    """What is heard brings the long pause back at once."""
    clock = ManualClock()
    reconciler = Reconciler(Cadence(), clock, [])
    clock.advance(1_000)
    reconciler.set_last_hook(clock())
    assert reconciler.polling == Polling(Mode.HOOKS_ACTIVE, 60)
    assert reconciler.last_event_at == clock()


class Looks:
    """Counts the looks, and lets a test wait for them."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = asyncio.Event()

    async def __call__(self) -> None:
        self.count += 1
        self._changed.set()

    async def more(self) -> None:
        """Wait for the next look."""
        self._changed.clear()
        await asyncio.wait_for(self._changed.wait(), 60)


def run(play: Callable[[Reconciler, Looks, ManualClock], Awaitable[None]], cadence: Cadence = FAST) -> Looks:
    """Play with a running reconciler."""

    async def main() -> Looks:
        clock, looks = ManualClock(), Looks()
        reconciler = Reconciler(cadence, clock, [looks])
        reconciler.start()
        ran = reconciler.running
        await asyncio.sleep(0)
        await play(reconciler, looks, clock)
        await reconciler.stop()
        assert (ran, reconciler.running) == (True, False)
        return looks

    return asyncio.run(main())


def test_it_looks_again_and_again_while_hooks_are_silent() -> None:
    """In silence one look follows the other."""

    async def play(reconciler: Reconciler, looks: Looks, clock: ManualClock) -> None:
        clock.advance(301)
        reconciler.set_last_hook(clock() - 301 * SECOND)
        for _ in range(3):
            await looks.more()
        assert reconciler.checked_at == clock()

    assert run(play).count >= 3


def test_it_hardly_looks_while_hooks_arrive() -> None:
    """While hooks carry the news the long pause holds: an hour is not over within this test."""

    async def play(reconciler: Reconciler, looks: Looks, clock: ManualClock) -> None:
        for _ in range(50):
            reconciler.set_last_hook(clock.advance(1))
            await asyncio.sleep(0)
        assert looks.count == 0
        assert reconciler.checked_at is None

    run(play)


def test_resuming_and_falling_silent_change_the_pause_in_use() -> None:
    """The interval that is reported is the one that is waited for, whenever it changes."""

    async def play(reconciler: Reconciler, looks: Looks, clock: ManualClock) -> None:
        for _ in range(20):
            clock.advance(301)
            reconciler.set_last_hook(clock() - 301 * SECOND)
            assert reconciler.polling == Polling(Mode.POLLING_FALLBACK, FAST.silent)
            await looks.more()
            reconciler.set_last_hook(clock())
            assert reconciler.polling == Polling(Mode.HOOKS_ACTIVE, FAST.active)
            await asyncio.sleep(0)

    run(play)


def test_one_source_that_fails_does_not_blind_the_others() -> None:
    """All sources are asked; the failure is told until a look goes well."""
    calls = Looks()
    broken = True

    async def fails() -> None:
        if broken:
            raise OSError("the process table is closed")

    async def main() -> tuple[str | None, str | None]:
        nonlocal broken
        reconciler = Reconciler(Cadence(), ManualClock(), [fails, calls])
        await reconciler.check()
        first = reconciler.failure
        broken = False
        await reconciler.check()
        return first, reconciler.failure

    assert asyncio.run(main()) == ("the process table is closed", None)
    assert calls.count == 2


def test_sleep_is_no_silence() -> None:
    """While the machine slept nothing could be heard: only the time that it was awake counts."""
    clock, awake, modes = ManualClock(), ManualClock(), list[Mode]()
    reconciler = Reconciler(Cadence(), clock, [], awake)
    reconciler.set_last_hook(clock())
    clock.advance(8 * 3_600)
    modes.append(reconciler.polling.mode)
    awake.advance(300)
    modes.append(reconciler.polling.mode)
    reconciler.set_last_hook(clock.advance(1))
    modes.append(reconciler.polling.mode)
    assert modes == [Mode.HOOKS_ACTIVE, Mode.POLLING_FALLBACK, Mode.HOOKS_ACTIVE]


def test_the_awake_clock_goes_on_from_now() -> None:
    """It does not notice when the other one is set."""
    clock = ManualClock()
    awake = awake_clock(clock)
    before = awake()
    clock.advance(3_600)
    assert START <= before <= awake() < START + 60 * SECOND
