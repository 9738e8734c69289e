"""`headspace top`: the screen, its start and its updates.

Each group of keys is a class in a module of its own (`*_keys.py`, `navigation.py`); `Top` combines them. `board_app.py`
is their base, `drawing.py` draws the screen, and `keys.py` is the table of all keys.
"""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.filter import LineFilter, NoColor
from textual.message import Message

from claude_headspace.surfaces.cli.output import Span
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui import styles
from claude_headspace.surfaces.tui.actions import Actions
from claude_headspace.surfaces.tui.agent_keys import AgentKeys
from claude_headspace.surfaces.tui.answer_keys import AnswerKeys
from claude_headspace.surfaces.tui.feed import Feed, FeedEvent
from claude_headspace.surfaces.tui.key_guard import KeyGuard
from claude_headspace.surfaces.tui.key_parser import use_key_parser
from claude_headspace.surfaces.tui.keymap import keymap
from claude_headspace.surfaces.tui.keys import KEYS, Key
from claude_headspace.surfaces.tui.presentation.details import ConversationCache
from claude_headspace.surfaces.tui.prompt_keys import PromptKeys
from claude_headspace.surfaces.tui.search_keys import SearchKeys
from claude_headspace.surfaces.tui.store import Board, starts_needing_user
from claude_headspace.surfaces.tui.widgets import AgentList, LinePane, SingleLine

SEEN_SECONDS = 1.0
"""How long an agent must be selected to count as seen."""
PRIORITY_KEYS = ("tab",)
"""Keys that Textual would otherwise handle itself."""


class FeedUpdated(Message):
    """There are events in the feed. Several messages are merged into one."""

    def can_replace(self, message: Message) -> bool:
        """No event is lost: the handler drains the feed."""
        return isinstance(message, FeedUpdated)


class Top(AnswerKeys, PromptKeys, AgentKeys, SearchKeys):
    """The board, full screen."""

    CSS_PATH = "top.tcss"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "headspace"
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (116, "-wide")]  # noqa: RUF012  # as Textual declares it
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (24, "-high")]  # noqa: RUF012  # as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key.names, key.action, key.description, show=False, priority=key.names in PRIORITY_KEYS, id=key.id)
            for key in KEYS
            if key.action != "jump_to"
        ),
        *(Binding(str(number), f"jump_to({number})", show=False) for number in range(1, 10)),
    ]

    def __init__(
        self,
        feed: Feed,
        actions: Actions,
        clock: Callable[[], datetime],
        palette: str = "dark",
        *,
        bell: bool = True,
        once: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
        keys: Sequence[Key] = KEYS,
    ) -> None:
        super().__init__()
        self._keys = keys
        use_key_parser()
        self._guard = KeyGuard(monotonic)
        self._closing_guard = KeyGuard(monotonic)
        self._feed = feed
        self._agent_actions = actions
        self._clock = clock
        self._palette = "terminal" if self.no_color else palette
        self._bell = bell
        self._once = once
        self._view = actions.load_view()
        self._conversation = ConversationCache()
        self._named_timers = {}
        self.board = Board()
        for theme in styles.themes():
            self.register_theme(theme)
        self.theme = self._palette

    def get_line_filters(self) -> Sequence[LineFilter]:
        """With `NO_COLOR` there are no colours; Textual would replace them by grey."""
        return [NoColor()] if self.no_color else super().get_line_filters()

    def compose(self) -> ComposeResult:
        yield SingleLine(self._header_line, self._palette_name, id="header")
        yield SingleLine(self._guards_line, self._palette_name, id="guards")
        with Container(id="body"):
            yield AgentList(self._palette_name, self._clock)
            yield LinePane(self._palette_name, id="details")
        yield SingleLine(self._footer_line, self._palette_name, id="footer")

    def on_mount(self) -> None:
        self.set_keymap(keymap(self._keys))
        self.agents.focus()
        self._show()
        self._feed.start(lambda: self.post_message(FeedUpdated()))  # called from the thread of the feed
        self._tick()

    # --- updates ---

    def on_feed_updated(self) -> None:
        """Apply all events, then draw once."""
        for event in self._feed.drain():
            self._apply(event)
        self._show(redraw_details=False)
        self._update_queue_panel()
        self._update_answer_panel()

    def _apply(self, event: FeedEvent) -> None:
        if event.kind == "loaded":
            self.board.load(event.agents)
        elif event.kind == "lost":
            self.board.connected = False
            self.board.guard_problems = []  # the stream begins with the current ones
        else:
            self.board.connected = True
            before = self.board.agents.get(event.data.get("agent_id", ""))
            if not self.board.apply(event.kind, event.data):
                self._feed.reload()
            elif before is not None:
                self._ring_if_needed(before)

    def _ring_if_needed(self, before: Json) -> None:
        after = self.board.agents[before["id"]]
        if self._bell and starts_needing_user(before, after) and not self.app_focus:
            self._run_in_thread(
                partial(self._agent_actions.should_ring, after), lambda wanted: self.bell() if wanted else None
            )

    # --- focus, size and selection ---

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def on_app_focus(self) -> None:
        """The terminal got the focus: a key that was meant for another window does not count."""
        self._guard.note_change()
        self._closing_guard.note_change()
        self._renumber()

    def on_agent_list_selected(self, event: AgentList.Selected) -> None:
        if event.is_double_click:
            self.action_jump() if self.agents.selected is not None else self.action_fold()
            return
        self.query_one("#footer").refresh()
        self._show_details(to_top=True)
        self._preview.update()
        self._run_later("look", SEEN_SECONDS, partial(self._mark_seen, self.agents.selected_id))

    def pop_screen(self) -> AwaitComplete:
        """A panel closes. For a moment, keys that were meant for it do not leave the board."""
        self._guard.note_change()
        self._closing_guard.note_change()
        self.call_after_refresh(self._preview.update)
        return super().pop_screen()

    # --- keys of the whole screen ---

    async def action_clear(self) -> None:
        """Undo one thing: the filter that is typed, the evidence or the preview, the filter, the marks, the layout."""
        if self._shows_why and not self.query("#filter"):
            self.action_toggle_why()
        elif self._shows_preview and not self.query("#filter"):
            self.action_toggle_preview()
        elif self.query("#filter") or self._filter_text:
            self._filter_text = ""
            await self._close_filter()
            self._renumber()
        elif self.agents.marks:
            self._set_marks(frozenset())
        elif self._layout_name != "beside":
            self._set_layout("beside")

    def action_toggle_bell(self) -> None:
        self._bell = not self._bell
        self.show_message(Span("Bell on: it rings when an agent needs you." if self._bell else "Bell off.", "dim"))

    def action_next_theme(self) -> None:
        """Switch to the next palette."""
        if self.no_color:
            self._say("NO_COLOR is set: there are no themes.")
            return
        names = list(styles.PALETTES)
        self._palette = names[(names.index(self._palette) + 1) % len(names)]
        self.theme = self._palette
        self.refresh(layout=True)
        self.show_message(Span(f"Theme: {self._palette}", "dim"))

    def action_help(self) -> None:
        from claude_headspace.surfaces.tui.dialogs import Help

        self.push_screen(Help(self._palette, self._keys))

    def action_leave(self) -> None:
        self.exit()
