"""Clients that do not say whether they exit, and that do not report the final text of a turn."""

from claude_headspace.kernel import facts
from tests.kernel.story import CLIENT, Story


def working() -> Story:
    """An agent in a turn."""
    story = Story()
    story.starts(at=1)
    story.prompted(at=2)
    return story


def test_a_closed_session_ends_nothing() -> None:
    """The client may begin a new conversation; its process tells."""
    story = working()
    story.report(facts.SessionEnded("closed"), at=3, session_id="session-1")
    assert story.board == ("working", None)
    assert story.agent.session is not None
    assert story.agent.session.end_reason == "closed"


def test_an_agent_whose_session_was_closed_ends_with_its_process() -> None:
    """It did not vanish."""
    story = working()
    story.report(facts.SessionEnded("closed"), at=3, session_id="session-1")
    story.report(facts.ClientVanished(CLIENT.client_pid), at=4)
    assert (story.board[0], story.agent.end_reason) == ("ended", "closed")


def test_an_agent_that_vanished_had_no_end_of_its_session() -> None:
    """Its client was killed."""
    story = working()
    story.report(facts.ClientVanished(CLIENT.client_pid), at=4)
    assert (story.board[0], story.agent.end_reason) == ("ended", "vanished")


def test_the_final_text_of_a_turn_is_that_of_the_transcript() -> None:
    """If the report of the end has none."""
    story = working()
    story.report(facts.AgentWrote("Which database do you want?", final=True), at=3)
    story.report(facts.TurnStopped(None), at=4)
    assert story.board == ("waiting", "question")


def test_an_empty_final_text_is_not_replaced() -> None:
    """The client reports that there was none."""
    story = working()
    story.report(facts.AgentWrote("Which database do you want?", final=True), at=3)
    story.report(facts.TurnStopped(""), at=4)
    assert story.board == ("idle", None)
