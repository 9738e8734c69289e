"""Sanitizes payloads before they are stored: secrets are redacted first, then long text is truncated."""

from claude_headspace.clients.claude_code import transcript
from claude_headspace.kernel import size_limits as bounds
from claude_headspace.kernel.redaction import Redactor
from claude_headspace.kernel.size_limits import Bounds


class Sanitizer:
    """Redacts and truncates payloads."""

    def __init__(self, limits: Bounds | None = None, redact: Redactor | None = None) -> None:
        self._bounds = limits or Bounds()
        self._redact = redact or Redactor()

    def hook(self, payload: bytes) -> bytes:
        """The payload of a hook as it is stored."""
        return bounds.bounded(self._redact(payload), self._bounds)

    def line(self, raw: bytes) -> bytes:
        """A line of a transcript as it is stored."""
        return transcript.bounded(self._redact(raw.strip()), self._bounds)
