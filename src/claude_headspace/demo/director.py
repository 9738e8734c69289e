"""Plays a performance on a stage: what lies before now is written as history, the rest happens when its time comes.

History is told as a Headspace that was not running would find it: events in the spool with the moments at which they
fired, and transcripts. From then on every hook is the real script, run as Claude Code runs it, and whatever it prints
reaches the actor. A dialog whose time has not come is open when the curtain rises: its hook is held, so it can be
answered from the page, the terminal or a shell.
"""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from claude_headspace.clients.claude_code.wire import STATUS_LINE
from claude_headspace.demo.actor import Actor
from claude_headspace.demo.client import Json
from claude_headspace.demo.performance import Performance, Turn
from claude_headspace.demo.stage import Stage
from claude_headspace.errors import HeadspaceError

NO_PROCESS = "0"
"""Told in the place of a client's process: there is none, so none can be missed."""
BEFORE_SECONDS = 65.0
"""How long before the curtain rises history ends: what is older than a minute does not count as a slow hook."""
WRITTEN_SECONDS = 0.05
"""How much later a client writes what its hook has told."""
CALM = ("idle", "working", "ended")
READY_SECONDS = 60.0


class Director:
    """Plays."""

    def __init__(self, stage: Stage, actors: list[Actor], speed: float = 1.0) -> None:
        self._stage = stage
        self._actors = actors
        self._speed = speed
        self._performance = Performance(actors)
        self._curtain = time.time()
        self._due: list[Turn] = []
        self._told = 0
        self._changed = asyncio.Event()
        self._running: set[asyncio.Task[None]] = set()

    @property
    def told(self) -> int:
        """How many hooks were told."""
        return self._told

    def _wall(self, at: float) -> float:
        """The time of day of a moment."""
        return self._curtain + (at / self._speed if at > 0 else at - BEFORE_SECONDS)

    def _moment(self) -> float:
        """Now, as actors count."""
        return (time.time() - self._curtain) * self._speed

    # --- history ---

    def write_history(self) -> None:
        """Everything before now, for a daemon that is about to start."""
        performance = self._performance
        while (at := performance.next_at) is not None and at < 0:
            turn = performance.take()
            if turn is None:
                continue
            if turn.cue.held and turn.cue.until > 0:
                self._due.append(turn)
                continue
            self._put(turn)
            if not turn.cue.held:
                performance.go_on(turn, turn.cue.at)

    def _put(self, turn: Turn) -> None:
        fired = self._wall(turn.cue.at)
        told = tuple(line for line in turn.cue.lines if not _repeats_a_hook(line))
        self._write_lines(turn._replace(cue=msgspec.structs.replace(turn.cue, lines=told)), fired + WRITTEN_SECONDS)
        if turn.cue.event:
            self._told += 1
            notes = {
                "event": turn.cue.event,
                "delivery-id": f"demo-{self._told}",
                "fired-at": f"{fired:.6f}",
                "client-pid": NO_PROCESS,
                "tmux-pane": turn.actor.pane,
                "tmux-session": turn.actor.life.project,
            }
            letter = self._stage.places.spool / f"{fired:.6f}-{self._told:06d}.json"
            letter.write_bytes(msgspec.json.encode(notes) + b"\n" + msgspec.json.encode(turn.cue.payload) + b"\n")

    def _write_lines(self, turn: Turn, at: float) -> None:
        cue, actor = turn.cue, turn.actor
        if not cue.lines:
            return
        path = Path(actor.transcript_of(cue.errand) if cue.errand else actor.transcript)
        path.parent.mkdir(parents=True, exist_ok=True)
        if cue.notes is not None:
            path.with_suffix(".meta.json").write_bytes(msgspec.json.encode(cue.notes))
        stamp = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with path.open("ab") as file:
            file.writelines(msgspec.json.encode({**line, "timestamp": stamp}) + b"\n" for line in cue.lines)

    # --- raising the curtain ---

    def introduce(self) -> None:
        """Wait until the history is taken in, and give everybody their name."""
        client = self._stage.client
        deadline = time.monotonic() + READY_SECONDS
        while client.status()["spool"]["depth"] or len(client.agents(include_old=True)) < len(self._actors):
            if time.monotonic() > deadline:
                raise HeadspaceError("demo_failed", "The demo's history was not taken in.", "Try again.")
            time.sleep(0.05)
        found = {agent["session_id"]: agent for agent in client.agents(include_old=True)}
        wanted = {actor.life.name for actor in self._actors}
        for number, agent in enumerate(found.values()):
            if agent["name"] in wanted:  # by chance somebody else was given that name
                client.rename(agent["id"], f"somebody-{number}")
        for actor in self._actors:
            agent = found[actor.session_id]
            client.rename(agent["id"], actor.life.name)
            if agent["state"] in CALM:
                client.mark_seen(agent["id"])

    # --- playing ---

    async def play(self, seconds: float | None = None) -> None:
        """Play for so long, or for ever; at no speed only what is due now happens."""
        ends_at = time.monotonic() + seconds if seconds is not None else None
        for turn in self._due:
            self._begin(turn)
        try:
            while ends_at is None or time.monotonic() < ends_at:
                await self._wait(ends_at)
                for turn in self._ready():
                    self._begin(turn)
        finally:
            await self._let_go()

    async def _wait(self, ends_at: float | None) -> None:
        """Until something is due, somebody went on, or it is over."""
        at = self._performance.next_at
        pause = self._wall(at) - time.time() if at is not None and self._speed > 0 else 3600.0
        if ends_at is not None:
            pause = min(pause, ends_at - time.monotonic())
        if pause > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), pause)
        self._changed.clear()

    def _ready(self) -> Iterator[Turn]:
        """What is due now."""
        while self._speed > 0 and (at := self._performance.next_at) is not None and at <= self._moment():
            turn = self._performance.take()
            if turn is not None:
                yield turn

    def _begin(self, turn: Turn) -> None:
        task = asyncio.create_task(self._perform(turn))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _perform(self, turn: Turn) -> None:
        """Run the client's hook, write what it writes, and let the actor go on."""
        output = await self._run_hook(turn) if turn.cue.event else {}
        self._write_lines(turn, time.time())
        if not turn.cue.held:
            self._performance.go_on(turn, turn.cue.at, output)
        elif output:
            self._performance.answer(turn, self._moment(), output)
        self._changed.set()

    async def _run_hook(self, turn: Turn) -> Json:
        """Run the real script as a client would; what it prints."""
        self._told += 1
        is_line, config = turn.cue.event == STATUS_LINE, self._stage.config
        command = [str(config.status_line)] if is_line else [str(config.script), turn.cue.event]
        process = await asyncio.create_subprocess_exec(
            *command,
            env={
                "PATH": os.environ.get("PATH", ""),
                "CLAUDE_PID": NO_PROCESS,
                "TMUX_PANE": turn.actor.pane,
                "CLAUDE_HEADSPACE_TMUX_SESSION": turn.actor.life.project,
            },
            cwd=self._stage.root,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            printed, _ = await process.communicate(msgspec.json.encode(turn.cue.payload))
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return {} if is_line or not printed else msgspec.json.decode(printed)

    async def _let_go(self) -> None:
        """End every hook that is still open."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


def _repeats_a_hook(line: Json) -> bool:
    """Whether a line says only what hooks tell: of a call, or how a turn ended. Told in one go with all hooks it would
    be kept beside them.
    """
    if line.get("subtype") == "turn_duration" or line.get("isApiErrorMessage"):
        return True
    content = line.get("message", {}).get("content")
    return isinstance(content, list) and content[0]["type"] in ("tool_use", "tool_result")
