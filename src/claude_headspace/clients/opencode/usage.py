"""The usage of a message of opencode, as its plugin reports it and as its database has it. Pure."""

from claude_headspace.clients.opencode.wire import WireTokens
from claude_headspace.kernel.facts import UsageMeasured
from claude_headspace.kernel.text import short
from claude_headspace.kernel.usage import ModelUsage, Tokens


def usage_of(
    model_id: str, used: WireTokens, cost: float | None, *, window: int | None = None, session_cost: float | None = None
) -> UsageMeasured:
    """What a message used, and its context. `cost` is that of the message, 0 if opencode knows no price."""
    model, context = short(model_id), used.input + used.cache.read + used.cache.write
    tokens = Tokens(used.input, used.cache.read, used.cache.write, used.output + used.reasoning)
    added = ModelUsage(model=model, tokens=tokens, cost_usd=cost) if tokens.total else None
    return UsageMeasured(model=model or None, tokens=context or None, window=window, cost_usd=session_cost, added=added)
