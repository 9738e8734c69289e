"""Sessions of other clients are imported: prompts, outcomes and usage, each once."""

import asyncio
import json
from pathlib import Path

import pytest

from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.registries import NoRegistry
from claude_headspace.inputs.watch.transcript_import import ImportResult, TranscriptImport
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope, Observations
from claude_headspace.kernel.usage import Tokens
from tests.engines import engine_over
from tests.inputs.watched_config_dir import wall_clock
from tests.journals import TemporaryJournal
from tests.replay.codex.recordings import rows
from tests.replay.gemini_recordings import FOLDER

COPILOT_SESSIONS = Path(__file__).parents[2] / "replay/copilot/sessions"


async def no_project(_directory: str | None) -> Observations:
    """Locate no project."""
    return Observations()


def import_sessions(journal: TemporaryJournal, config_dir: Path, client: str) -> list[ImportResult]:
    """Import all sessions of a config dir."""

    async def main() -> list[ImportResult]:
        engine = engine_over(journal, iter(map(str, range(1_000))).__next__)
        engine.start()

        async def submit(envelope: Envelope, agent_id: str | None) -> tuple[Agent, bool]:
            outcome = await engine.submit(envelope, agent_id, announce=False)
            return outcome.agent, outcome.duplicate

        envelopes = EnvelopeBuilder("laptop", wall_clock, no_project, client=client)
        importer = TranscriptImport(lambda: (config_dir,), journal, submit, envelopes, NoRegistry())
        done = [await importer.import_file(file.path) for file in await importer.list_files()]
        await engine.stop()
        return done

    return asyncio.run(main())


def test_a_chat_file_is_imported(tmp_path: Path) -> None:
    """With its prompts and outcomes, and as ended. A second import adds nothing.

    Gemini CLI writes its history again; each prompt is imported once.
    """
    chats = tmp_path / "tmp/app/chats"
    chats.mkdir(parents=True)
    (tmp_path / "tmp/app/.project_root").write_text("/home/sam/code/app\n")
    (chats / "session-2026-11-16T00-20-21a5d014.jsonl").write_bytes((FOLDER / "session.chat.jsonl").read_bytes())
    journal = TemporaryJournal()
    (first,) = import_sessions(journal, tmp_path, "gemini")
    (again,) = import_sessions(journal, tmp_path, "gemini")
    assert (first.events > 0, again.events) == (True, 0)
    (agent,) = journal.agents(ended_after=0)
    assert (agent.client, agent.state, agent.cwd) == ("gemini", "ended", "/home/sam/code/app")
    commands = [(each.text.partition(" @@")[0], each.outcome) for each in journal.commands(agent.id)]
    assert commands == [
        ("hi", "completed"),
        ("ls", "completed"),
        ("ask2", "interrupted"),
        ("stream", "interrupted"),
        ("slow", "interrupted"),
        ("esc in tool", "interrupted"),
        ("fail", "completed"),
        ("err", "failed"),
    ]
    assert list(journal.verify()) == []


def test_lines_in_an_unknown_format_are_imported(tmp_path: Path) -> None:
    """They are counted as not understood."""
    chats = tmp_path / "tmp/app/chats"
    chats.mkdir(parents=True)
    novelty = b'{"id": "n1", "timestamp": "2026-11-16T00:40:00.000Z", "type": "novelty", "content": "?"}\n'
    recorded = (FOLDER / "session.chat.jsonl").read_bytes()
    (chats / "session-2026-11-16T00-20-21a5d014.jsonl").write_bytes(recorded + novelty)
    journal = TemporaryJournal()
    import_sessions(journal, tmp_path, "gemini")
    assert journal.counts().anomalies_by_client == {"gemini": 1}


def test_the_usage_of_copilot_is_imported(tmp_path: Path) -> None:
    """Its lines report the tokens of each call of the model, and nothing else."""
    session = tmp_path / "session-state/5f0c7b0e-0000-4000-8000-000000000001"
    session.mkdir(parents=True)
    recorded = map(json.loads, (COPILOT_SESSIONS / "text-turn.jsonl").read_text().splitlines())
    lines = [json.dumps(each["line"]) for each in recorded if "line" in each]
    (session / "events.jsonl").write_text("\n".join([*lines, ""]))
    journal = TemporaryJournal()
    import_sessions(journal, tmp_path, "copilot")
    (agent,) = journal.agents(ended_after=0)
    assert (agent.client, agent.state, agent.tokens) == ("copilot", "ended", 1200)
    assert agent.usage is not None
    assert agent.usage.tokens == Tokens(input=1200, output=42)


def test_the_usage_of_codex_is_imported(tmp_path: Path) -> None:
    """Its rollouts report tokens, context and the price of all replies in lines of their own."""
    written = [row for row in rows("first_turn") if "line" in row]
    rollout = tmp_path / "sessions" / written[0]["file"]
    rollout.parent.mkdir(parents=True)
    text = "\n".join([*(json.dumps(row["line"]) for row in written), ""])
    rollout.write_text(text.replace("lab-model", "gpt-5.6-luna"))
    journal = TemporaryJournal()
    import_sessions(journal, tmp_path, "codex")
    (again,) = import_sessions(journal, tmp_path, "codex")
    (agent,) = journal.agents(ended_after=0)
    assert (agent.client, agent.state, agent.tokens, agent.context_percent) == ("codex", "ended", 1242, 0.5)
    assert agent.usage is not None
    assert agent.usage.tokens == Tokens(input=2400, output=84)
    assert agent.usage.cost_usd == pytest.approx(2400 * 0.2e-6 + 84 * 1.2e-6)
    assert agent.cost_usd == pytest.approx(agent.usage.cost_usd)
    assert again.events == 0
