"""The screens of agents' panes, live, for any number of viewers.

Rules
- One reader per agent, however many people watch. It starts with the first viewer and stops with the last one.
- The pane is read every 0.2 seconds while its screen changes, and once a second while it does not. A viewer gets only
  screens that differ from the last one that it got, and always the newest: a slow viewer skips some.
- Nothing is stored. Secrets are redacted, escape sequences other than styles are removed.
- A pane can be read only on its machine. Without a screen the viewer gets the reason, and the screen as soon as there
  is one.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import msgspec
import structlog

from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.kernel.agent import Agent
from claude_headspace.outputs.pane_screen import Cursor, PaneScreen, read_agent_screen
from claude_headspace.surfaces.live.stream import CONNECTED, HEARTBEAT
from claude_headspace.surfaces.text.screen_lines import Line, screen_lines

log = structlog.get_logger(__name__)

FAST_SECONDS = 0.2
SLOW_SECONDS = 1.0
SLOW_AFTER = 5
"""How many times a screen is read without a change before it is read slowly."""


class ScreenView(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a pane shows, or why there is nothing to show."""

    columns: int = 0
    lines: list[Line] = []
    """Each line as parts of one style."""
    cursor: Cursor | None = None
    """Row and column, from 0; null if it is hidden."""
    problem: str = ""
    hint: str = ""


Read = Callable[[str], ScreenView]
"""What the pane of an agent shows now, by the id of the agent. May block."""


class _Watched:
    """An agent whose screen somebody watches."""

    def __init__(self) -> None:
        self.viewers = 0
        self.frame: bytes | None = None
        self.changed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def show(self, frame: bytes) -> bool:
        """Set the newest screen; whether it is another one."""
        if frame == self.frame:
            return False
        self.frame = frame
        self.wake()
        return True

    def wake(self) -> None:
        """Wake all viewers."""
        self.changed.set()
        self.changed = asyncio.Event()


class Screens:
    """Reads screens while they are watched."""

    def __init__(self, read: Read, heartbeat_seconds: Callable[[], float]) -> None:
        self._read = read
        self._heartbeat_seconds = heartbeat_seconds
        self._watched: dict[str, _Watched] = {}
        self._closed = False

    @property
    def readers(self) -> int:
        """How many panes are being read."""
        return len(self._watched)

    async def watch(self, agent_id: str) -> AsyncIterator[bytes]:
        """The screen of an agent as server-sent events, until the viewer leaves."""
        watched = self._join(agent_id)
        try:
            yield CONNECTED
            shown, sent_at = None, time.monotonic()
            while not self._closed:
                changed = watched.changed
                if (frame := watched.frame) is not None and frame is not shown:
                    yield frame
                    shown, sent_at = frame, time.monotonic()
                elif (seconds := sent_at + self._heartbeat_seconds() - time.monotonic()) <= 0:
                    yield HEARTBEAT
                    sent_at = time.monotonic()
                else:
                    await _wait(changed, seconds)
        finally:
            self._leave(agent_id, watched)

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        for watched in self._watched.values():
            watched.wake()

    def _join(self, agent_id: str) -> _Watched:
        watched = self._watched.setdefault(agent_id, _Watched())
        watched.viewers += 1
        if watched.task is None:
            watched.task = asyncio.create_task(self._follow(agent_id, watched), name=f"screen of {agent_id}")
        return watched

    def _leave(self, agent_id: str, watched: _Watched) -> None:
        watched.viewers -= 1
        if watched.viewers == 0:
            del self._watched[agent_id]
            assert watched.task is not None
            watched.task.cancel()

    async def _follow(self, agent_id: str, watched: _Watched) -> None:
        unchanged = 0
        while True:
            view = await self._try_read(agent_id)
            unchanged = 0 if watched.show(_frame(view)) else unchanged + 1
            is_slow = view.problem or unchanged > SLOW_AFTER
            await asyncio.sleep(SLOW_SECONDS if is_slow else FAST_SECONDS)

    async def _try_read(self, agent_id: str) -> ScreenView:
        try:
            return await asyncio.to_thread(self._read, agent_id)
        except HeadspaceError as error:
            return ScreenView(problem=error.message, hint=error.hint)
        except Exception:  # a bug must not end the reader of a pane that people watch
            log.exception("screen_failed", agent=agent_id)
            return ScreenView(problem="The screen could not be read.", hint="See `headspace logs`.")


def _frame(view: ScreenView) -> bytes:
    return b"event: screen\ndata: %s\n\n" % msgspec.json.encode(view)


async def _wait(changed: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await changed.wait()
    except TimeoutError:
        return


class LocalScreens:
    """Reads the screens of this host's agents."""

    def __init__(self, find: Callable[[str], Agent | None], host: str, redact: Callable[[str], str]) -> None:
        self._find = find
        self._host = host
        self._redact = redact

    def read(self, agent_id: str) -> ScreenView:
        """What the pane of an agent shows now. Raises `BadRequest` with the reason if it shows nothing."""
        agent = self._find(agent_id)
        if agent is None:
            raise BadRequest("unknown_agent", "The agent does not exist any more.", "See `headspace list`.")
        if agent.host != self._host:
            raise BadRequest(
                "elsewhere",
                f"{agent.name} runs on {agent.host}. Screens are not stored, so it is visible only there.",
                f"Open the dashboard of {agent.host}, or run `headspace peek {agent.name}` there.",
            )
        if agent.ended_at is not None:
            raise BadRequest("agent_ended", f"{agent.name} has ended.", "Resume it to see its terminal again.")
        pid = agent.pid or agent.wrapper_pid
        return self._view(read_agent_screen(agent.name, agent.tmux_pane, pid, {}))

    def _view(self, screen: PaneScreen) -> ScreenView:
        lines = screen_lines(screen.text, screen.width, self._redact)
        return ScreenView(screen.width, lines, screen.cursor)
