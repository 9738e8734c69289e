"""The keys that choose the details of the agent and their layout: conversation, evidence, preview or changes."""

from functools import partial

from claude_headspace.clients.client import Capability
from claude_headspace.surfaces.cli.output import Span
from claude_headspace.surfaces.text.clients import limit
from claude_headspace.surfaces.tui.drawing import Drawing

LAYOUTS = ("beside", "details-only", "list-only")
"""Where the details are; also CSS classes, with a dash before them."""


class DetailsKeys(Drawing):
    """An app with a pane of details."""

    _layout_name = "beside"

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
