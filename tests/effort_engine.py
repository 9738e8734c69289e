"""An engine with efforts over a journal in memory; its clock advances one second per event."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import msgspec

from claude_headspace.journal.transaction import SqlTransaction
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.model import Effort
from claude_headspace.kernel.envelope import SECOND, Decisions, Envelope, Observations, Origin
from claude_headspace.ports import Outcome, Result
from claude_headspace.testing import START, hook
from tests.engines import engine_over
from tests.journals import TemporaryJournal

ROOT = "/home/dev/app"


class FallibleJournal(TemporaryJournal):
    """A journal whose lookup of efforts raises while `fails` is set."""

    fails = False

    async def transact(self, work: Callable[[SqlTransaction], Result]) -> Result:
        """Run work in one transaction."""
        return await super().transact(lambda opened: work(_FailingTransaction(opened) if self.fails else opened))


class _FailingTransaction(SqlTransaction):
    def __init__(self, opened: SqlTransaction) -> None:
        super().__init__(opened.connection, opened._cache)
        self.row_changes = opened.row_changes

    def active_efforts(self, host: str) -> list[Effort]:
        raise ZeroDivisionError(host)


class EffortEngine:
    """Submits acts and hooks to an engine, one per second."""

    def __init__(self) -> None:
        self.journal = FallibleJournal()
        self.engine = engine_over(self.journal, iter(map("agent-{}".format, count(1))).__next__)
        self._now = START

    async def act(self, name: str, **fields: Any) -> Effort:
        """Submit an act; returns the effort after it."""
        self._now += SECOND
        act = acts.ACTS[name](**fields)
        outcome = await self.engine.submit(
            Envelope(
                id=f"act-{self._now}",
                name=name,
                origin=Origin.OPERATOR,
                client="headspace",
                host="laptop",
                fired_at=self._now,
                received_at=self._now,
                payload=msgspec.json.encode(act),
                observations=Observations(),
            )
        )
        assert outcome.effort is not None
        return outcome.effort.effort

    async def start(self, effort_id: str = "e1", **fields: Any) -> Effort:
        """Start an effort."""
        defaults = {"host": "laptop", "task_dir": ROOT, "project_root": ROOT, "skill": "fix", "ordinal": 0}
        return await self.act("EffortStarted", effort_id=effort_id, **(defaults | fields))

    async def hook(
        self, name: str, *, expects_reply: bool = True, fleet_id: str | None = None, pid: int = 7, **payload: Any
    ) -> Outcome:
        """Submit a hook of a client."""
        self._now += SECOND
        observations = Observations(project_root=ROOT, fleet_id=fleet_id, client_pid=pid)
        decisions = Decisions(directives=payload.pop("directives", ()))
        return await self.engine.submit(
            hook(name, self._now, observations=observations, decisions=decisions, **payload),
            expects_reply=expects_reply,
        )

    async def start_tool(self, **payload: Any) -> Outcome:
        """Submit the hook before a tool call."""
        return await self.hook("PreToolUse", **({"tool_name": "Bash", "tool_input": {"command": "make"}} | payload))

    async def fill_context(self) -> None:
        """Submit a transcript line that reports a nearly full context."""
        line: dict[str, Any] = {
            "type": "assistant",
            "sessionId": "session-1",
            "uuid": "u1",
            "timestamp": "2026-09-21T14:13:30.000Z",
            "message": {
                "model": "claude-x",
                "content": [{"type": "text", "text": "Hm."}],
                "usage": {"input_tokens": 190_000},
            },
        }
        await self.engine.submit(hook("TranscriptLine", START + 50 * SECOND, origin=Origin.TRANSCRIPT, **line))

    async def effort(self, effort_id: str = "e1") -> Effort:
        """The stored effort."""
        found = self.journal.effort(effort_id)
        assert found is not None
        return found


def run_story(story: Callable[[EffortEngine], Awaitable[None]]) -> EffortEngine:
    """Run a story, then verify that all projections follow from the log."""

    async def main() -> EffortEngine:
        work = EffortEngine()
        work.engine.start()
        async with asyncio.timeout(60):
            await story(work)
            await work.engine.stop()
        return work

    work = asyncio.run(main())
    assert list(work.journal.verify()) == []
    return work


def heartbeat(outcome: Outcome) -> int | None:
    """The heartbeat of the window: tool calls since the last log entry."""
    return outcome.effort.window.heartbeat if outcome.effort and outcome.effort.window else None
