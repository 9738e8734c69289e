"""The reconciler: its interval, when it changes, and failing checks."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from claude_headspace.inputs.watch.reconcile import Cadence, Check, Mode, Polling, Reconciler, polling
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.testing import START, ManualClock

DEFAULT = Cadence()
FAST = Cadence(active=3600, silent=0.01, silent_after=300)
"""Silence is measured by the manual clock; only the pause between two checks takes real time."""


def reconciler_with(clock: ManualClock, cadence: Cadence = DEFAULT, *checks: Check) -> Reconciler:
    """A reconciler on a machine that never sleeps."""
    return Reconciler(cadence, clock, list(checks), lambda: clock() * 1_000)


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
def test_the_mode_depends_on_the_time_since_the_last_hook(silence: float, expected: Polling) -> None:
    """60 s while hooks arrive, 2 s after 300 s without one. A clock that was set back changes nothing."""
    assert polling(Cadence(), START + round(silence * SECOND), START) == expected


def test_without_any_hook_it_polls() -> None:
    """“Given no hook events received”: the mode depends on received hooks, not on the start of the daemon."""
    reconciler = reconciler_with(ManualClock())
    assert reconciler.last_event_at is None
    assert reconciler.polling == Polling(Mode.POLLING_FALLBACK, 2)


def test_a_hook_before_the_start_counts() -> None:
    """A restarted daemon continues with the mode that the last hook in the journal implies."""
    clock = ManualClock()
    reconciler = reconciler_with(clock)
    reconciler.hook_arrived(clock() - 100 * SECOND)
    assert reconciler.polling == Polling(Mode.HOOKS_ACTIVE, 60)
    clock.advance(200)
    assert reconciler.polling == Polling(Mode.POLLING_FALLBACK, 2)


def test_a_hook_ends_polling() -> None:
    """The long interval is used again at once."""
    clock = ManualClock()
    reconciler = reconciler_with(clock)
    clock.advance(1_000)
    reconciler.hook_arrived(clock())
    assert reconciler.polling == Polling(Mode.HOOKS_ACTIVE, 60)
    assert reconciler.last_event_at == clock()


class CountedCheck:
    """Counts how often it runs, and lets a test wait for the next run."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = asyncio.Event()

    async def __call__(self) -> None:
        self.count += 1
        self._changed.set()

    async def next_run(self) -> None:
        """Wait for the next run."""
        self._changed.clear()
        await asyncio.wait_for(self._changed.wait(), 60)


def run(
    play: Callable[[Reconciler, CountedCheck, ManualClock], Awaitable[None]], cadence: Cadence = FAST
) -> CountedCheck:
    """Run a reconciler during a test."""

    async def main() -> CountedCheck:
        clock, check = ManualClock(), CountedCheck()
        reconciler = reconciler_with(clock, cadence, check)
        reconciler.start()
        was_running = reconciler.running
        await asyncio.sleep(0)
        await play(reconciler, check, clock)
        await reconciler.stop()
        assert (was_running, reconciler.running) == (True, False)
        return check

    return asyncio.run(main())


def test_it_checks_often_while_no_hooks_arrive() -> None:
    """One check follows the other."""

    async def play(reconciler: Reconciler, check: CountedCheck, clock: ManualClock) -> None:
        clock.advance(301)
        reconciler.hook_arrived(clock() - 300 * SECOND)
        for _ in range(3):
            await check.next_run()
        assert reconciler.checked_at == clock()

    assert run(play).count >= 3


def test_it_checks_rarely_while_hooks_arrive() -> None:
    """The long interval applies; here it is an hour."""

    async def play(reconciler: Reconciler, check: CountedCheck, clock: ManualClock) -> None:
        reconciler.hook_arrived(clock())
        await asyncio.sleep(0)
        before = check.count
        for _ in range(50):
            reconciler.hook_arrived(clock.advance(1))
            await asyncio.sleep(0)
        assert check.count == before

    run(play)


def test_the_interval_follows_the_mode_at_once() -> None:
    """The reported interval is the one in use, whenever hooks stop or resume."""

    async def play(reconciler: Reconciler, check: CountedCheck, clock: ManualClock) -> None:
        for _ in range(20):
            clock.advance(301)
            reconciler.hook_arrived(clock() - 300 * SECOND)
            assert reconciler.polling == Polling(Mode.POLLING_FALLBACK, FAST.silent)
            await check.next_run()
            reconciler.hook_arrived(clock())
            assert reconciler.polling == Polling(Mode.HOOKS_ACTIVE, FAST.active)
            await asyncio.sleep(0)

    run(play)


def test_a_failing_check_does_not_stop_the_others() -> None:
    """All checks run. The failure is reported until a round succeeds."""
    counted = CountedCheck()
    broken = True

    async def fails() -> None:
        if broken:
            raise OSError("the process table is closed")

    async def main() -> tuple[str | None, str | None]:
        nonlocal broken
        reconciler = Reconciler(Cadence(), ManualClock(), [fails, counted])
        await reconciler.check()
        first = reconciler.failure
        broken = False
        await reconciler.check()
        return first, reconciler.failure

    assert asyncio.run(main()) == ("the process table is closed", None)
    assert counted.count == 2


def test_time_asleep_does_not_count() -> None:
    """No hook can arrive while the machine sleeps, so only the time awake counts."""
    clock, awake, modes = ManualClock(), ManualClock(), list[Mode]()
    reconciler = Reconciler(Cadence(), clock, [], lambda: awake() * 1_000)
    reconciler.hook_arrived(clock())
    clock.advance(8 * 3_600)
    modes.append(reconciler.polling.mode)
    awake.advance(300)
    modes.append(reconciler.polling.mode)
    reconciler.hook_arrived(clock.advance(1))
    modes.append(reconciler.polling.mode)
    assert modes == [Mode.HOOKS_ACTIVE, Mode.POLLING_FALLBACK, Mode.HOOKS_ACTIVE]
