"""Sends one prompt to several agents at once, and collects the result of each.

Rules
- The agents are independent: a refusal by one does not affect the others.
- Every agent gets its own id, so that a repeated request types nothing twice.
"""

import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.text.labels import send_result

MAX_AT_ONCE = 8


class SendPrompt(Protocol):
    """Sends a prompt to one agent (`ApiClient.send`)."""

    def __call__(
        self, reference: str, text: str, send_id: str, *, keep_draft: bool = False, when_idle: bool = False
    ) -> Json: ...


class AgentResult(NamedTuple):
    """What became of the prompt to one agent: the reply of the daemon, or the refusal."""

    agent: Json
    sent: Json | None
    error: HeadspaceError | None = None

    @property
    def text(self) -> str:
        """The result in one sentence."""
        if self.sent is not None:
            return send_result(self.sent)
        return f"{self.agent['name']}: not sent. {self.error.message if self.error else ''}"

    def json(self) -> Json:
        """The result for programs: the reply, or the status `refused` with the error."""
        if self.sent is not None:
            return self.sent
        error = self.error.body()["error"] if self.error is not None else None
        return {"status": "refused", "agent_id": self.agent["id"], "agent": self.agent["name"], "error": error}


def send_to_all(
    send: SendPrompt, agents: Sequence[Json], text: str, *, keep_draft: bool = False, when_idle: bool = False
) -> Iterator[AgentResult]:
    """Send a prompt to all of these agents. Results come in the order of the agents."""

    def send_to(agent: Json) -> AgentResult:
        try:
            sent = send(agent["id"], text, uuid.uuid4().hex, keep_draft=keep_draft, when_idle=when_idle)
            return AgentResult(agent, sent)
        except HeadspaceError as error:
            return AgentResult(agent, None, error)

    with ThreadPoolExecutor(MAX_AT_ONCE) as threads:
        yield from threads.map(send_to, agents)
