"""The keys that find agents: the filter of the list, and the search in all texts."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from textual.events import Key
from textual.widgets import Input

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.drawing import Drawing

if TYPE_CHECKING:
    from claude_headspace.surfaces.tui.search_panel import Found


class SearchKeys(Drawing):
    """An app whose agents can be found."""

    # --- filter ---

    async def action_filter(self) -> None:
        """Show the input of the filter. The list is filtered while the user types."""
        if self.query("#filter"):
            return
        await self.mount(
            Input(self._filter_text, placeholder="name, project, state, client or text", id="filter", compact=True)
        )
        self.screen.set_focus(self.query_one("#filter"))

    def on_key(self, event: Key) -> None:
        """A key that follows `/` at once was sent to the list, but belongs to the input that has the focus now."""
        if isinstance(self.focused, Input) and self.focused.id == "filter" and event.character and event.is_printable:
            self.focused.insert_text_at_cursor(event.character)
            event.prevent_default()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._filter_text = event.value
        self._renumber()

    async def on_input_submitted(self, _event: Input.Submitted) -> None:
        """Keep the filter, and move the focus to the list."""
        await self._close_filter()

    async def _close_filter(self) -> None:
        await self.query("#filter").remove()
        self.agents.focus()

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
