"""An engine over a journal in memory in which efforts are made, told one thing a second."""

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


class Fallible(TemporaryJournal):
    """A journal that fails to find efforts when it is told to."""

    fails = False

    async def transact(self, work: Callable[[SqlTransaction], Result]) -> Result:
        """Do work in one batch."""
        return await super().transact(lambda batch: work(_Failing(batch) if self.fails else batch))


class _Failing(SqlTransaction):
    def __init__(self, batch: SqlTransaction) -> None:
        super().__init__(batch.connection, batch._cache)
        self.projection = batch.projection

    def active_efforts(self, host: str) -> list[Effort]:
        raise ZeroDivisionError(host)


class Work:
    """An engine over a journal in memory, told one thing a second."""

    def __init__(self) -> None:
        self.journal = Fallible()
        self.engine = engine_over(self.journal, iter(map("agent-{}".format, count(1))).__next__)
        self._now = START

    async def act(self, name: str, **said: Any) -> Effort:
        """Do something to an effort."""
        self._now += SECOND
        act = acts.ACTS[name](**said)
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

    async def start(self, name: str = "e1", **said: Any) -> Effort:
        """Begin an effort."""
        known = {"host": "laptop", "task_dir": ROOT, "project_root": ROOT, "skill": "fix", "ordinal": 0}
        return await self.act("EffortStarted", effort_id=name, **(known | said))

    async def hook(
        self, name: str, *, asked: bool = True, fleet: str | None = None, pid: int = 7, **told: Any
    ) -> Outcome:
        """A hook of a client."""
        self._now += SECOND
        context = Observations(project_root=ROOT, fleet_id=fleet, client_pid=pid)
        decisions = Decisions(directives=told.pop("directives", ()))
        return await self.engine.submit(
            hook(name, self._now, observations=context, decisions=decisions, **told), expects_reply=asked
        )

    async def tool(self, **told: Any) -> Outcome:
        """A tool is about to run."""
        return await self.hook("PreToolUse", **({"tool_name": "Bash", "tool_input": {"command": "make"}} | told))

    async def fill(self) -> None:
        """The client's transcript tells that the context is nearly full."""
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

    async def effort(self, name: str = "e1") -> Effort:
        """An effort as it is."""
        found = self.journal.effort(name)
        assert found is not None
        return found


def play(story: Callable[[Work], Awaitable[None]]) -> Work:
    """Play a story, and check that everything follows from the log."""

    async def main() -> Work:
        work = Work()
        work.engine.start()
        async with asyncio.timeout(60):
            await story(work)
            await work.engine.stop()
        return work

    work = asyncio.run(main())
    assert list(work.journal.verify()) == []
    return work


def heartbeat(outcome: Outcome) -> int | None:
    """How many calls there were since the last log."""
    return outcome.effort.window.heartbeat if outcome.effort and outcome.effort.window else None
