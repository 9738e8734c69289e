"""Prices of models, for clients that report tokens but no cost. Pure data.

Each row has the prices that the provider publishes for one model, in US dollars for a million tokens, for requests of
standard size and priority. Some providers charge more for very long requests: that is not considered, and neither are
subscriptions. To change a price or add a model, edit `PRICES`. A model that is not listed has no known price: its cost
is unknown, never zero.
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
    "gemini-3.8-flash": Price(0.75, 0.075, 3.75),  # until the end of 2026, then twice as much
    "gpt-5-codex": Price(1.25, 0.125, 10.0),
    "gpt-5.6-luna": Price(0.2, 0.02, 1.2),
    "gpt-5.6-terra": Price(2.0, 0.2, 12.0),
    "gpt-6-astra": Price(10.0, 1.0, 50.0),
    "gpt-6.1-sol": Price(2.0, 0.1, 10.0),
    "claude-opus-5": Price(5.0, 0.5, 25.0),
    "claude-sonnet-5": Price(2.0, 0.2, 10.0),
    "claude-haiku-4-5": Price(1.0, 0.1, 5.0),
}
"""The prices by the name of the model."""


def cost_of(model: str | None, tokens: Tokens) -> float | None:
    """What tokens of a model cost, in dollars; None if its price is unknown."""
    price = PRICES.get((model or "").removeprefix("models/"))
    if price is None:
        return None
    fresh = max(tokens.input - tokens.cached, 0)
    return (fresh * price.input + tokens.cached * price.cached + tokens.output * price.output) / MILLION
