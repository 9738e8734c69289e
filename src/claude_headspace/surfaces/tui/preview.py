"""The live preview in `top`: reads the screen of the selected agent again and again, only while it is visible.

Rules
- Nothing is read while the preview is hidden: no timer runs.
- One read at a time for an agent. If another agent is selected meanwhile, its preview is read at once, and the result
  of the earlier read is dropped.
- A screen that changes is read more often than one that does not.
"""

from collections.abc import Callable
from typing import NamedTuple

from claude_headspace.surfaces.client.preview import Preview
from claude_headspace.surfaces.text.formatting import Json

CHANGING_SECONDS, STEADY_SECONDS, UNFOCUSED_SECONDS = 0.2, 1.0, 3.0
"""How long after a read the next one starts: if the screen has changed, if not, and without the focus."""


class PreviewCalls(NamedTuple):
    """What the preview needs: all of them return at once."""

    read: Callable[[Json, Callable[[Preview], None]], None]
    """Read a preview in a thread, and pass it on."""
    visible_agent: Callable[[], Json | None]
    """The agent whose preview is on the screen now."""
    run_later: Callable[[float, Callable[[], None]], None]
    """Replaces an earlier call."""
    has_focus: Callable[[], bool]
    show: Callable[[], None]


class LivePreview:
    """The preview of the selected agent, kept up to date."""

    def __init__(self, calls: PreviewCalls) -> None:
        self._calls = calls
        self._agent_id = ""
        self._preview: Preview | None = None
        self._reading_id = ""
        """The agent whose preview is being read."""

    def of(self, agent: Json) -> Preview | None:
        """The preview of an agent; None if it was not read yet."""
        return self._preview if agent["id"] == self._agent_id else None

    def update(self) -> None:
        """Read the preview of the visible agent now. Does nothing if there is none."""
        agent = self._calls.visible_agent()
        if agent is not None and self._reading_id != agent["id"]:
            self._reading_id = agent["id"]
            self._calls.read(agent, lambda preview: self._take(agent["id"], preview))

    def _take(self, agent_id: str, preview: Preview) -> None:
        if agent_id != self._reading_id:
            return
        self._reading_id = ""
        has_changed = (agent_id, preview) != (self._agent_id, self._preview)
        self._agent_id, self._preview = agent_id, preview
        visible = self._calls.visible_agent()
        if visible is None or visible["id"] != agent_id:
            self.update()
            return
        if has_changed:
            self._calls.show()
        seconds = CHANGING_SECONDS if has_changed else STEADY_SECONDS
        self._calls.run_later(seconds if self._calls.has_focus() else UNFOCUSED_SECONDS, self.update)
