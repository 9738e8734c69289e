"""Checks for what no hook reports: once a minute while hooks arrive, every two seconds if they stop.

A check reads all sources: session registry, transcripts, process table. `polling` decides on the interval, so the
reported interval is the one in use. Time in which the machine was asleep does not count as time without hooks.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from enum import StrEnum

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.ports import Clock

log = structlog.get_logger(__name__)

Check = Callable[[], Awaitable[None]]


class Mode(StrEnum):
    """Whether hooks arrive, or Headspace has to poll."""

    HOOKS_ACTIVE = "hooks_active"
    POLLING_FALLBACK = "polling_fallback"


class Polling(msgspec.Struct, frozen=True):
    """The mode in use, and the pause between two checks."""

    mode: Mode
    interval_seconds: float


class Cadence(msgspec.Struct, frozen=True):
    """How often to check with and without hooks, and when hooks count as silent. All in seconds."""

    active: float = 60.0
    silent: float = 2.0
    silent_after: float = 300.0


def polling(cadence: Cadence, now: Micros, last_hook_at: Micros | None) -> Polling:
    """The mode to use. It depends on received hooks alone: without any, Headspace polls."""
    if last_hook_at is None or now - last_hook_at >= cadence.silent_after * SECOND:
        return Polling(Mode.POLLING_FALLBACK, cadence.silent)
    return Polling(Mode.HOOKS_ACTIVE, cadence.active)


class Reconciler(Loop):
    """Runs the checks. `hook_arrived` must be called for every hook; `awake_ns` does not count while asleep."""

    def __init__(
        self, cadence: Cadence, clock: Clock, checks: list[Check], awake_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        super().__init__()
        self._cadence = cadence
        self._clock = clock
        self._awake_ns = awake_ns
        self._checks = checks
        self._last_hook: Micros | None = None
        self._mode_changed = asyncio.Event()
        self.started_at = clock()
        self.last_event_at: Micros | None = None
        self.checked_at: Micros | None = None

    @property
    def polling(self) -> Polling:
        """The mode and the interval in use."""
        return polling(self._cadence, self._awake_ns() // 1_000, self._last_hook)

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, why it fails, and the interval in use."""
        return self.running, self.failure, f"every {self.polling.interval_seconds:g} s"

    def hook_arrived(self, at: Micros) -> None:
        """Record a hook of this time, also from before the start. Changes the interval immediately. No-op if older."""
        if self.last_event_at is not None and at <= self.last_event_at:
            return
        now = self._awake_ns() // 1_000
        was_silent = polling(self._cadence, now, self._last_hook).mode is Mode.POLLING_FALLBACK
        self._last_hook, self.last_event_at = now - (self._clock() - at), at
        if was_silent:
            self._mode_changed.set()

    async def _run(self) -> None:
        while True:
            await self._pause()
            await self.check()

    async def _pause(self) -> None:
        """Wait for the interval in use. Start again with the new interval if the mode changes."""
        while True:
            self._mode_changed.clear()
            until_silent, interval = self._seconds_until_silent(), self.polling.interval_seconds
            pause = min(interval, until_silent + self._cadence.silent) if until_silent > 0 else interval
            try:
                async with asyncio.timeout(pause):  # wait_for of Python 3.11 may swallow the cancellation of `stop`
                    await self._mode_changed.wait()
            except TimeoutError:
                return

    def _seconds_until_silent(self) -> float:
        if self._last_hook is None:
            return 0
        return self._last_hook / SECOND + self._cadence.silent_after - self._awake_ns() / 1e9

    async def check(self) -> None:
        """Run every check once, even if an earlier one fails."""
        self.checked_at = self._clock()
        self.failure = None
        for check in self._checks:
            try:
                await check()
            except Exception as error:
                self.failure = str(error)
                log.exception("reconcile_failed")
