"""`headspace top`: the screen, its keys, and how news come to it. What is shown is made in `presentation`."""

import operator
import subprocess
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, TypeVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.cli.output import Line, Span
from claude_headspace.surfaces.text.formatting import Json, clean_text
from claude_headspace.surfaces.tui import styles as look
from claude_headspace.surfaces.tui.actions import Done, Hands
from claude_headspace.surfaces.tui.answer_steps import held_wait
from claude_headspace.surfaces.tui.feed import Feed, News
from claude_headspace.surfaces.tui.keys import KEYS
from claude_headspace.surfaces.tui.presentation.details import Talk, details, evidence, headline
from claude_headspace.surfaces.tui.presentation.frame import empty, foot, head
from claude_headspace.surfaces.tui.store import Board, attention
from claude_headspace.surfaces.tui.widgets import AgentList, Lines, OneLine

Result = TypeVar("Result")

MESSAGE_SECONDS = 6.0
LOOKED_SECONDS = 1.0
"""How long an agent must be selected to count as looked at."""
ASK_SECONDS = 0.1
"""How long the selection must rest before its details are asked for."""


TAKEN = ("tab",)
"""Keys that Textual itself would take for something else."""


class Arrived(Message):
    """There are news in the feed; many at once are one."""

    def can_replace(self, message: Message) -> bool:
        """Nothing is lost: the feed is emptied at once."""
        return isinstance(message, Arrived)


class Top(App[None]):
    """The board, full screen."""

    CSS_PATH = "top.tcss"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "headspace"
    HORIZONTAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-narrow"), (116, "-wide")]  # noqa: RUF012  # as Textual declares it
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (24, "-high")]  # noqa: RUF012  # as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key.names, key.action, key.meaning, show=False, priority=key.names in TAKEN)
            for key in KEYS
            if key.action != "nth"
        ),
        *(Binding(str(number), f"nth({number})", show=False) for number in range(1, 10)),
    ]

    def __init__(
        self,
        feed: Feed,
        hands: Hands,
        clock: Callable[[], datetime],
        palette: str = "dark",
        *,
        bell: bool = True,
        once: bool = False,
    ) -> None:
        super().__init__()
        self._feed = feed
        self._hands = hands
        self._clock = clock
        self._palette = palette
        self._bell = bell
        self._once = once
        self._words = ""
        self._with_ended = True
        self._message: Line | None = None
        self._shows_why = False
        self._pane = "beside"
        self._talk = Talk()
        self._detailed: tuple[object, ...] = ()
        self._sure_of = ""
        self._delayed: dict[str, Timer] = {}
        self.board = Board()
        for theme in look.themes():
            self.register_theme(theme)
        self.theme = palette

    def compose(self) -> ComposeResult:
        """Head, list and details, foot."""
        yield OneLine(self._head, self._palette_name, id="head")
        with Container(id="body"):
            yield AgentList(self._palette_name, self._clock)
            yield Lines(self._palette_name, id="details")
        yield OneLine(self._foot, self._palette_name, id="foot")

    def on_mount(self) -> None:
        """Begin to listen."""
        self.agents.focus()
        self._show()
        self._feed.start(self._ring)
        self._tick()

    def on_resize(self) -> None:
        """There is more or less room."""
        self.call_after_refresh(self._show)

    # --- parts ---

    @property
    def agents(self) -> AgentList:
        """The list."""
        return self.query_one(AgentList)

    def _palette_name(self) -> str:
        return self._palette

    def _head(self, width: int) -> Line:
        everybody = list(self.board.agents.values())
        return head(everybody, connected=self.board.connected, loaded=self.board.loaded, width=width)

    def _foot(self, width: int) -> Line:
        ended = sum(1 for agent in self.board.agents.values() if agent["state"] == "ended")
        hidden = 0 if self._with_ended else ended
        return foot(width, filtering=self._words, hidden=hidden, message=self._message)

    # --- news ---

    def _ring(self) -> None:
        """Called by the feed, from its own thread."""
        self.post_message(Arrived())

    def on_arrived(self) -> None:
        """Take everything that came, then draw once."""
        for news in self._feed.take():
            self._learn(news)
        self._show(again=False)
        self._close_stale_panel()

    def _learn(self, news: News) -> None:
        if news.kind == "loaded":
            self.board.load(news.agents)
        elif news.kind == "lost":
            self.board.connected = False
        else:
            self.board.connected = True
            before = self.board.agents.get(news.data.get("agent_id", ""))
            if not self.board.apply(news.kind, news.data):
                self._feed.reload()
            elif before is not None:
                self._call_if_needed(before)

    def _call_if_needed(self, before: Json) -> None:
        after = self.board.agents[before["id"]]
        if self._bell and attention(before, after) and not self.app_focus:
            self._do(partial(self._hands.call, after), lambda wanted: self.bell() if wanted else None)

    def _show(self, *, again: bool = True) -> None:
        shown = self.board.shown(self._words, with_ended=self._with_ended)
        board = self.board
        filtered = bool(board.agents) and not shown
        instead = empty(loaded=board.loaded, connected=board.connected, filtered=filtered, width=self.size.width)
        self.agents.show(shown, instead)
        self.agents.border_title = f"agents {len(shown)}" if shown else "agents"
        self.query_one("#head").refresh()
        self.query_one("#foot").refresh()
        self._show_details(from_the_top=False, again=again)

    def _show_details(self, *, from_the_top: bool, again: bool = True) -> None:
        """Make the details anew; not `again`: only if something about the selected agent is other than shown."""
        pane, agent = self.query_one("#details", Lines), self.agents.selected
        if agent is None:
            self._detailed = ()
            pane.border_title = ""
            pane.show([], from_the_top=True)
            return
        turns, states = self.board.turns.get(agent["id"]), self.board.states.get(agent["id"])
        shown = (agent, turns, states)
        if self._detailed and not again and all(map(operator.is_, shown, self._detailed)):
            return
        self._detailed = shown
        if turns is None or (self._shows_why and states is None):
            self._later("ask", ASK_SECONDS, partial(self._ask, agent["id"]))
        width, now = max(pane.size.width - 1, 20), self._clock()
        pane.border_title = headline(agent, now, pane.size.width - 4)
        if self._shows_why:
            lines = evidence(agent, states, now, width)
        else:
            lines = details(agent, self._talk.lines(turns, now, width), now, width)
        pane.show(lines, from_the_top=from_the_top)

    def _ask(self, agent_id: str) -> None:
        def learned(found: tuple[Sequence[Json], Sequence[Json]]) -> None:
            self.board.learn_details(agent_id, *found)
            self._show_details(from_the_top=False)

        self._do(lambda: self._feed.details(agent_id), learned)

    # --- time ---

    def _tick(self) -> None:
        """Say the times anew when they have become others; the pace follows what is on the screen."""
        self.agents.refresh()
        self._show_details(from_the_top=False)
        self._later("tick", self.agents.next_tick(), self._tick)

    def _later(self, name: str, seconds: float, step: Callable[[], None]) -> None:
        """Do something a little later; what was to be done under the same name is not."""
        if name in self._delayed:
            self._delayed[name].stop()
        self._delayed[name] = self.set_timer(seconds, step)

    def say(self, *parts: Span) -> None:
        """A message in the foot, for a while."""
        self._message = tuple(Span(clean_text(part.text), part.role) for part in parts)
        self.query_one("#foot").refresh()
        self._later("message", MESSAGE_SECONDS, self._unsay)

    def _unsay(self) -> None:
        self._message = None
        self.query_one("#foot").refresh()

    # --- what takes a moment ---

    def _do(self, work: Callable[[], Result], then: Callable[[Result], object]) -> None:
        """Work beside the screen, then show what came of it; what goes wrong is said in the foot."""

        def run() -> None:
            try:
                result = work()
            except HeadspaceError as error:
                self.call_from_thread(self.say, Span(error.message, "error"), Span(f"  {error.hint}", "dim"))
            else:
                self.call_from_thread(then, result)

        self.run_worker(run, thread=True)

    def _done(self, done: Done) -> None:
        if done.foreground:
            with self.suspend():
                subprocess.run(done.foreground, check=False)
            self.refresh(layout=True)
        if done.words:
            self.say(Span(done.words))

    def _jumped(self, done: Done) -> None:
        self._done(done)
        if self._once:
            self.exit()

    def _on_agent(self, work: Callable[[Json], Done], then: Callable[[Done], None] | None = None) -> None:
        """Do something with the selected agent; whoever does that has looked at it."""
        agent = self.agents.selected
        if agent is not None:
            self._look_at(agent["id"])
            self._do(partial(work, agent), then or self._done)

    def on_agent_list_selected(self, event: AgentList.Selected) -> None:
        """Another agent is selected."""
        if event.again:
            self.action_jump()
            return
        self._show_details(from_the_top=True)
        self._later("look", LOOKED_SECONDS, partial(self._look_at, self.agents.selected_id))

    def _look_at(self, agent_id: str | None) -> None:
        agent = self.board.agents.get(agent_id or "")
        if agent is not None and agent["unseen"]:
            self._do(partial(self._hands.seen, agent), lambda _done: None)

    # --- keys ---

    def action_jump(self) -> None:
        """Bring the agent's pane here; one that ended has none."""
        agent = self.agents.selected
        if agent is not None and agent["state"] == "ended":
            self.say(Span(f"{agent['name']} has ended."), Span("  r resumes it.", "dim"))
        else:
            self._on_agent(self._hands.jump, self._jumped)

    def action_nth(self, number: int) -> None:
        """Select by number, and jump."""
        if number <= len(self.agents.agents):
            self.agents.select(number - 1)
            self.action_jump()

    def action_resume(self) -> None:
        """Bring an ended agent back."""
        self._on_agent(self._hands.resume)

    def action_send(self) -> None:
        """Ask for a text, and type it."""
        from claude_headspace.surfaces.tui.dialogs import Prompt

        agent = self.agents.selected
        if agent is not None:
            self.push_screen(Prompt(agent["name"], self._palette), partial(self._send, agent))

    def _send(self, agent: Json, text: str | None) -> None:
        if text:
            self.say(Span(f"Typing to {agent['name']}…", "dim"))
            self._do(partial(self._hands.send, agent, text), self._done)

    def action_answer(self) -> None:
        """Open the panel for the newest wait that can be answered from here."""
        from claude_headspace.surfaces.tui.answer_panel import AnswerPanel

        agent = self.agents.selected
        if agent is None:
            return
        wait = held_wait(agent)
        if wait is None:
            words = "Only its terminal takes the answer." if agent["waits"] else "It waits for nothing."
            self.say(Span(words), Span("  enter jumps there." if agent["waits"] else "", "dim"))
        else:
            self.push_screen(AnswerPanel(agent, wait, self._palette), partial(self._answer, agent, wait))

    def _answer(self, agent: Json, wait: Json, answer: dict[str, Any] | None) -> None:
        if answer is not None:
            self._do(partial(self._hands.answer, agent, wait, answer), self._done)

    def _close_stale_panel(self) -> None:
        """Somebody else answered what is being answered here."""
        from claude_headspace.surfaces.tui.answer_panel import AnswerPanel

        panel = self.screen
        if not isinstance(panel, AnswerPanel):
            return
        waits = self.board.agents.get(panel.agent_id, {}).get("waits", ())
        if not any(wait["id"] == panel.wait_id and wait["held_until"] and not wait["answered"] for wait in waits):
            panel.dismiss(None)
            self.say(Span("It is answered already."))

    def action_interrupt(self) -> None:
        """Stop the agent; the first time it is only asked."""
        agent = self.agents.selected
        if agent is None:
            return
        if self._sure_of != agent["id"]:
            self._sure_of = agent["id"]
            self._later("sure", MESSAGE_SECONDS, self._unsure)
            self.say(Span(f"x again stops what {agent['name']} does."))
            return
        self._unsure()
        self.say(Span(f"Pressing Esc for {agent['name']}…", "dim"))
        self._on_agent(self._hands.interrupt)

    def _unsure(self) -> None:
        self._sure_of = ""

    def action_move(self, by: int) -> None:
        """Select the agent before or after."""
        self.agents.select(self.agents.index + by)

    def action_page(self, by: int) -> None:
        """Select a page further."""
        self.agents.select(self.agents.index + by * max(self.agents.size.height - 2, 1))

    def action_edge(self, side: int) -> None:
        """Select the first or the last."""
        self.agents.select(len(self.agents.agents) if side > 0 else 0)

    def action_next_attention(self) -> None:
        """Select the next one that needs somebody, from here on and round."""
        found = self.agents.agents
        order = [(self.agents.index + step) % len(found) for step in range(1, len(found) + 1)]
        needy = (at for at in order if found[at]["state"] in ("waiting", "error"))
        at = next(needy, None)
        if at is None:
            self.say(Span("Nobody needs you.", "dim"))
        else:
            self.agents.select(at)

    def action_scroll(self, by: int) -> None:
        """Scroll the details."""
        pane = self.query_one("#details", Lines)
        pane.scroll_to(y=pane.scroll_offset.y + by * max(pane.size.height - 2, 1), animate=False)

    def action_why(self) -> None:
        """Show the reasons instead of the conversation, and back."""
        self._shows_why = not self._shows_why
        if self._pane == "away":
            self._set_pane("beside")
        self._show_details(from_the_top=True)

    def action_pane(self) -> None:
        """Details beside the list, alone, or away."""
        if not self.screen.is_modal:
            self._set_pane({"beside": "alone", "alone": "away", "away": "beside"}[self._pane])

    def _set_pane(self, pane: str) -> None:
        self._pane = pane
        for name in ("alone", "away"):
            self.screen.set_class(pane == name, f"-{name}")
        self.call_after_refresh(self._show)

    def action_ended(self) -> None:
        """Show or hide those that ended."""
        self._with_ended = not self._with_ended
        self._show()

    def action_calling(self) -> None:
        """Call, or be silent."""
        self._bell = not self._bell
        self.say(Span("The bell rings when an agent needs you." if self._bell else "The bell is silent.", "dim"))

    def action_theme(self) -> None:
        """The next palette."""
        names = list(look.PALETTES)
        self._palette = names[(names.index(self._palette) + 1) % len(names)]
        self.theme = self._palette
        self.refresh(layout=True)
        self.say(Span(f"theme: {self._palette}", "dim"))

    def action_help(self) -> None:
        """Show every key."""
        from claude_headspace.surfaces.tui.dialogs import Help

        self.push_screen(Help(self._palette))

    def action_leave(self) -> None:
        """Quit."""
        self.exit()

    # --- the filter ---

    async def action_filter(self) -> None:
        """Ask for words; the list follows while they are typed."""
        if self.query("#filter"):
            return
        await self.mount(Input(self._words, placeholder="name, project, state, words", id="filter", compact=True))
        self.query_one("#filter").focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """The list follows."""
        self._words = event.value
        self._show()

    async def on_input_submitted(self, _event: Input.Submitted) -> None:
        """The filter stays, the list has the keys again."""
        await self._close_filter()

    async def action_clear(self) -> None:
        """Clear the filter; with nothing to clear, details come back beside the list."""
        if self.query("#filter") or self._words:
            self._words = ""
            await self._close_filter()
            self._show()
        elif self._pane != "beside":
            self._set_pane("beside")

    async def _close_filter(self) -> None:
        await self.query("#filter").remove()
        self.agents.focus()
