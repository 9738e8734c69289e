"""Draws the board of `headspace top`: header, list, details and footer. `presentation` builds the content."""

import operator
from collections.abc import Callable, Sequence
from functools import cached_property, partial

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.cli.output import Line, dim
from claude_headspace.surfaces.cli.presentation.preview import preview_lines
from claude_headspace.surfaces.client.preview import Preview
from claude_headspace.surfaces.text.board_order import BoardView
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.actions import useless_actions
from claude_headspace.surfaces.tui.board_app import BoardApp
from claude_headspace.surfaces.tui.feed import Feed
from claude_headspace.surfaces.tui.presentation.details import (
    ConversationCache,
    detail_lines,
    details_title,
    evidence_lines,
)
from claude_headspace.surfaces.tui.presentation.frame import empty_board_lines, footer_line, guards_line, header_line
from claude_headspace.surfaces.tui.presentation.rows import board_rows, list_title
from claude_headspace.surfaces.tui.preview import LivePreview, PreviewCalls
from claude_headspace.surfaces.tui.widgets import AgentList, LinePane

DETAILS_DELAY_SECONDS = 0.1
"""How long the selection must stay the same before its details are loaded."""


class Drawing(BoardApp):
    """An app that draws a board, as the user wants to see it."""

    _feed: Feed
    _view: BoardView
    _conversation: ConversationCache
    _filter_text = ""
    _shows_ended = True
    _shows_why = False
    _shows_preview = False
    _shown_details: tuple[object, ...] = ()

    def _header_line(self, width: int) -> Line:
        agents = list(self.board.agents.values())
        return header_line(agents, connected=self.board.connected, loaded=self.board.loaded, width=width)

    def _guards_line(self, width: int) -> Line:
        return guards_line(self.board.guard_problems, self._clock(), width)

    def _footer_line(self, width: int) -> Line:
        ended = sum(1 for agent in self.board.agents.values() if agent["state"] == "ended")
        hidden = 0 if self._shows_ended else ended
        escape = "close why" if self._shows_why else "close preview" if self._shows_preview else "clear"
        lists = self.query(AgentList)  # the footer may be drawn when `top` ends, after the list was removed
        agent, marked = (lists.first().selected, bool(lists.first().marks)) if lists else (None, False)
        useless = useless_actions(agent, marked=marked, now=self._clock())
        return footer_line(
            width,
            filter_text=self._filter_text,
            escape=escape,
            hidden=hidden,
            message=self._message,
            keys=self._keys,
            useless=useless if ended else {*useless, "toggle_ended"},
        )

    def _show(self, *, redraw_details: bool = True) -> None:
        board = self.board
        shown = board.visible_agents(self._filter_text, with_ended=self._shows_ended, view=self._view)
        filtered = bool(board.agents) and not shown
        placeholder = empty_board_lines(
            loaded=board.loaded, connected=board.connected, filtered=filtered, width=self.size.width, keys=self._keys
        )
        self.agents.pins = frozenset(self._view.pins)
        self.agents.show(board_rows(shown, self._view), placeholder)
        self.agents.border_title = list_title(len(shown), self._view)
        self.query_one("#header").refresh()
        self.query_one("#guards").display = bool(board.guard_problems)
        self.query_one("#guards").refresh()
        self.query_one("#footer").refresh()
        self._show_details(to_top=False, always=redraw_details)

    def _renumber(self) -> None:
        """Draw the list with new numbers: the user has changed it, or comes back to it."""
        self.agents.numbers.restart()
        self._show()

    def _tick(self) -> None:
        """Redraw the times. The interval depends on the times on the screen."""
        self.agents.refresh()
        self.query_one("#guards").refresh()
        self._show_details(to_top=False)
        self._run_later("tick", self.agents.refresh_seconds(), self._tick)

    # --- details ---

    def _show_details(self, *, to_top: bool, always: bool = True) -> None:
        """Draw the details of the selected agent. Without `always`: only if its data has changed."""
        pane, agent = self.query_one("#details", LinePane), self.agents.selected
        if agent is None:
            self._shown_details = ()
            pane.border_title = ""
            pane.show([], to_top=True)
            return
        turns, states = self.board.turns.get(agent["id"]), self.board.states.get(agent["id"])
        shown = (agent, turns, states)
        if self._shown_details and not always and all(map(operator.is_, shown, self._shown_details)):
            return
        self._shown_details = shown
        if not self._shows_preview and (turns is None or (self._shows_why and states is None)):
            self._run_later("ask", DETAILS_DELAY_SECONDS, partial(self._load_details, agent["id"]))
        width, now = max(pane.size.width - 1, 20), self._clock()
        pane.border_title = details_title(agent, now, pane.size.width - 4)
        if self._shows_preview:
            preview = self._preview.of(agent)
            lines = preview_lines(agent, preview, now, width) if preview else [dim("…")]
            if preview is not None and preview.pane:
                pane.show_end(lines, always=to_top)
            else:
                pane.show(lines, to_top=to_top)
            return
        if self._shows_why:
            lines = evidence_lines(agent, states, now, width)
        else:
            lines = detail_lines(agent, self._conversation.lines(turns, now, width), now, width)
        pane.show(lines, to_top=to_top)

    def _load_details(self, agent_id: str) -> None:
        def show(details: tuple[Sequence[Json], Sequence[Json]]) -> None:
            self.board.set_details(agent_id, *details)
            self._show_details(to_top=False)

        self._run_in_thread(lambda: self._feed.details(agent_id), show)

    # --- preview ---

    @cached_property
    def _preview(self) -> LivePreview:
        return LivePreview(
            PreviewCalls(
                self._read_preview,
                self._previewed_agent,
                partial(self._run_later, "preview"),
                lambda: self.app_focus,
                partial(self._show_details, to_top=False),
            )
        )

    def _read_preview(self, agent: Json, then: Callable[[Preview], None]) -> None:
        def fail(error: HeadspaceError) -> None:
            then(Preview(None, problem=f"{error.message} {error.hint}"))

        self._run_in_thread(partial(self._agent_actions.preview, agent), then, fail)

    def _previewed_agent(self) -> Json | None:
        """The agent whose preview is on the screen: none while a dialog is over it, or after the end of `top`."""
        if not self._shows_board():
            return None
        is_visible = self._shows_preview and not self.screen.is_modal and self.query_one("#details").display
        return self.agents.selected if is_visible else None
