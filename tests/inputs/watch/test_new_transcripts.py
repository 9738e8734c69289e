"""New files of clients without a registry: they wait for the first hook of their session."""

import asyncio
import json
import os
from pathlib import Path

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Observations
from claude_headspace.testing import hook
from tests.inputs.watched_config_dir import HOST, WatchedConfigDir, timestamped, wall_clock

FIRST, SECOND = "01a1e1b6-0b20-7f23-98fd-2586272a7ea3", "01a1e1b7-47a1-72b3-9d04-e545d74921fa"


class WatchedCodex(WatchedConfigDir):
    """A config dir of Codex."""

    def _config_dirs(self, client: str) -> tuple[Path, ...]:
        return (self.config_dir,) if client == "codex" else ()

    async def starts(self, session_id: str) -> Agent:
        """The hook of a new session, from this process."""
        observed = Observations(client_pid=os.getpid())
        envelope = hook("SessionStart", wall_clock(), observations=observed, host=HOST, session_id=session_id)
        return (await self.engine.submit(msgspec.structs.replace(envelope, client="codex"))).agent

    def writes(self, session_id: str, text: str) -> None:
        """The first lines of a session."""
        path = self.config_dir / "sessions/2026/11/16" / f"rollout-2026-11-16T00-16-06-{session_id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        item = {"type": "UserMessage", "content": [{"type": "text", "text": text}]}
        lines = [
            {"ordinal": 0, "type": "session_meta", "payload": {"id": session_id, "cwd": "/home/dev/app"}},
            {"ordinal": 1, "type": "event_msg", "payload": {"type": "item_completed", "turn_id": "t", "item": item}},
        ]
        path.write_text("".join(f"{json.dumps(timestamped(line))}\n" for line in lines))


def test_a_new_session_of_the_same_process_is_the_same_agent(tmp_path: Path) -> None:
    """Its file can be read before the hook that names its process. It has another session of the same agent."""

    async def play() -> list[str]:
        async with WatchedCodex(tmp_path) as watched:
            await watched.sources.followers["codex"].caught_up()
            agent = await watched.starts(FIRST)
            watched.writes(SECOND, "Fix it")
            await asyncio.sleep(0.5)
            assert (await watched.starts(SECOND)).id == agent.id
            await watched.until(lambda: watched.turn_texts(SECOND) == ["Fix it"])
            return [each.id for each in watched.agents]

    assert len(asyncio.run(play())) == 1


def test_a_session_without_hooks_is_followed(tmp_path: Path) -> None:
    """If no hook comes, the file is the only source."""

    async def play() -> list[str]:
        async with WatchedCodex(tmp_path) as watched:
            await watched.sources.followers["codex"].caught_up()
            watched.writes(FIRST, "Fix it")
            await watched.until(lambda: watched.state(FIRST) == "working")
            return watched.turn_texts(FIRST)

    assert asyncio.run(play()) == ["Fix it"]


def test_a_line_in_an_unknown_format_is_stored_and_counted(tmp_path: Path) -> None:
    """It changes nothing else, and a line that is known to be without use is not stored."""

    async def play() -> dict[str, int]:
        async with WatchedCodex(tmp_path) as watched:
            await watched.sources.followers["codex"].caught_up()
            watched.writes(FIRST, "Fix it")
            await watched.until(lambda: watched.state(FIRST) == "working")
            events = watched.journal.counts().events
            path = next(watched.config_dir.glob("sessions/*/*/*/*.jsonl"))
            lines = [timestamped({"type": kind, "payload": {}}) for kind in ("world_state", "novelty")]
            with path.open("a") as file:
                file.writelines(f"{json.dumps(line)}\n" for line in lines)
            await watched.until(lambda: watched.journal.counts().anomalies > 0)
            assert (watched.state(FIRST), watched.journal.counts().events) == ("working", events + 1)
            return watched.journal.counts().anomalies_by_client

    assert asyncio.run(play()) == {"codex": 1}
