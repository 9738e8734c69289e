"""Prices of models, for clients that report tokens but no cost. Pure data.

Each row has the prices that the provider publishes for one model, in US dollars for a million tokens, for requests of
standard size and priority. To change a price or add a model, edit `PRICES`. A model that is not listed has no known
price: its cost is unknown, never zero. Subscriptions are not considered.
"""

import msgspec

MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True):
    """The price of a model, in dollars for a million tokens."""

    input: float
    cached: float
    output: float


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """The tokens of one or several replies. `input` includes the cached ones, `output` the thoughts."""

    input: int = 0
    cached: int = 0
    output: int = 0


AS_OF = "2026-11-16"
"""When the prices were checked."""

PRICES: dict[str, Price] = {
    "gemini-2.5-pro": Price(1.25, 0.125, 10.0),
    "gpt-5-codex": Price(1.25, 0.125, 10.0),
    "claude-opus-5": Price(5.0, 0.5, 25.0),
    "claude-sonnet-5": Price(2.0, 0.2, 10.0),
}
"""The prices by the name of the model."""


def cost_of(model: str | None, tokens: Tokens) -> float | None:
    """What tokens of a model cost, in dollars; None if its price is unknown."""
    price = PRICES.get((model or "").removeprefix("models/"))
    if price is None:
        return None
    fresh = max(tokens.input - tokens.cached, 0)
    return (fresh * price.input + tokens.cached * price.cached + tokens.output * price.output) / MILLION
