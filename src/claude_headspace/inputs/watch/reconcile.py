"""Looks for itself, for what no hook tells: once a minute while hooks arrive, every two seconds in silence.

The interval that is reported is the one in use: both come from `polling`. What a look consists of is a list of
sources: the process table, the clients' registry, their transcripts. Time in which the machine slept is no silence.
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
    """Whether hooks carry the news, or Headspace must look for it."""

    HOOKS_ACTIVE = "hooks_active"
    POLLING_FALLBACK = "polling_fallback"


class Polling(msgspec.Struct, frozen=True):
    """The mode in use, and the pause between two looks."""

    mode: Mode
    interval_seconds: float


class Cadence(msgspec.Struct, frozen=True):
    """How often to look, and when hooks count as silent (all in seconds)."""

    active: float = 60.0
    silent: float = 2.0
    silent_after: float = 300.0


def polling(cadence: Cadence, now: Micros, last_hook_at: Micros) -> Polling:
    """The mode that follows from when a hook was last heard (at first: when the daemon began to listen)."""
    if now - last_hook_at >= cadence.silent_after * SECOND:
        return Polling(Mode.POLLING_FALLBACK, cadence.silent)
    return Polling(Mode.HOOKS_ACTIVE, cadence.active)


def awake_clock(clock: Clock) -> Clock:
    """A clock that stands still while the machine sleeps, and does not notice when the other one is set."""
    began, ticks = clock(), time.monotonic_ns()
    return lambda: began + (time.monotonic_ns() - ticks) // 1_000


class Reconciler(Loop):
    """The loop that looks. `hook_arrived` must be called for every hook; `awake` is a clock without time asleep."""

    def __init__(self, cadence: Cadence, clock: Clock, checks: list[Check], awake: Clock | None = None) -> None:
        super().__init__()
        self._cadence = cadence
        self._clock = clock
        self._awake = awake or clock
        self._checks = checks
        self._last_hook = self._awake()
        self._changed = asyncio.Event()
        self.started_at = clock()
        self.last_event_at: Micros | None = None
        self.checked_at: Micros | None = None

    @property
    def polling(self) -> Polling:
        """The mode and the interval in use."""
        return polling(self._cadence, self._awake(), self._last_hook)

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, why it fails, and the mode in use."""
        return self.running, self.failure, self.polling.mode.value

    def hook_arrived(self, at: Micros) -> None:
        """A hook arrived that fired at this time. No-op for an older one."""
        if at > (self.last_event_at or self.started_at):
            self.set_last_hook(at)

    def set_last_hook(self, at: Micros) -> None:
        """A hook arrived."""
        was_silent = self.polling.mode is Mode.POLLING_FALLBACK
        self._last_hook, self.last_event_at = self._awake() - (self._clock() - at), at
        if was_silent:
            self._changed.set()

    async def _run(self) -> None:
        while True:
            await self._pause()
            await self.check()

    async def _pause(self) -> None:
        """Wait for the interval in use; when hooks fall silent or resume meanwhile, for the new one."""
        while True:
            self._changed.clear()
            until_silent = self._last_hook / SECOND + self._cadence.silent_after - self._awake() / SECOND
            interval = self.polling.interval_seconds
            pause = min(interval, until_silent + self._cadence.silent) if until_silent > 0 else interval
            try:
                async with asyncio.timeout(pause):  # wait_for of Python 3.11 may swallow the cancellation of `stop`
                    await self._changed.wait()
            except TimeoutError:
                return

    async def check(self) -> None:
        """Ask every source once; one that fails does not keep the others from being asked."""
        self.checked_at = self._clock()
        self.failure = None
        for look in self._checks:
            try:
                await look()
            except Exception as error:
                self.failure = str(error)
                log.exception("look_failed")
