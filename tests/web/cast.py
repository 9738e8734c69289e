"""A dozen believable agents, told through real hooks and real transcripts, for pictures and tests of the page.

    cast = Cast(daemon)
    cast.play()

Everything goes the way that Claude Code's own events go: `POST /hook/…` with the moment at which the hook fired, and
transcripts below the daemon's `~/.claude`. Every session's story is data.
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
"""How many minutes ago, which hook, and what it tells."""

OPUS, SONNET, HAIKU = "claude-opus-4-7", "claude-sonnet-5", "claude-haiku-4-5"


@dataclass
class Part:
    """One agent's story."""

    name: str
    project: str
    branch: str
    model: str
    steps: list[Step]
    tokens: int = 0
    cost: float | None = None
    said: list[tuple[float, str]] = field(default_factory=list)
    """What it said between its calls, as its transcript has it."""


def prompt(ago: float, text: str) -> Step:
    """Somebody asks for something."""
    return ago, "user-prompt-submit", {"prompt": text}


def called(ago: float, tool: str, result: Any = None, *, lasts: float = 0.1, **tool_input: Any) -> list[Step]:
    """A call that is over."""
    call = uuid.uuid4().hex
    told = {"tool_name": tool, "tool_input": tool_input, "tool_use_id": call}
    return [(ago, "pre-tool-use", told), (ago - lasts, "post-tool-use", told | {"tool_response": result or {}})]


def calls(ago: float, tool: str, **tool_input: Any) -> Step:
    """A call that runs."""
    return ago, "pre-tool-use", {"tool_name": tool, "tool_input": tool_input, "tool_use_id": uuid.uuid4().hex}


def failed(ago: float, tool: str, error: str, **tool_input: Any) -> list[Step]:
    """A call that failed."""
    told = {"tool_name": tool, "tool_input": tool_input, "tool_use_id": uuid.uuid4().hex}
    return [(ago, "pre-tool-use", told), (ago - 0.05, "post-tool-use-failure", told | {"error": error})]


def asks_permission(ago: float, tool: str, **tool_input: Any) -> list[Step]:
    """A dialog is open."""
    told = {"tool_name": tool, "tool_input": tool_input, "tool_use_id": uuid.uuid4().hex}
    return [(ago + 0.01, "pre-tool-use", told), (ago, "permission-request", told)]


def stop(ago: float, text: str, **more: Any) -> Step:
    """The turn is over."""
    return ago, "stop", {"last_assistant_message": text, **more}


TESTS_PASSED = "============== 214 passed in 11.82s =============="

MIGRATION: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_input": {"command": "make migrate-test", "description": "Bring the test database up to date"},
    "tool_use_id": "plover-migration",
}

PARTS = [
    Part(
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
        said=[(8.2, "Most of it is below `/var/lib`. I look closer.")],
    ),
    Part(
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
        said=[(12.5, "The checkout has **no** integration tests yet. Before I write them I need one decision.")],
    ),
    Part(
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
    Part(
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
    Part(
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
        said=[
            (15.5, "The hash is made from `latin-1`, which has no emoji."),
            (
                13.5,
                'Fixed by using UTF-8:\n\n```python\ndigest = scrypt(password.encode("utf-8"), salt=salt)\n```\n\n'
                "Old hashes stay valid, since ASCII is the same in both.",
            ),
        ],
    ),
    Part(
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
    Part(
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
    Part(
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
    Part(
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
    Part(
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
    Part(
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
    Part("early-finch", "docs", "main", SONNET, [], tokens=0),
]
"""Who plays."""


class Cast:
    """Plays the stories to a daemon."""

    def __init__(self, daemon: RunningDaemon, root: Path) -> None:
        self._daemon = daemon
        self._root = root
        self._now = time.time()
        self.ids: dict[str, str] = {}

    def play(self, parts: list[Part] = PARTS) -> dict[str, str]:
        """All stories in the order of their moments; the agents' ids by their names."""
        steps = sorted(
            ((ago, number, event, told) for number, part in enumerate(parts) for ago, event, told in self._steps(part)),
            key=lambda step: -step[0],
        )
        for ago, number, event, told in steps:
            part = parts[number]
            reply = self._post(part, event, told, ago)
            if part.name not in self.ids:
                self.ids[part.name] = reply["agent_id"]
                self._daemon.send("POST", f"/api/agents/{reply['agent_id']}/rename", {"name": part.name}, scope="act")
        for _ in range(40):
            self._post(parts[-1], "instructions-loaded", {"file_path": "CLAUDE.md"}, (time.time() - self._now) / -60)
        for part in parts:
            self._write_transcript(part)
        measured = [part for part in parts if part.tokens]
        wait_until(lambda: self._measured() >= len(measured), "the transcripts were read")
        return self.ids

    def _measured(self) -> int:
        return sum(agent["tokens"] is not None for agent in self._daemon.agents())

    def _steps(self, part: Part) -> list[Step]:
        first = max((ago for ago, _, _ in part.steps), default=4.0) + 0.5
        return [(first, "session-start", {"source": "startup", "model": part.model}), *part.steps]

    def _post(self, part: Part, event: str, told: dict[str, Any], ago: float) -> dict[str, Any]:
        body = {
            "session_id": f"session-{part.name}",
            "cwd": str(self._folder(part)),
            "permission_mode": "default",
            "prompt_id": f"prompt-{part.name}",
            "transcript_path": str(self._transcript(part)),
            "tmux_pane": f"%{PARTS.index(part) + 3}" if part in PARTS else None,
            "tmux_session": part.project,
            **told,
        }
        headers = {"X-Headspace-Fired-At": f"{self._now - ago * 60:.6f}"}
        reply = self._daemon.post(event, body, headers)
        assert reply.status == 200, reply.body
        answer: dict[str, Any] = reply.json()
        return answer

    def _folder(self, part: Part) -> Path:
        """A checkout with the branch that the story is about."""
        folder = self._root / f"{part.project}-{part.branch.replace('/', '-')}" / part.project
        git = folder / ".git"
        if not git.exists():
            git.mkdir(parents=True)
            (git / "HEAD").write_text(f"ref: refs/heads/{part.branch}\n")
        return folder

    def _transcript(self, part: Part) -> Path:
        return self._daemon.home / ".claude/projects" / part.project / f"session-{part.name}.jsonl"

    def _write_transcript(self, part: Part) -> None:
        """What the client would have written: what was said between calls, and how full the context was then."""
        path = self._transcript(part)
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = max((ago for ago, _, _ in part.steps), default=1.0)
        lines = [self._line(part, ago, text, 1 - ago / (begun + 1) * 0.7) for ago, text in part.said]
        if part.tokens:
            lines += [self._line(part, begun * share, "", 1 - share * 0.8) for share in (0.9, 0.7, 0.5, 0.3, 0.15)]
        lines.sort(key=lambda line: str(line["timestamp"]))
        if part.cost is not None:
            lines.append({"type": "cost-state", "totalCostUSD": part.cost, "sessionId": f"session-{part.name}"})
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def _line(self, part: Part, ago: float, text: str, share: float) -> dict[str, Any]:
        at = datetime.fromtimestamp(self._now - ago * 60, UTC).isoformat().replace("+00:00", "Z")
        content = [{"type": "text", "text": text}] if text else [{"type": "thinking", "thinking": "…"}]
        usage = {"input_tokens": 12, "cache_read_input_tokens": round(part.tokens * share), "output_tokens": 90}
        message = {"role": "assistant", "model": part.model, "content": content, "usage": usage}
        return {
            "type": "assistant",
            "uuid": str(uuid.uuid4()),
            "timestamp": at,
            "sessionId": f"session-{part.name}",
            "cwd": str(self._folder(part)),
            "isSidechain": False,
            "message": message,
        }
