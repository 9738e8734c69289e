"""The keys that act on the selected agent: jump, resume, interrupt, and its lifecycle."""

from functools import cached_property
from typing import TYPE_CHECKING

from claude_headspace.surfaces.cli.output import Span
from claude_headspace.surfaces.tui.actions import interrupt_refusal
from claude_headspace.surfaces.tui.board_app import MESSAGE_SECONDS
from claude_headspace.surfaces.tui.board_view_keys import BoardViewKeys
from claude_headspace.surfaces.tui.presentation.rows import GroupRow

if TYPE_CHECKING:
    from claude_headspace.surfaces.tui.lifecycle import Lifecycle


class AgentKeys(BoardViewKeys):
    """An app whose keys act on agents."""

    _interrupt_requested = ""
    """The id of the agent that the next press of the key interrupts."""

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
