"""The Claude Code of an actor: the payloads of its hooks, and the lines of its transcript. Pure, the same for a seed.

Payloads and lines have the shapes of 2.1.325, as recorded from the real client.
"""

import random
import uuid
from typing import Any

from claude_headspace.demo.steps import Life

Json = dict[str, Any]

WINDOW = 200_000
VERSION = "2.1.325"
PRICES = {"opus": 2.5, "sonnet": 1.0, "haiku": 0.3}
FIRST_PANE = 9001
HOME = "/home/sam/code"
"""Nobody's: the team's repositories need not exist, since only their names are shown."""

_TURN_EVENTS = "UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure PostToolBatch Stop"
_IN_A_TURN = frozenset((*_TURN_EVENTS.split(), "SubagentStop"))
"""Events that tell the permission mode."""


class Client:
    """One session of one client."""

    def __init__(self, life: Life, seed: int, number: int, projects: str) -> None:
        self.life = life
        self.pane = f"%{FIRST_PANE + number}"
        self._projects = projects
        self._chance = random.Random(f"{seed} {life.name}")  # noqa: S311  # nothing is protected by it
        self.session_id = self._id()
        self._prompt_id: str | None = None
        self._mode = "default"
        self._tokens = 14_000.0
        self._cost = 0.0

    @property
    def cwd(self) -> str:
        """Where it works."""
        return f"{HOME}/{self.life.project}"

    @property
    def transcript(self) -> str:
        """What the client writes."""
        return f"{self._folder}/{self.session_id}.jsonl"

    def transcript_of(self, errand: str) -> str:
        """What the client writes of a sub-agent."""
        return f"{self._folder}/{self.session_id}/subagents/agent-{errand}.jsonl"

    @property
    def _folder(self) -> str:
        return f"{self._projects}/{self.cwd.replace('/', '-')}"

    def _id(self) -> str:
        return str(uuid.UUID(int=self._chance.getrandbits(128), version=4))

    def _short_id(self, prefix: str) -> str:
        return f"{prefix}{self._chance.getrandbits(64):016x}"

    # --- hooks ---

    def _payload(self, event: str, fields: Json) -> Json:
        around = {"session_id": self.session_id, "transcript_path": self.transcript, "cwd": self.cwd}
        turn = {"prompt_id": self._prompt_id} if self._prompt_id else {}
        mode = {"permission_mode": self._mode} if event in _IN_A_TURN else {}
        return {**around, **turn, **mode, "hook_event_name": event, **fields}

    def _measures(self) -> Json:
        """What the status line is told: context and cost."""
        used = round(100 * self._tokens / WINDOW)
        window = {"context_window_size": WINDOW, "total_input_tokens": round(self._tokens), "used_percentage": used}
        return {
            "model": {"id": self.life.model, "display_name": _display(self.life.model)},
            "version": VERSION,
            "cost": {"total_cost_usd": round(self._cost, 4)},
            "context_window": {**window, "remaining_percentage": 100 - used},
        }

    # --- lines of the transcript ---

    def _line(self, kind: str, **fields: Any) -> Json:
        return {
            "type": kind,
            "uuid": self._id(),
            "sessionId": self.session_id,
            "cwd": self.cwd,
            "gitBranch": self.life.branch,
            "version": VERSION,
            "isSidechain": False,
            "userType": "external",
            "entrypoint": "cli",
            **fields,
        }

    def _typed(self, text: str) -> Json:
        message = {"role": "user", "content": text}
        return self._line("user", message=message, promptId=self._prompt_id, promptSource="typed")

    def _result(self, call_id: str, text: str, **fields: Any) -> Json:
        content = [{"type": "tool_result", "tool_use_id": call_id, "content": text, **fields}]
        return self._line("user", message={"role": "user", "content": content}, promptId=self._prompt_id)

    def _spoken(self, block: Json, stop_reason: str) -> Json:
        message = {"role": "assistant", "model": self.life.model, "content": [block], "stop_reason": stop_reason}
        usage = self._use()
        if block["type"] != "text":
            usage = None  # calls are told by hooks; a line that says nothing else need not be kept
        return self._line("assistant", message={**message, "id": self._short_id("msg_"), "usage": usage})

    def _use(self) -> Json | None:
        """What a reply takes: the context fills, and costs."""
        self._tokens += (self.life.tokens * 1.06 - self._tokens) * 0.12 + self._chance.uniform(0, 600)
        price = next((price for name, price in PRICES.items() if name in self.life.model), 1.0)
        self._cost += price * (self._tokens * 1.3e-6 + 0.03)
        return {
            "input_tokens": 12,
            "cache_creation_input_tokens": 900,
            "cache_read_input_tokens": round(self._tokens),
            "output_tokens": 240,
        }


def _display(model: str) -> str:
    _claude, family, *version = model.split("-")
    return f"{family.title()} {'.'.join(version)}"
