"""Prices of models: what tokens cost, for clients that report no cost."""

from claude_headspace.clients.prices import PRICES, Tokens, cost_of


def test_cached_tokens_are_cheaper() -> None:
    """The input includes the cached tokens."""
    price = PRICES["gemini-3.8-flash"]
    tokens = Tokens(input=1_000_000, cached=250_000, output=100_000)
    assert cost_of("gemini-3.8-flash", tokens) == 0.75 * price.input + 0.25 * price.cached + 0.1 * price.output


def test_an_unknown_model_has_no_cost() -> None:
    """Unknown is not zero."""
    assert cost_of("some-other-model", Tokens(input=10)) is None
    assert cost_of(None, Tokens(input=10)) is None


def test_cached_tokens_cost_less_than_others() -> None:
    """A typing error in the table would most likely break the order of the prices."""
    assert all(0 < price.cached < price.input < price.output for price in PRICES.values())
