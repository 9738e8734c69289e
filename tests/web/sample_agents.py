"""A dozen sample agents for browser tests and screenshots, created with hooks and transcripts.

    samples = SampleAgents(daemon)
    samples.create()

They take the same path as Claude Code's own events: `POST /hook/…` with the time at which the hook fired, and
transcripts in the daemon's `~/.claude`.
"""

import json
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support import RunningDaemon, wait_until

Step = tuple[float, str, dict[str, Any]]
"""Minutes ago, name of the hook, payload."""

OPUS, SONNET, HAIKU = "claude-opus-4-7", "claude-sonnet-5", "claude-haiku-4-5"


@dataclass
class SampleAgent:
    """An agent and its events."""

    name: str
    project: str
    branch: str
    model: str
    steps: list[Step]
    tokens: int = 0
    cost: float | None = None
    messages: list[tuple[float, str]] = field(default_factory=list)
    """Messages between its tool calls, with minutes ago; they are only in its transcript."""


def prompt(ago: float, text: str) -> Step:
    """A prompt."""
    return ago, "user-prompt-submit", {"prompt": text}


def called(ago: float, tool: str, result: Any = None, *, lasts: float = 0.1, **tool_input: Any) -> list[Step]:
    """A finished tool call."""
    call = uuid.uuid4().hex
    payload = {"tool_name": tool, "tool_input": tool_input, "tool_use_id": call}
    return [(ago, "pre-tool-use", payload), (ago - lasts, "post-tool-use", payload | {"tool_response": result or {}})]


def calls(ago: float, tool: str, **tool_input: Any) -> Step:
    """A running tool call."""
    return ago, "pre-tool-use", {"tool_name": tool, "tool_input": tool_input, "tool_use_id": uuid.uuid4().hex}


def failed(ago: float, tool: str, error: str, **tool_input: Any) -> list[Step]:
    """A failed tool call."""
    payload = {"tool_name": tool, "tool_input": tool_input, "tool_use_id": uuid.uuid4().hex}
    return [(ago, "pre-tool-use", payload), (ago - 0.05, "post-tool-use-failure", payload | {"error": error})]


def asks_permission(ago: float, tool: str, **tool_input: Any) -> list[Step]:
    """A tool call that waits for permission."""
    payload = {"tool_name": tool, "tool_input": tool_input, "tool_use_id": uuid.uuid4().hex}
    return [(ago + 0.01, "pre-tool-use", payload), (ago, "permission-request", payload)]


def stop(ago: float, text: str, **more: Any) -> Step:
    """The end of a turn."""
    return ago, "stop", {"last_assistant_message": text, **more}


TESTS_PASSED = "============== 214 passed in 11.82s =============="

MIGRATION: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_input": {"command": "make migrate-test", "description": "Bring the test database up to date"},
    "tool_use_id": "plover-migration",
}

AGENTS = [
    SampleAgent(
        "able-ant",
        "infra",
        "main",
        OPUS,
        [
            prompt(9, "The build machine is out of disk again. Find out what takes the room and free some."),
            *called(8.5, "Bash", {"stdout": "/dev/sda1  118G  112G  1.2G  99% /"}, command="df -h /"),
            *called(
                8, "Bash", {"stdout": "61G\t/var/lib/docker\n9G\t/var/log"}, command="du -xhd1 /var | sort -h | tail"
            ),
            *asks_permission(
                0.7, "Bash", command="docker image prune --all --force", description="Remove unused images"
            ),
        ],
        tokens=61_000,
        cost=0.84,
        messages=[(8.2, "Most of it is below `/var/lib`. I look closer.")],
    ),
    SampleAgent(
        "nimble-kestrel",
        "shop",
        "main",
        SONNET,
        [
            prompt(14, "Add integration tests for the checkout."),
            *called(13, "Read", {"file": {"filePath": "checkout.py"}}, file_path="/home/dev/shop/src/checkout.py"),
            *called(12, "Grep", {"matches": 14}, pattern="def test_"),
            calls(
                3.2,
                "AskUserQuestion",
                questions=[
                    {
                        "question": "Which database should the tests run against?",
                        "header": "Database",
                        "multiSelect": False,
                        "options": [
                            {
                                "label": "SQLite in memory",
                                "description": "Fast; two queries use features that it lacks.",
                            },
                            {
                                "label": "PostgreSQL in a container",
                                "description": "As in production, 4 s slower to start.",
                            },
                            {"label": "Both", "description": "SQLite on every push, PostgreSQL at night."},
                        ],
                    }
                ],
            ),
        ],
        tokens=88_000,
        cost=1.12,
        messages=[(12.5, "The checkout has **no** integration tests yet. Before I write them I need one decision.")],
    ),
    SampleAgent(
        "patient-heron",
        "api",
        "feat/auth",
        OPUS,
        [
            prompt(26, "Plan the move from sessions to short-lived tokens. No code yet."),
            *called(24, "Glob", {"filenames": ["auth.py", "session.py"]}, pattern="**/auth*.py"),
            *called(23, "Read", {}, file_path="/home/dev/api/auth/session.py"),
            calls(
                11,
                "ExitPlanMode",
                plan="# Tokens instead of sessions\n\n1. Issue tokens beside sessions\n"
                "2. Let clients use either for two releases\n3. Remove the session table\n\n"
                "Risk: clients with **cached** cookies. I would log them out once.",
            ),
        ],
        tokens=186_000,
        cost=2.75,
    ),
    SampleAgent(
        "olive-bee",
        "shop",
        "main",
        SONNET,
        [
            prompt(31, "Rename Basket to Cart everywhere."),
            *called(30, "Grep", {"matches": 212}, pattern="Basket"),
            *called(29, "Edit", {}, file_path="/home/dev/shop/src/basket.py", old_string="Basket", new_string="Cart"),
            (8, "stop-failure", {"error": "rate_limit", "last_assistant_message": "API Error: 429"}),
        ],
        tokens=34_000,
        cost=0.41,
    ),
    SampleAgent(
        "snug-plover",
        "api",
        "feat/auth",
        OPUS,
        [
            prompt(49, "Why is the login so slow on the test machine?"),
            *called(48, "Bash", {"stdout": "p95 1840 ms"}, command="make profile", lasts=1.2),
            stop(
                43, "Each login waits for the mail server. In production that call is queued, so only tests are slow."
            ),
            prompt(17, "The login page returns 500 when the password has an emoji in it. Fix it and add a test."),
            *called(16.5, "Grep", {"matches": 3}, pattern="def verify_password"),
            *called(16, "Read", {}, file_path="/home/dev/api/auth/passwords.py"),
            *failed(
                15,
                "Bash",
                "Exit code 1\nE   UnicodeEncodeError: 'latin-1' codec can't encode character '\\U0001f642'",
                command="pytest tests/auth -q",
            ),
            *called(
                14,
                "Edit",
                {},
                file_path="/home/dev/api/auth/passwords.py",
                old_string='encode("latin-1")',
                new_string='encode("utf-8")',
            ),
            (12.01, "pre-tool-use", MIGRATION),
            (12, "permission-request", MIGRATION),
            (10, "post-tool-use", MIGRATION | {"tool_response": {"stdout": "1 migration applied"}}),
            *called(9, "Bash", {"stdout": TESTS_PASSED}, command="pytest tests/auth -q", lasts=0.3),
            calls(0.2, "Bash", command="npm test -- --watch=false", description="Run the page's tests too"),
        ],
        tokens=118_000,
        cost=1.93,
        messages=[
            (15.5, "The hash is made from `latin-1`, which has no emoji."),
            (
                13.5,
                'Fixed by using UTF-8:\n\n```python\ndigest = scrypt(password.encode("utf-8"), salt=salt)\n```\n\n'
                "Old hashes stay valid, since ASCII is the same in both.",
            ),
        ],
    ),
    SampleAgent(
        "brisk-marten",
        "web",
        "main",
        SONNET,
        [
            prompt(6, "Split the settings page into tabs, keep the tests green."),
            *called(5, "Read", {}, file_path="/home/dev/web/src/Settings.svelte"),
            (4.5, "task-created", {"task_id": "1", "task_subject": "Tabs component"}),
            (4.5, "task-created", {"task_id": "2", "task_subject": "Move the fields"}),
            (4.5, "task-created", {"task_id": "3", "task_subject": "Tests"}),
            (2, "task-completed", {"task_id": "1", "task_subject": "Tabs component"}),
            calls(0.1, "Edit", file_path="/home/dev/web/src/Settings.svelte", old_string="<form>", new_string="<Tabs>"),
        ],
        tokens=47_000,
        cost=0.52,
    ),
    SampleAgent(
        "quiet-lynx",
        "infra",
        "main",
        OPUS,
        [
            prompt(12, "Go through every Terraform module and tell me which ones nobody uses."),
            (11, "subagent-start", {"agent_id": "a1", "agent_type": "explorer"}),
            (11, "subagent-start", {"agent_id": "a2", "agent_type": "explorer"}),
            (
                10,
                "pre-tool-use",
                {
                    "agent_id": "a1",
                    "agent_type": "explorer",
                    "tool_name": "Grep",
                    "tool_input": {"pattern": 'module\\s+"vpc'},
                    "tool_use_id": "lynx-1",
                },
            ),
            (
                10,
                "pre-tool-use",
                {
                    "agent_id": "a2",
                    "agent_type": "explorer",
                    "tool_name": "Read",
                    "tool_input": {"file_path": "/home/dev/infra/modules/queue/main.tf"},
                    "tool_use_id": "lynx-2",
                },
            ),
        ],
        tokens=72_000,
        cost=3.10,
    ),
    SampleAgent(
        "golden-trout",
        "api",
        "feat/auth",
        SONNET,
        [
            prompt(22, "Start the dev server and the mail catcher, then wait."),
            *called(21, "Bash", {"stdout": "", "backgroundTaskId": "b1"}, command="make serve", run_in_background=True),
            *called(20, "Bash", {"stdout": "", "backgroundTaskId": "b2"}, command="mailpit", run_in_background=True),
            stop(
                19,
                "Both run in the background.",
                background_tasks=[
                    {
                        "id": "b1",
                        "type": "shell",
                        "status": "running",
                        "description": "make serve",
                        "command": "make serve",
                    },
                    {"id": "b2", "type": "shell", "status": "running", "description": "mailpit", "command": "mailpit"},
                ],
            ),
        ],
        tokens=19_000,
        cost=0.12,
    ),
    SampleAgent(
        "quick-elk",
        "docs",
        "main",
        HAIKU,
        [
            prompt(19, "Fix the typos in the tutorial."),
            *called(18, "Edit", {}, file_path="/home/dev/docs/tutorial.md", old_string="recieve", new_string="receive"),
            stop(16, "Fixed 7 typos in `tutorial.md`. Nothing else changed."),
        ],
        tokens=12_000,
        cost=0.03,
    ),
    SampleAgent(
        "calm-otter",
        "billing",
        "fix/vat",
        OPUS,
        [
            prompt(58, "VAT is rounded per line; it must be rounded per invoice."),
            *called(55, "Bash", {"stdout": TESTS_PASSED}, command="pytest -q", lasts=0.4),
            stop(
                41,
                "Rounding happens once per invoice now, with a test for the case from the ticket.\n\n"
                "| | before | after |\n|---|---|---|\n| 3 × 0.333 | 1.00 | 1.00 |\n| 7 × 0.145 | 1.05 | 1.02 |",
            ),
        ],
        tokens=210_000,
        cost=4.40,
    ),
    SampleAgent(
        "merry-wren",
        "web",
        "main",
        HAIKU,
        [
            prompt(190, "Update the dependencies."),
            *called(185, "Bash", {"stdout": "added 3 packages"}, command="npm update", lasts=0.6),
            stop(180, "All dependencies are up to date; the tests pass."),
            (120, "session-end", {"reason": "prompt_input_exit"}),
        ],
        tokens=28_000,
        cost=0.09,
    ),
    SampleAgent("early-finch", "docs", "main", SONNET, [], tokens=0),
]
"""The last one has no events but its start."""


class SampleAgents:
    """Sends the events of sample agents to a daemon."""

    def __init__(self, daemon: RunningDaemon, root: Path) -> None:
        self._daemon = daemon
        self._root = root
        self._now = time.time()
        self.ids: dict[str, str] = {}

    def create(self, agents: list[SampleAgent] = AGENTS) -> dict[str, str]:
        """Send all events in chronological order. Returns the ids by name."""
        steps = sorted(
            (
                (ago, number, event, payload)
                for number, agent in enumerate(agents)
                for ago, event, payload in self._steps(agent)
            ),
            key=lambda step: -step[0],
        )
        for ago, number, event, payload in steps:
            agent = agents[number]
            reply = self._post(agent, event, payload, ago)
            if agent.name not in self.ids:
                self.ids[agent.name] = reply["agent_id"]
                self._daemon.send("POST", f"/api/agents/{reply['agent_id']}/rename", {"name": agent.name}, scope="act")
        for _ in range(40):
            self._post(agents[-1], "instructions-loaded", {"file_path": "CLAUDE.md"}, (time.time() - self._now) / -60)
        for agent in agents:
            self._write_transcript(agent)
        measured = [agent for agent in agents if agent.tokens]
        wait_until(lambda: self._measured() >= len(measured), "the transcripts to be read")
        return self.ids

    def _measured(self) -> int:
        return sum(each["tokens"] is not None for each in self._daemon.agents())

    def _steps(self, agent: SampleAgent) -> list[Step]:
        first = max((ago for ago, _, _ in agent.steps), default=4.0) + 0.5
        return [(first, "session-start", {"source": "startup", "model": agent.model}), *agent.steps]

    def _post(self, agent: SampleAgent, event: str, payload: dict[str, Any], ago: float) -> dict[str, Any]:
        body = {
            "session_id": f"session-{agent.name}",
            "cwd": str(self._folder(agent)),
            "permission_mode": "default",
            "prompt_id": f"prompt-{agent.name}",
            "transcript_path": str(self._transcript(agent)),
            "tmux_pane": f"%{AGENTS.index(agent) + 3}" if agent in AGENTS else None,
            "tmux_session": agent.project,
            **payload,
        }
        headers = {"X-Headspace-Fired-At": f"{self._now - ago * 60:.6f}"}
        reply = self._daemon.post(event, body, headers)
        assert reply.status == 200, reply.body
        answer: dict[str, Any] = reply.json()
        return answer

    def _folder(self, agent: SampleAgent) -> Path:
        """A Git checkout with the agent's branch."""
        folder = self._root / f"{agent.project}-{agent.branch.replace('/', '-')}" / agent.project
        git = folder / ".git"
        if not git.exists():
            git.mkdir(parents=True)
            (git / "HEAD").write_text(f"ref: refs/heads/{agent.branch}\n")
        return folder

    def _transcript(self, agent: SampleAgent) -> Path:
        return self._daemon.home / ".claude/projects" / agent.project / f"session-{agent.name}.jsonl"

    def _write_transcript(self, agent: SampleAgent) -> None:
        """Write the transcript as the client would: messages and context usage."""
        path = self._transcript(agent)
        path.parent.mkdir(parents=True, exist_ok=True)
        first = max((ago for ago, _, _ in agent.steps), default=1.0)
        lines = [self._line(agent, ago, text, 1 - ago / (first + 1) * 0.7) for ago, text in agent.messages]
        if agent.tokens:
            lines += [self._line(agent, first * share, "", 1 - share * 0.8) for share in (0.9, 0.7, 0.5, 0.3, 0.15)]
        lines.sort(key=lambda line: str(line["timestamp"]))
        if agent.cost is not None:
            lines.append({"type": "cost-state", "totalCostUSD": agent.cost, "sessionId": f"session-{agent.name}"})
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def _line(self, agent: SampleAgent, ago: float, text: str, share: float) -> dict[str, Any]:
        at = datetime.fromtimestamp(self._now - ago * 60, UTC).isoformat().replace("+00:00", "Z")
        content = [{"type": "text", "text": text}] if text else [{"type": "thinking", "thinking": "…"}]
        usage = {"input_tokens": 12, "cache_read_input_tokens": round(agent.tokens * share), "output_tokens": 90}
        message = {"role": "assistant", "model": agent.model, "content": content, "usage": usage}
        return {
            "type": "assistant",
            "uuid": str(uuid.uuid4()),
            "timestamp": at,
            "sessionId": f"session-{agent.name}",
            "cwd": str(self._folder(agent)),
            "isSidechain": False,
            "message": message,
        }
