"""An engine for tests: over any journal, with ids and subscribers of the test's choice."""

from collections.abc import Callable, Sequence

from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.engine.submission import DEFAULT_FUNCTIONS, BatchFunctions, ChooseNotices, no_notices
from claude_headspace.engine.writer import EventWriter
from claude_headspace.ports import StreamMessage, Writer
from claude_headspace.testing import ManualClock


def engine_over(
    journal: Writer,
    new_id: Callable[[], str] = DEFAULT_FUNCTIONS.new_id,
    on_messages: Callable[[Sequence[StreamMessage]], None] = lambda _messages: None,
    choose_notices: ChooseNotices = no_notices,
    changes: ChangePublisher | None = None,
) -> EventWriter:
    """An engine that is not started."""
    changes = changes or ChangePublisher()
    changes.on_messages(on_messages)
    functions = BatchFunctions(choose_notices=choose_notices, new_id=new_id)
    return EventWriter(journal, changes, "laptop", ManualClock(), functions=functions)
