"""Whether a request was read before it is approved. Pure.

Rules
- A request that is left out in part is loaded completely first, and its end must have been on the screen.
- If Headspace itself does not have the complete request, the same choice is made twice.
"""

from collections.abc import Sequence

from claude_headspace.surfaces.text.formatting import Json

LOAD_FIRST = "A part of the request is left out. Press f to show all of it first."
READ_FIRST = "Read the request to its end first: press pgdn or end."
INCOMPLETE = "Headspace does not have the complete request. Choose it again to allow it all the same."


class Reading:
    """What the user has seen of one request."""

    def __init__(self) -> None:
        self.has_seen_end = False
        self._has_everything = False
        self._chosen: list[str] | None = None

    def start(self, *, everything: bool) -> None:
        """A request is shown from its beginning; `everything` is all that Headspace has."""
        self.has_seen_end, self._has_everything, self._chosen = False, everything, None

    def can_load_more(self, request: Json) -> bool:
        """Whether a part is left out that may still be loaded."""
        return not request["complete"] and not self._has_everything

    def obstacle(self, request: Json) -> str:
        """What the user must do before an approval; empty if nothing."""
        if self.can_load_more(request):
            return LOAD_FIRST
        return "" if self.has_seen_end else READ_FIRST

    def confirms(self, request: Json, reply: Sequence[str]) -> bool:
        """Whether this reply approves. For an incomplete request it must be the second time."""
        is_confirmed = bool(request["complete"]) or self._chosen == list(reply)
        self._chosen = list(reply)
        return is_confirmed
