"""Transcripts and registry entries in a temporary config dir, and the sources that read them.

async with WatchedConfigDir(tmp_path) as watched:
    session = watched.session("s1")
    session.write(prompt("Fix it"))
    await watched.until(lambda: watched.agent("s1").state == "working")
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

from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.sources import Sources
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations
from claude_headspace.kernel.text import iso
from claude_headspace.ports import StoredEvent
from claude_headspace.testing import hook
from tests.engines import engine_over
from tests.journals import TemporaryJournal

HOST = "laptop"
LIMIT_SECONDS = 30.0
"""Far longer than anything takes; only a hang reaches it."""

_numbers = count(1)


def wall_clock() -> Micros:
    """The time."""
    return time.time_ns() // 1_000


def timestamped(line: dict[str, Any], ago: float = 0.0) -> dict[str, Any]:
    """A line with an id and a time."""
    at = iso(wall_clock() - round(ago * SECOND))[:23] + "Z"
    return {"uuid": f"line-{next(_numbers)}", "timestamp": at, "cwd": "/home/dev/app", **line}


def prompt(text: str, ago: float = 0.0, **fields: Any) -> dict[str, Any]:
    """The user typed a prompt."""
    return timestamped({"type": "user", "message": {"role": "user", "content": text}, **fields}, ago)


def reply(text: str, ago: float = 0.0, *, tokens: int = 1_000, **fields: Any) -> dict[str, Any]:
    """The last message of a turn."""
    return _message({"type": "text", "text": text}, "end_turn", tokens, ago, fields)


def call(call_id: str, ago: float = 0.0, *, tokens: int = 1_000, **fields: Any) -> dict[str, Any]:
    """The agent starts a tool call."""
    block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}
    return _message(block, "tool_use", tokens, ago, fields)


def _message(block: dict[str, Any], stop: str, tokens: int, ago: float, fields: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": tokens}
    message = {"role": "assistant", "model": "claude-x", "stop_reason": stop, "content": [block], "usage": usage}
    return timestamped({"type": "assistant", "message": message, **fields}, ago)


def result(call_id: str, ago: float = 0.0, **fields: Any) -> dict[str, Any]:
    """A tool call finished."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "ok"}
    return timestamped({"type": "user", "message": {"role": "user", "content": [block]}, **fields}, ago)


def closed(ago: float = 0.0) -> dict[str, Any]:
    """The turn ended."""
    return timestamped({"type": "system", "subtype": "turn_duration"}, ago)


def interrupt(ago: float = 0.0, **fields: Any) -> dict[str, Any]:
    """The user pressed Esc."""
    return prompt("[Request interrupted by user]", ago, **fields)


class TranscriptFile:
    """A transcript to write."""

    def __init__(self, path: Path, session_id: str) -> None:
        self.path = path
        self.session_id = session_id
        path.parent.mkdir(parents=True, exist_ok=True)

    def encoded(self, *lines: dict[str, Any]) -> bytes:
        """Lines of this session, as bytes."""
        return b"".join(json.dumps({"sessionId": self.session_id, **line}).encode() + b"\n" for line in lines)

    def write(self, *lines: dict[str, Any]) -> None:
        """Append lines."""
        self.append(self.encoded(*lines))

    def append(self, raw: bytes) -> None:
        """Append bytes."""
        with self.path.open("ab") as file:
            file.write(raw)


class WatchedConfigDir:
    """A config dir with its sources and a temporary journal."""

    def __init__(self, home: Path, journal: TemporaryJournal | None = None, *, ahead: float = 0.0) -> None:
        self.config_dir = home / ".claude"
        self.journal = journal or TemporaryJournal()
        self.ahead = ahead
        self.may_submit = asyncio.Event()
        self.may_submit.set()
        self.submitting = 0
        """How many events are being submitted now."""
        changes = ChangePublisher()
        self.engine = engine_over(self.journal, lambda: f"agent-{next(_numbers)}", changes=changes)
        agents = AgentCache(HOST)
        changes.on_agent(agents.update)
        envelopes = EnvelopeBuilder(HOST, self.clock, _no_repository)
        self.sources = Sources(self._config_dirs, self.journal, self._submit, envelopes, agents)

    def _config_dirs(self, client: str) -> tuple[Path, ...]:
        """Only Claude Code has a config dir here."""
        return (self.config_dir,) if client == "claude-code" else ()

    def clock(self) -> Micros:
        """The time, plus `ahead` seconds."""
        return wall_clock() + round(self.ahead * SECOND)

    async def _submit(self, envelope: Envelope, agent_id: str | None) -> Agent:
        self.submitting += 1
        await self.may_submit.wait()
        self.submitting -= 1
        return (await self.engine.submit(envelope, agent_id)).agent

    async def __aenter__(self) -> Self:
        self.engine.start()
        self.sources.start()
        await asyncio.wait_for(self.sources.followers["claude-code"].caught_up(), LIMIT_SECONDS)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.sources.stop()
        await self.engine.stop()

    # --- what clients do ---

    def session(self, session_id: str, project: str = "-home-dev-app") -> TranscriptFile:
        """The transcript of a session."""
        return TranscriptFile(self.config_dir / "projects" / project / f"{session_id}.jsonl", session_id)

    def subagent(self, session_id: str, subagent_id: str) -> TranscriptFile:
        """The transcript of a sub-agent."""
        folder = self.config_dir / "projects" / "-home-dev-app" / session_id / "subagents"
        return TranscriptFile(folder / f"agent-{subagent_id}.jsonl", session_id)

    def register(self, session_id: str, status: str | None, pid: int | None = None, **fields: Any) -> Path:
        """A client writes its registry entry."""
        pid = pid or os.getpid()
        directory = self.config_dir / "sessions"
        directory.mkdir(parents=True, exist_ok=True)
        started_at = round(psutil.Process(pid).create_time() * 1_000) if psutil.pid_exists(pid) else 1
        entry = {
            "pid": pid,
            "sessionId": session_id,
            "cwd": "/home/dev/app",
            "startedAt": started_at,
            "entrypoint": "cli",
        }
        if status:
            entry |= {"status": status, "statusUpdatedAt": wall_clock() // 1_000}
        path = directory / f"{pid}.json"
        path.write_text(json.dumps(entry | fields))
        return path

    async def hook(self, name: str, session_id: str, *, pid: int | None = None, ago: float = 0.0, **body: Any) -> Agent:
        """Submit a hook."""
        at = wall_clock() - round(ago * SECOND)
        envelope = hook(name, at, observations=Observations(client_pid=pid), host=HOST, session_id=session_id, **body)
        return (await self.engine.submit(envelope)).agent

    # --- results ---

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

    def turn_texts(self, session_id: str) -> list[str]:
        """The texts of the turns of a session, in order."""
        found = self.agent(session_id)
        return [turn.text for turn in self.journal.turns(agent_id=found.id, limit=1_000)] if found else []

    def stored(self, *origins: str) -> list[StoredEvent]:
        """The events of these origins."""
        return [event for event in self.journal.events(limit=100_000) if event.envelope.origin.value in origins]

    async def until(self, condition: Callable[[], object], what: str = "") -> float:
        """Wait until a condition holds. Returns how long that took."""
        started = time.monotonic()
        while not condition():
            assert time.monotonic() - started < LIMIT_SECONDS, f"timed out waiting {what}"
            await asyncio.sleep(0.01)
        return time.monotonic() - started

    async def settle(self) -> None:
        """Wait longer than a change needs to be submitted: what was not submitted by then never is."""
        await asyncio.sleep(0.5)


async def _no_repository(directory: str | None) -> Observations:
    return Observations(project_root=directory)
