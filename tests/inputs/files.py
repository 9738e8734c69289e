"""What a client leaves on the disk, written by hand: transcripts and registry entries in a scratch config dir.

async with Reading(tmp_path) as reading:
    session = reading.session("s1")
    session.says(prompt("Fix it"))
    await reading.until(lambda: reading.agent("s1").state == "working")
"""

import asyncio
import json
import os
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from claude_headspace.engine.changes import CommittedChanges
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.sources import Sources
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations
from claude_headspace.kernel.views import iso
from claude_headspace.ports import StoredEvent
from claude_headspace.testing import hook
from tests.engines import engine_over
from tests.journals import TemporaryJournal

HOST = "laptop"
LIMIT_SECONDS = 30.0
"""Far more than anything takes: only a hang reaches it."""

_numbers = count(1)


def wall_clock() -> Micros:
    """The time."""
    return time.time_ns() // 1_000


def stamped(line: dict[str, Any], ago: float = 0.0) -> dict[str, Any]:
    """A line with an id and a time."""
    moment = iso(wall_clock() - round(ago * SECOND))[:23] + "Z"
    return {"uuid": f"line-{next(_numbers)}", "timestamp": moment, "cwd": "/home/dev/app", **line}


def prompt(text: str, ago: float = 0.0, **fields: Any) -> dict[str, Any]:
    """What the human typed."""
    return stamped({"type": "user", "message": {"role": "user", "content": text}, **fields}, ago)


def reply(text: str, ago: float = 0.0, *, tokens: int = 1_000, **fields: Any) -> dict[str, Any]:
    """The last words of a turn."""
    return _message({"type": "text", "text": text}, "end_turn", tokens, ago, fields)


def call(call_id: str, ago: float = 0.0, *, tokens: int = 1_000, **fields: Any) -> dict[str, Any]:
    """A tool is called."""
    block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}
    return _message(block, "tool_use", tokens, ago, fields)


def _message(block: dict[str, Any], stop: str, tokens: int, ago: float, fields: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": tokens}
    message = {"role": "assistant", "model": "claude-x", "stop_reason": stop, "content": [block], "usage": usage}
    return stamped({"type": "assistant", "message": message, **fields}, ago)


def result(call_id: str, ago: float = 0.0, **fields: Any) -> dict[str, Any]:
    """A tool has run."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "ok"}
    return stamped({"type": "user", "message": {"role": "user", "content": [block]}, **fields}, ago)


def closed(ago: float = 0.0) -> dict[str, Any]:
    """The turn is over."""
    return stamped({"type": "system", "subtype": "turn_duration"}, ago)


def interrupt(ago: float = 0.0, **fields: Any) -> dict[str, Any]:
    """The human pressed Esc."""
    return prompt("[Request interrupted by user]", ago, **fields)


class TranscriptFile:
    """A transcript that is being written."""

    def __init__(self, path: Path, session_id: str) -> None:
        self.path = path
        self.session_id = session_id
        path.parent.mkdir(parents=True, exist_ok=True)

    def encoded(self, *lines: dict[str, Any]) -> bytes:
        """Lines of this session."""
        return b"".join(json.dumps({"sessionId": self.session_id, **line}).encode() + b"\n" for line in lines)

    def says(self, *lines: dict[str, Any]) -> None:
        """Lines are appended."""
        self.appends(self.encoded(*lines))

    def appends(self, raw: bytes) -> None:
        """Bytes are appended."""
        with self.path.open("ab") as file:
            file.write(raw)


class Reading:
    """A config dir, and all that reads it, over a journal in memory."""

    def __init__(self, home: Path, journal: TemporaryJournal | None = None, *, ahead: float = 0.0) -> None:
        self.config_dir = home / ".claude"
        self.journal = journal or TemporaryJournal()
        self.ahead = ahead
        changes = CommittedChanges()
        self.engine = engine_over(self.journal, lambda: f"agent-{next(_numbers)}", changes=changes)
        known = AgentCache(HOST)
        changes.on_agent(known.update)
        self.sources = Sources(
            HOST, self.clock, lambda: (self.config_dir,), self.journal, self._submit, _no_surroundings, known
        )

    def clock(self) -> Micros:
        """The time, or a later one."""
        return wall_clock() + round(self.ahead * SECOND)

    async def _submit(self, envelope: Envelope, agent_id: str | None) -> Agent:
        return (await self.engine.submit(envelope, agent_id)).agent

    async def __aenter__(self) -> Self:
        self.engine.start()
        self.sources.start()
        await asyncio.wait_for(self.sources.transcripts.caught_up(), LIMIT_SECONDS)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.sources.stop()
        await self.engine.stop()

    # --- what a client does ---

    def session(self, session_id: str, project: str = "-home-dev-app") -> TranscriptFile:
        """The transcript of a session."""
        return TranscriptFile(self.config_dir / "projects" / project / f"{session_id}.jsonl", session_id)

    def subagent(self, session_id: str, subagent_id: str) -> TranscriptFile:
        """The transcript of a sub-agent."""
        folder = self.config_dir / "projects" / "-home-dev-app" / session_id / "subagents"
        return TranscriptFile(folder / f"agent-{subagent_id}.jsonl", session_id)

    def registers(self, session_id: str, status: str | None, pid: int | None = None, **fields: Any) -> Path:
        """A client writes its entry."""
        pid = pid or os.getpid()
        place = self.config_dir / "sessions"
        place.mkdir(parents=True, exist_ok=True)
        began = round(psutil.Process(pid).create_time() * 1_000) if psutil.pid_exists(pid) else 1
        entry = {"pid": pid, "sessionId": session_id, "cwd": "/home/dev/app", "startedAt": began, "entrypoint": "cli"}
        if status:
            entry |= {"status": status, "statusUpdatedAt": wall_clock() // 1_000}
        path = place / f"{pid}.json"
        path.write_text(json.dumps(entry | fields))
        return path

    async def hook(self, name: str, session_id: str, *, pid: int | None = None, ago: float = 0.0, **body: Any) -> Agent:
        """A hook arrives."""
        at = wall_clock() - round(ago * SECOND)
        sealed = hook(name, at, observations=Observations(client_pid=pid), host=HOST, session_id=session_id, **body)
        return (await self.engine.submit(sealed)).agent

    # --- what is known ---

    @property
    def agents(self) -> list[Agent]:
        """All agents."""
        return self.journal.agents(ended_after=0)

    def agent(self, session_id: str) -> Agent | None:
        """The agent of a session."""
        return next((each for each in self.agents if each.session and each.session.client_id == session_id), None)

    def state(self, session_id: str) -> str:
        """The state of a session's agent."""
        found = self.agent(session_id)
        return found.state.value if found is not None else ""

    def said(self, session_id: str) -> list[str]:
        """What was said in a session, in order."""
        found = self.agent(session_id)
        return [turn.text for turn in self.journal.turns(agent_id=found.id, limit=1_000)] if found else []

    def stored(self, *origins: str) -> list[StoredEvent]:
        """The events of these origins."""
        return [event for event in self.journal.events(limit=100_000) if event.envelope.origin.value in origins]

    async def until(self, condition: Callable[[], object], what: str = "") -> float:
        """Wait until it holds; how long that took."""
        began = time.monotonic()
        while not condition():
            assert time.monotonic() - began < LIMIT_SECONDS, f"waited in vain {what}"
            await asyncio.sleep(0.01)
        return time.monotonic() - began

    async def settled(self) -> None:
        """Wait for as long as it takes to see what has just changed, so that what is not told by then never is."""
        await asyncio.sleep(0.5)


async def _no_surroundings(directory: str | None) -> Observations:
    return Observations(project_root=directory)
