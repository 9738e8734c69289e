"""Waits: what agents need from a person, and the answers that were given."""

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.answers import Answer
from claude_headspace.kernel.views import WaitView, wait_view
from claude_headspace.outputs.held_hooks import find_answer
from claude_headspace.ports import Reader


class WaitQueries:
    """Reads waits."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def views(self, *, agent_id: str | None, only_open: bool) -> list[WaitView]:
        """Waits of one agent or of all, the oldest first."""
        return [wait_view(wait) for wait in self._reader.waits(agent_id=agent_id, only_open=only_open)]

    def find(self, wait_id: str) -> Wait:
        """One wait by its id, open or closed."""
        if (found := self._reader.wait(wait_id)) is not None:
            return found
        message = f"There is no wait {wait_id[:200]}."
        raise BadRequest("unknown_wait", message, "See GET /api/waits, or `headspace list`.", status=404)

    def answer_to(self, wait: Wait) -> Answer | None:
        """The answer that a wait received."""
        return find_answer(self._reader, wait)
