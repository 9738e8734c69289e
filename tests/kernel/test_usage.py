"""Cost and tokens of an agent over all its sessions: what each report of a client adds."""

import pytest

from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.usage import MAX_COUNTERS, QUARTER, Bucket, ModelUsage, Tokens
from tests.kernel.story import Story, time_at

OPUS, HAIKU = "claude-opus-5-5", "claude-haiku-4-5"


class Spending(Story):
    """An agent whose client reports its usage."""

    def costs(self, cost: float, *, session: str = "session-1", at: float | None = None, model: str = OPUS) -> None:
        """The status line reports the cost of a session so far."""
        fact = facts.UsageMeasured(model=model, cost_usd=cost)
        self.report(fact, origin=Origin.STATUS_LINE, at=at, session_id=session)

    def totals(self, cost: float | None, *used: ModelUsage, session: str = "session-1", model: str = "") -> None:
        """The transcript reports cost and tokens of a session so far."""
        self.report(facts.UsageMeasured(model=model or None, cost_usd=cost, totals=used), session_id=session)

    @property
    def buckets(self) -> list[Bucket]:
        """The rows that a journal would have."""
        found: dict[str, Bucket] = {}
        for change in self.changes:
            found |= change.usage
        return list(found.values())

    @property
    def by_model(self) -> dict[str, float]:
        """The cost of each model."""
        models = {bucket.model for bucket in self.buckets}
        return {name: round(sum(each.cost_usd for each in self.buckets if each.model == name), 4) for name in models}

    @property
    def cost(self) -> float:
        """The cost of all sessions. The rows always add up to it."""
        usage = self.agent.usage
        assert usage is not None
        assert usage.cost_usd == pytest.approx(sum(each.cost_usd for each in self.buckets))
        return round(usage.cost_usd or 0.0, 6)

    @property
    def tokens(self) -> int:
        """All tokens of all sessions. The rows always add up to them."""
        usage = self.agent.usage
        assert usage is not None
        assert usage.tokens.total == sum(each.tokens.total for each in self.buckets)
        return usage.tokens.total


def used(model: str, tokens: int, cost: float | None = None) -> ModelUsage:
    """What a session used of a model."""
    return ModelUsage(model=model, tokens=Tokens(tokens), cost_usd=cost)


def test_clear_does_not_reset_the_cost() -> None:
    """The next session starts at zero, and adds to the previous one."""
    story = Spending()
    story.starts()
    story.costs(0.5)
    story.costs(1.25)
    story.hook("SessionEnd", reason="clear")
    story.hook("SessionStart", source="clear", session_id="session-2")
    story.costs(0.0, session="session-2")
    story.costs(0.75, session="session-2")
    assert (story.agent.cost_usd, story.agent.total_cost_usd, story.cost) == (0.75, 2.0, 2.0)
    assert {bucket.session_id for bucket in story.buckets} == {"session-1", "session-2"}


def test_clear_may_continue_the_cost_of_the_process() -> None:
    """Older clients do not start at zero again: the status line of the new session has the cost of both."""
    story = Spending()
    story.starts()
    story.costs(1.0)
    story.hook("SessionStart", source="clear", session_id="session-2")
    story.costs(1.25, session="session-2")
    story.costs(1.5, session="session-2")
    assert (story.cost, story.by_model) == (1.5, {OPUS: 1.5})


def test_the_transcript_of_a_cleared_session_has_only_its_own_cost() -> None:
    """Also if it is the same as that of the session before."""
    story = Spending()
    story.starts()
    story.totals(1.0, used(OPUS, 100, 1.0))
    story.hook("SessionStart", source="clear", session_id="session-2")
    story.totals(1.0, used(OPUS, 100, 1.0), session="session-2")
    assert (story.cost, story.tokens) == (2.0, 200)


def test_a_resumed_session_continues_its_totals() -> None:
    """What was counted before the client ended is not counted again."""
    story = Spending()
    story.starts()
    story.totals(1.0, used(OPUS, 100, 1.0))
    story.hook("SessionEnd", reason="other")
    story.hook("SessionStart", source="resume")
    story.costs(1.0)
    story.totals(1.5, used(OPUS, 160, 1.5))
    assert (story.cost, story.tokens) == (1.5, 160)


def test_a_resumed_client_may_start_at_zero() -> None:
    """Older clients lose their totals when they are started again: they count from zero again."""
    story = Spending()
    story.starts()
    story.totals(1.0, used(OPUS, 100, 1.0))
    story.hook("SessionStart", source="resume")
    story.costs(0.25)
    story.totals(0.25, used(OPUS, 30, 0.25))
    assert (story.cost, story.tokens) == (1.25, 130)


def test_an_earlier_session_can_be_resumed() -> None:
    """Its totals are still known; of sessions before, the first report is not counted."""
    story = Spending()
    story.starts()
    for number in range(2, MAX_COUNTERS + 3):
        story.costs(1.0, session=f"session-{number - 1}")
        story.hook("SessionStart", source="clear", session_id=f"session-{number}")
        story.costs(0.0, session=f"session-{number}")
    story.hook("SessionStart", source="resume", session_id="session-4")
    story.costs(1.5, session="session-4")
    assert story.cost == MAX_COUNTERS + 1.5
    story.hook("SessionStart", source="resume", session_id="session-1")
    story.costs(1.0, session="session-1")
    story.costs(1.1, session="session-1")
    assert story.cost == MAX_COUNTERS + 1.6


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_fork_does_not_count_the_session_it_continues(source: str) -> None:
    """Its client starts with the totals of the other session, which belong to another agent."""
    story = Spending()
    story.starts(source=source)
    story.costs(3.0)
    story.totals(3.0, used(OPUS, 900, 2.5), used(HAIKU, 90, 0.5))
    story.totals(3.5, used(OPUS, 1_000, 3.0), used(HAIKU, 90, 0.5))
    assert (story.cost, story.tokens, story.by_model) == (0.5, 100, {OPUS: 0.5})


def test_a_fork_that_inherits_nothing_counts_all_of_its_tokens() -> None:
    """Its cost is zero when it starts."""
    story = Spending()
    story.starts(source="resume")
    story.costs(0.0)
    story.totals(0.5, used(OPUS, 100, 0.5))
    assert (story.cost, story.tokens) == (0.5, 100)


def test_a_late_report_changes_nothing() -> None:
    """A status line that arrives after a newer one has a lower cost. After a compaction, too."""
    story = Spending()
    story.starts()
    story.costs(1.0)
    story.costs(0.9)
    story.hook("SessionStart", source="compact")
    story.costs(0.9)
    story.costs(1.1)
    assert story.cost == 1.1


def test_costs_by_model_replace_the_assumption() -> None:
    """The status line has one cost for all models. The transcript tells which model it belongs to."""
    story = Spending()
    story.starts()
    story.costs(1.0)
    assert story.by_model == {OPUS: 1.0}
    story.totals(1.0, used(OPUS, 100, 0.8), used(HAIKU, 400, 0.2))
    assert (story.by_model, story.cost, story.tokens) == ({OPUS: 0.8, HAIKU: 0.2}, 1.0, 500)


def test_totals_without_a_model_count_for_the_model_in_use() -> None:
    """Some clients add up the tokens of all models."""
    story = Spending()
    story.starts()
    story.totals(0.1, used("", 100), model="gpt-6-astra")
    story.totals(0.3, used("", 250), model="gpt-6.1-sol")
    found = {bucket.model: (bucket.tokens.total, round(bucket.cost_usd, 4)) for bucket in story.buckets}
    assert found == {"gpt-6-astra": (100, 0.1), "gpt-6.1-sol": (150, 0.2)}


def test_tokens_without_a_price_are_counted_as_such() -> None:
    """Their cost is unknown, not zero."""
    story = Spending()
    story.starts()
    story.totals(None, used("local-model", 400))
    assert story.agent.usage is not None
    assert (story.agent.total_cost_usd, story.tokens, story.agent.usage.unpriced_tokens) == (None, 400, 400)


def test_single_messages_add_up() -> None:
    """A message without a price of its own has no known cost."""
    story = Spending()
    story.starts()
    for cost in (0.2, 0.0):
        added = ModelUsage(model=OPUS, tokens=Tokens(10, 20, 30, 40), cost_usd=cost)
        story.report(facts.UsageMeasured(added=added), session_id="session-1")
    [bucket] = story.buckets
    assert (bucket.tokens, bucket.unpriced_tokens) == (Tokens(20, 40, 60, 80), 100)


def test_usage_is_kept_by_quarter_of_an_hour() -> None:
    """A report counts at its own time, whatever the order."""
    story = Spending()
    story.starts()
    first = time_at(0) // QUARTER * QUARTER
    for minutes, cost in ((1, 1.0), (2, 1.5), (20, 2.0), (3, 2.5)):
        story.costs(cost, at=(first - time_at(0)) / 1e6 + minutes * 60)
    assert [((each.at - first) // QUARTER, round(each.cost_usd, 4)) for each in story.buckets] == [
        (0, 1.5),
        (1, 0.5),
        (0, 0.5),
    ]
    assert story.cost == 2.5
