"""Reports of usage as Claude Code writes them to its transcript, for tests."""

from typing import Any

import msgspec

from claude_headspace.clients.transcript_line import LINE
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.testing import hook


def totals(at: int, session: str, cost: float | None, **models: tuple[int, float | None]) -> Envelope:
    """The cost of a session so far, and the tokens and the cost of each model."""
    used = {name: {"inputTokens": tokens, "costUSD": part} for name, (tokens, part) in models.items()}
    line: dict[str, Any] = {"type": "cost-state", "sessionId": session, "cwd": f"/{session}", "modelUsage": used}
    line |= {"totalCostUSD": cost or 0.0, "hasUnknownModelCost": cost is None}
    envelope = hook(LINE, at, session_id=session)
    return msgspec.structs.replace(envelope, origin=Origin.TRANSCRIPT, payload=msgspec.json.encode(line))
