"""`headspace top`: the screen, its keys, and its updates. `presentation` builds the content."""

import operator
import subprocess
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.filter import LineFilter, NoColor
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from claude_headspace.clients.client import Capability
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import Line, Span, dim
from claude_headspace.surfaces.cli.presentation.preview import preview_lines
from claude_headspace.surfaces.client.preview import Preview
from claude_headspace.surfaces.text.clients import answer_limit, limit
from claude_headspace.surfaces.text.formatting import Json, clean_text
from claude_headspace.surfaces.text.labels import wait_text
from claude_headspace.surfaces.tui import styles
from claude_headspace.surfaces.tui.actions import ActionResult, Actions, interrupt_refusal, send_refusal
from claude_headspace.surfaces.tui.answer_steps import answerable_wait
from claude_headspace.surfaces.tui.board_view_keys import BoardViewKeys
from claude_headspace.surfaces.tui.feed import Feed, FeedEvent
from claude_headspace.surfaces.tui.key_guard import KeyGuard
from claude_headspace.surfaces.tui.key_parser import use_key_parser
from claude_headspace.surfaces.tui.keymap import keymap, translate
from claude_headspace.surfaces.tui.keys import KEYS, Key
from claude_headspace.surfaces.tui.presentation.details import (
    ConversationCache,
    detail_lines,
    details_title,
    evidence_lines,
)
from claude_headspace.surfaces.tui.presentation.frame import empty_board_lines, footer_line, guards_line, header_line
from claude_headspace.surfaces.tui.presentation.rows import (
    GroupRow,
    board_rows,
    list_title,
    needs_user,
)
from claude_headspace.surfaces.tui.preview import LivePreview, PreviewCalls
from claude_headspace.surfaces.tui.store import Board, starts_needing_user
from claude_headspace.surfaces.tui.widgets import AgentList, LinePane, SingleLine

if TYPE_CHECKING:
    from claude_headspace.surfaces.tui.answer_panel import AnswerPanel
    from claude_headspace.surfaces.tui.dialogs import Typed
    from claude_headspace.surfaces.tui.lifecycle import Lifecycle
    from claude_headspace.surfaces.tui.prompts import Prompts
    from claude_headspace.surfaces.tui.search_panel import Found

Result = TypeVar("Result")

MESSAGE_SECONDS = 6.0
SEEN_SECONDS = 1.0
"""How long an agent must be selected to count as seen."""
DETAILS_DELAY_SECONDS = 0.1
"""How long the selection must stay the same before its details are loaded."""

LAYOUTS = ("beside", "details-only", "list-only")
"""Where the details are; also CSS classes, with a dash before them."""
PRIORITY_KEYS = ("tab",)
"""Keys that Textual would otherwise handle itself."""


class FeedUpdated(Message):
    """There are events in the feed. Several messages are merged into one."""

    def can_replace(self, message: Message) -> bool:
        """No event is lost: the handler drains the feed."""
        return isinstance(message, FeedUpdated)


class Top(BoardViewKeys):
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
        self._filter_text = ""
        self._shows_ended = True
        self._view = actions.load_view()
        self._message: Line | None = None
        self._shows_why = False
        self._shows_preview = False
        self._preview = LivePreview(
            PreviewCalls(
                self._read_preview,
                self._previewed_agent,
                partial(self._run_later, "preview"),
                lambda: self.app_focus,
                partial(self._show_details, to_top=False),
            )
        )
        self._layout_name = "beside"
        self._conversation = ConversationCache()
        self._shown_details: tuple[object, ...] = ()
        self._interrupt_requested = ""
        self._named_timers: dict[str, Timer] = {}
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

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    # --- components ---

    def _palette_name(self) -> str:
        return self._palette

    def _header_line(self, width: int) -> Line:
        agents = list(self.board.agents.values())
        return header_line(agents, connected=self.board.connected, loaded=self.board.loaded, width=width)

    def _guards_line(self, width: int) -> Line:
        return guards_line(self.board.guard_problems, self._clock(), width)

    def _footer_line(self, width: int) -> Line:
        ended = sum(1 for agent in self.board.agents.values() if agent["state"] == "ended")
        hidden = 0 if self._shows_ended else ended
        escape = "close why" if self._shows_why else "close preview" if self._shows_preview else "clear"
        return footer_line(
            width, filter_text=self._filter_text, escape=escape, hidden=hidden, message=self._message, keys=self._keys
        )

    # --- updates ---

    def on_feed_updated(self) -> None:
        """Apply all events, then draw once."""
        for event in self._feed.drain():
            self._apply(event)
        self._show(redraw_details=False)
        self._update_panel()

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

    # --- time ---

    def _tick(self) -> None:
        """Redraw the times. The interval depends on the times on the screen."""
        self.agents.refresh()
        self.query_one("#guards").refresh()
        self._show_details(to_top=False)
        self._run_later("tick", self.agents.refresh_seconds(), self._tick)

    def _run_later(self, name: str, seconds: float, function: Callable[[], None]) -> None:
        """Run a function later. Replaces an earlier one of the same name."""
        if name in self._named_timers:
            self._named_timers[name].stop()
        self._named_timers[name] = self.set_timer(seconds, function)

    def show_message(self, *parts: Span) -> None:
        """Show a message in the footer for some seconds."""
        self._message = tuple(Span(translate(clean_text(part.text), self._keys), part.role) for part in parts)
        self.query_one("#footer").refresh()
        self._run_later("message", MESSAGE_SECONDS, self._clear_message)

    def _clear_message(self) -> None:
        self._message = None
        self.query_one("#footer").refresh()

    # --- work in threads ---

    def _run_in_thread(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], object],
        on_error: Callable[[HeadspaceError], object] | None = None,
    ) -> None:
        """Run `work` in a thread, then pass its result to `then`. By default, errors are shown in the footer."""

        def run() -> None:
            try:
                result = work()
            except HeadspaceError as error:
                self.call_from_thread(on_error or self._show_error, error)
            else:
                self.call_from_thread(then, result)

        self.run_worker(run, thread=True)

    def _show_error(self, error: HeadspaceError) -> None:
        self.show_message(Span(error.message, "error"), Span(f"  {error.hint}", "dim"))

    def _show_result(self, result: ActionResult) -> None:
        if result.foreground:
            with self.suspend():
                subprocess.run(result.foreground, check=False)
            self.refresh(layout=True)
        if result.message:
            self.show_message(Span(result.message))

    def _finish_jump(self, result: ActionResult) -> None:
        self._show_result(result)
        if self._once:
            self.exit()

    def _run_on_selected(
        self, work: Callable[[Json], ActionResult], then: Callable[[ActionResult], None] | None = None
    ) -> None:
        """Run an action on the selected agent, which also marks it as seen."""
        agent = self.agents.selected
        if agent is not None:
            self._run_on(agent, work, then or self._show_result)

    def _run_on(self, agent: Json, work: Callable[[Json], ActionResult], then: Callable[[ActionResult], None]) -> None:
        self._mark_seen(agent["id"])
        self._run_in_thread(partial(work, agent), then)

    def on_agent_list_selected(self, event: AgentList.Selected) -> None:
        if event.is_double_click:
            self.action_jump() if self.agents.selected is not None else self.action_fold()
            return
        self._show_details(to_top=True)
        self._preview.update()
        self._run_later("look", SEEN_SECONDS, partial(self._mark_seen, self.agents.selected_id))

    def _mark_seen(self, agent_id: str | None) -> None:
        agent = self.board.agents.get(agent_id or "")
        if agent is not None and agent["unseen"]:
            self._run_in_thread(partial(self._agent_actions.mark_seen, agent), lambda _result: None)

    # --- keys ---

    def pop_screen(self) -> AwaitComplete:
        """A panel closes. For a moment, keys that were meant for it do not leave the board."""
        self._guard.note_change()
        self._closing_guard.note_change()
        self.call_after_refresh(self._preview.update)
        return super().pop_screen()

    def _accepts_key(self, guard: KeyGuard) -> bool:
        """Whether a key counts now. If not, tell the user."""
        if guard.accepts():
            return True
        self.show_message(Span("Too early after a change: press it again.", "dim"))
        return False

    def action_jump(self) -> None:
        """Jump to the agent's pane, where the next keys go. An ended agent has none. A group is folded."""
        agent = self.agents.selected
        if isinstance(self.agents.selected_row, GroupRow):
            self.action_fold()
            return
        if not self._accepts_key(self._closing_guard):
            return
        if agent is not None and agent["state"] == "ended":
            self.show_message(Span(f"{agent['name']} has ended."), Span("  Press r to resume it.", "dim"))
        else:
            self._run_on_selected(self._agent_actions.jump, self._finish_jump)

    def action_jump_to(self, number: int) -> None:
        """Select an agent by its number, and jump to it."""
        agent_id = self.agents.numbers.agent(number)
        if agent_id is not None and self._accepts_key(self._closing_guard) and self.agents.select_agent(agent_id):
            self.action_jump()

    def action_resume(self) -> None:
        if self._accepts_key(self._closing_guard):
            self._run_on_selected(self._agent_actions.resume)

    def action_lifecycle(self, what: str) -> None:
        """Start, fork, stop, rename, note or archive an agent, after a dialog."""
        agent = self.agents.selected
        if not self._accepts_key(self._closing_guard):
            return
        if what == "new":
            self._lifecycle.new(agent)
        elif agent is not None:
            getattr(self._lifecycle, what)(agent)

    @cached_property
    def _lifecycle(self) -> "Lifecycle":
        from claude_headspace.surfaces.tui.lifecycle import Host, Lifecycle

        return Lifecycle(self._agent_actions, Host(self._open_dialog, self._act, self._say, self._guard))

    def _act(self, work: Callable[[], ActionResult], refuse: Callable[[HeadspaceError], None] | None = None) -> None:
        def fail(error: HeadspaceError) -> None:
            self._show_error(error)
            if refuse is not None:
                refuse(error)

        self._run_in_thread(work, self._show_result, fail)

    def action_send(self) -> None:
        """Ask for a prompt, and send it. Refused before the user types if the agent would not accept it."""
        agents = self._marked_agents() or [each for each in (self.agents.selected,) if each is not None]
        if len(agents) == 1 and (refusal := send_refusal(agents[0])):
            self.show_message(Span(refusal.message), Span(f"  {refusal.hint}", "dim"))
        elif agents:
            self._prompts.ask(agents)

    def _marked_agents(self) -> list[Json]:
        return [agent for agent in self.board.agents.values() if agent["id"] in self.agents.marks]

    def action_mark(self) -> None:
        """Mark the agent, or unmark it, and select the next one."""
        agent = self.agents.selected
        if agent is not None:
            self._set_marks(self.agents.marks ^ {agent["id"]})
            self.action_move(1)

    def _set_marks(self, marks: frozenset[str]) -> None:
        self.agents.marks = marks
        self.agents.refresh()
        text = f"{count(len(marks), 'agent')} marked. Press s to send to all of them, esc to unmark."
        self._say(text if marks else "No agent is marked.")

    def action_queue(self) -> None:
        """Show the pending prompts of all agents."""
        from claude_headspace.surfaces.tui.queue_panel import Pending, QueuePanel

        def pending() -> list[Pending]:
            agents = self.board.agents.values()
            return [Pending(agent, prompt) for agent in agents for prompt in agent.get("pending_prompts") or ()]

        def cancel(chosen: Pending) -> None:
            self._run_in_thread(partial(self._agent_actions.cancel_prompt, *chosen), self._show_result)

        self.push_screen(QueuePanel(pending, cancel, self._clock, self._palette))

    @cached_property
    def _prompts(self) -> "Prompts":
        from claude_headspace.surfaces.tui.prompts import Prompts

        saved = self._agent_actions.saved_prompts
        return Prompts(self._open_dialog, self._send, self._say, self._palette_name, saved)

    def _open_dialog(self, dialog: Screen[Any], then: Callable[[Any], None]) -> None:
        if not self.screen.is_modal:
            self.push_screen(dialog, then)

    def _send(self, agents: Sequence[Json], typed: "Typed", refuse: Callable[[HeadspaceError], None]) -> None:
        from claude_headspace.surfaces.tui.prompts import names_text

        self._say(f"Sending to {names_text(agents)}…")
        text, when_idle, actions = typed.text, typed.when_idle, self._agent_actions
        if len(agents) == 1:
            self._act(partial(actions.send, agents[0], text, when_idle=when_idle), refuse)
        else:
            self._run_in_thread(partial(actions.send_all, agents, text, when_idle=when_idle), self._show_results)

    def _show_results(self, results: Sequence[str]) -> None:
        """The result of each agent: in a panel, or in the footer if another one is open."""
        from claude_headspace.surfaces.tui.dialogs import Lines

        self._set_marks(frozenset())
        if self.screen.is_modal:
            self._say("  ".join(results))
        else:
            self.push_screen(Lines("sent", results, self._palette))

    def _say(self, text: str) -> None:
        self.show_message(Span(text, "dim"))

    def action_answer(self) -> None:
        """Open the panel for the first wait that can be answered here. For another, show the agent's screen."""
        agent = self.agents.selected
        if agent is None:
            return
        wait = answerable_wait(agent)
        if wait is None:
            limits = [answer_limit(agent, wait) for wait in agent["waits"]] or ["The agent is not waiting."]
            text = limits[0] or "It can only be answered in its terminal."
            self.show_message(Span(text), Span("  Press enter to jump there." if agent["waits"] else "", "dim"))
            if agent["waits"] and not self._shows_preview:
                self.action_toggle_preview()
        else:
            self._open_panel(agent, wait)

    def _open_panel(self, agent: Json, wait: Json) -> None:
        from claude_headspace.surfaces.tui.answer_panel import AnswerPanel, PanelActions

        actions = PanelActions(partial(self._load_request, wait), partial(self._send_answer, agent))
        self.push_screen(AnswerPanel(agent, wait, self._palette, self._guard, actions), self._open_next_panel)

    def _open_next_panel(self, result: str | None) -> None:
        """After an answer, open the next wait if the user wants it. The agent of the wait is selected."""
        found = self._next_wait() if result else None
        if found is not None:
            agent, wait = found
            self.agents.select_agent(agent["id"])
            self._open_panel(agent, wait)

    def _next_wait(self, answered_id: str = "") -> tuple[Json, Json] | None:
        """The first agent on the board with a wait that can be answered here, and the wait."""
        for agent in self.agents.agents:
            others = {**agent, "waits": [wait for wait in agent["waits"] if wait["id"] != answered_id]}
            if (wait := answerable_wait(others)) is not None:
                return agent, wait
        return None

    def _next_text(self, answered_id: str) -> str:
        found = self._next_wait(answered_id)
        return f"{found[0]['name']} {wait_text(found[1])}" if found else ""

    def _load_request(self, wait: Json, panel: "AnswerPanel", everything: bool) -> None:
        problem = "The complete request could not be loaded: "
        self._run_in_thread(
            lambda: self._agent_actions.request(wait, everything=everything),
            lambda details: panel.show_request(details, everything=everything) if panel is self.screen else None,
            lambda error: self._finish_panel(panel, f"{problem}{error.message} {error.hint}"),
        )

    def _send_answer(self, agent: Json, panel: "AnswerPanel", answer: dict[str, Any]) -> None:
        def finish(result: ActionResult) -> None:
            self._finish_panel(panel, result.message, self._next_text(panel.wait_id))

        self._mark_seen(agent["id"])
        self._run_in_thread(
            lambda: self._agent_actions.answer(agent, panel.details, answer),
            finish,
            lambda error: self._finish_panel(panel, f"{error.message} {error.hint}"),
        )

    def _finish_panel(self, panel: "AnswerPanel", text: str, next_text: str = "") -> None:
        """Show a result in the panel; in the footer if the user has closed the panel."""
        if panel is self.screen:
            panel.finish(text, next_text)
        else:
            self.show_message(Span(text))

    def _update_panel(self) -> None:
        """After an answer, offer the next wait, which may have opened later. Before, check that nobody has answered."""
        from claude_headspace.surfaces.tui.answer_panel import AnswerPanel, Phase
        from claude_headspace.surfaces.tui.queue_panel import QueuePanel

        panel = self.screen
        if isinstance(panel, QueuePanel):
            panel.show()
        if not isinstance(panel, AnswerPanel):
            return
        if panel.phase in (Phase.LOADING, Phase.ASKING):
            self._close_stale_panel(panel)
        if panel.phase is Phase.OVER:
            panel.offer(self._next_text(panel.wait_id))

    def _close_stale_panel(self, panel: "AnswerPanel") -> None:
        """Tell the user if the wait of the panel was answered elsewhere. The panel stays until it is closed."""
        waits = self.board.agents.get(panel.agent_id, {}).get("waits", ())
        wait = next((each for each in waits if each["id"] == panel.wait_id), None)
        if wait is None or not wait["held_until"] or wait["answered"]:
            answered = wait["answered"] if wait else None
            panel.finish(
                f"Already {answered['words']} by {answered['by']}." if answered else "It was already answered."
            )

    def on_app_focus(self) -> None:
        """The terminal got the focus: a key that was meant for another window does not count."""
        self._guard.note_change()
        self._closing_guard.note_change()
        self._renumber()

    def action_interrupt(self) -> None:
        """Interrupt the agent. The key must be pressed twice, the second time after half a second."""
        agent = self.agents.selected
        if agent is None:
            return
        if refusal := interrupt_refusal(agent):
            self.show_message(Span(refusal.message), Span(f"  {refusal.hint}", "dim"))
        elif self._interrupt_requested != agent["id"]:
            self._interrupt_requested = agent["id"]
            self._guard.note_change()
            self._run_later("sure", MESSAGE_SECONDS, self._cancel_interrupt)
            self.show_message(Span(f"Press x again to interrupt {agent['name']}."))
        elif self._accepts_key(self._guard):
            self._cancel_interrupt()
            self.show_message(Span(f"Interrupting {agent['name']}…", "dim"))
            self._run_on_selected(self._agent_actions.interrupt)

    def _cancel_interrupt(self) -> None:
        self._interrupt_requested = ""

    def action_next_attention(self) -> None:
        """Select the next agent that needs the user, starting over at the end."""
        rows = self.agents.rows
        order = [(self.agents.index + step) % len(rows) for step in range(1, len(rows) + 1)]
        index = next((index for index in order if needs_user(rows[index])), None)
        if index is None:
            self.show_message(Span("No agent needs you.", "dim"))
        else:
            self.agents.select(index)

    def action_toggle_why(self) -> None:
        """Switch between the conversation and the evidence of the state."""
        if self._shows_preview:
            self.action_toggle_preview()
        self._shows_why = not self._shows_why
        if self._layout_name == "list-only":
            self._set_layout("beside")
        self._show_details(to_top=True)
        self.query_one("#footer").refresh()

    def action_toggle_preview(self) -> None:
        """Switch between the details and the screen of the agent."""
        self._shows_preview = not self._shows_preview
        self._shows_why = False
        self.screen.set_class(self._shows_preview, "-preview")
        self.call_after_refresh(self._reveal_preview)
        self.query_one("#footer").refresh()

    def _reveal_preview(self) -> None:
        """Draw the preview. If the layout hides it, choose one that shows it."""
        if self._shows_preview and not self.query_one("#details").display:
            self._set_layout("beside" if self._layout_name == "list-only" else "details-only")
        self._show()
        self._preview.update()

    def _read_preview(self, agent: Json, then: Callable[[Preview], None]) -> None:
        def fail(error: HeadspaceError) -> None:
            then(Preview(None, problem=f"{error.message} {error.hint}"))

        self._run_in_thread(partial(self._agent_actions.preview, agent), then, fail)

    def _previewed_agent(self) -> Json | None:
        """The agent whose preview is on the screen: none while a dialog is over it."""
        is_visible = self._shows_preview and not self.screen.is_modal and self.query_one("#details").display
        return self.agents.selected if is_visible else None

    def action_changes(self) -> None:
        """Show what the agent changed, over the board."""
        from claude_headspace.surfaces.tui.changes_panel import ChangesPanel

        agent = self.agents.selected
        if agent is not None and (refusal := limit(agent, Capability.CHANGES)):
            self.show_message(Span(refusal))
        elif agent is not None:
            self._run_in_thread(
                partial(self._agent_actions.changes, agent),
                lambda found: self.push_screen(ChangesPanel(agent["name"], found, self._palette)),
            )

    def action_next_layout(self) -> None:
        """Show the details beside the list, in full screen, or hide them."""
        if self.screen.is_modal:
            self.screen.focus_next()
        else:
            self._set_layout(LAYOUTS[(LAYOUTS.index(self._layout_name) + 1) % len(LAYOUTS)])

    def _set_layout(self, layout: str) -> None:
        self._layout_name = layout
        for name in LAYOUTS:
            self.screen.set_class(layout == name, f"-{name}")
        self.call_after_refresh(self._show)
        self.call_after_refresh(self._preview.update)

    def action_toggle_ended(self) -> None:
        """Show or hide ended agents."""
        self._shows_ended = not self._shows_ended
        self._renumber()

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

    # --- search ---

    def action_search(self) -> None:
        """Search in the texts of all agents, and go to one of them."""
        from claude_headspace.surfaces.tui.search_panel import SearchPanel

        self.push_screen(SearchPanel(self._search, self._palette, self._clock), self._open_found)

    def _search(self, text: str, then: Callable[[str, Json], None]) -> None:
        def fail(error: HeadspaceError) -> None:
            then(text, {"hits": [], "hint": f"{error.message} {error.hint}"})

        self._run_in_thread(partial(self._agent_actions.search, text), partial(then, text), fail)

    def _open_found(self, found: "Found | None") -> None:
        """Go to the agent of a search result. One that ended long ago is not on the board."""
        if found is None:
            return
        agent = self.board.agents.get(found.agent_id)
        if agent is not None:
            self._go_to(found, agent)
        else:
            self._run_in_thread(partial(self._agent_actions.find, found.agent_id), partial(self._go_to, found))

    def _go_to(self, found: "Found", agent: Json) -> None:
        """Select an agent; then jump to its pane, or resume it if it has ended."""
        is_listed = self.agents.select_agent(agent["id"])
        if not found.goes_there:
            if not is_listed:
                self._say(f"{agent['name']} is not in the list.")
        elif agent["state"] == "ended":
            self._run_on(agent, self._agent_actions.resume, self._show_result)
        else:
            self._run_on(agent, self._agent_actions.jump, self._finish_jump)

    # --- filter ---

    async def action_filter(self) -> None:
        """Show the input of the filter. The list is filtered while the user types."""
        if self.query("#filter"):
            return
        await self.mount(
            Input(self._filter_text, placeholder="name, project, state, client or text", id="filter", compact=True)
        )
        self.query_one("#filter").focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter_text = event.value
        self._renumber()

    async def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Keep the filter, and move the focus to the list."""
        await self._close_filter()

    async def action_clear(self) -> None:
        """Undo one thing: the filter that is typed, the evidence or the preview, the filter, the layout."""
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

    async def _close_filter(self) -> None:
        await self.query("#filter").remove()
        self.agents.focus()
