"""The keys that send prompts: to the selected agent, to all marked agents, and the queue of pending prompts."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import Span
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.actions import send_refusal
from claude_headspace.surfaces.tui.navigation import Navigation

if TYPE_CHECKING:
    from claude_headspace.surfaces.tui.dialogs import Typed
    from claude_headspace.surfaces.tui.prompts import Prompts


class PromptKeys(Navigation):
    """An app that sends prompts."""

    def action_send(self) -> None:
        """Ask for a prompt, and send it. Refused before the user types if the agent would not accept it."""
        agents = self._marked_agents() or [each for each in (self.agents.selected,) if each is not None]
        if len(agents) == 1 and (refusal := send_refusal(agents[0])):
            self.show_message(Span(refusal.message), Span(f"  {refusal.hint}", "dim"))
        elif agents:
            self._prompts.ask(agents)

    @cached_property
    def _prompts(self) -> "Prompts":
        from claude_headspace.surfaces.tui.prompts import Prompts

        saved = self._agent_actions.saved_prompts
        return Prompts(self._open_dialog, self._send, self._say, self._palette_name, saved)

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

    # --- marks ---

    def action_mark(self) -> None:
        """Mark the agent, or unmark it, and select the next one."""
        agent = self.agents.selected
        if agent is not None:
            self._set_marks(self.agents.marks ^ {agent["id"]})
            self.action_move(1)

    def _marked_agents(self) -> list[Json]:
        return [agent for agent in self.board.agents.values() if agent["id"] in self.agents.marks]

    def _set_marks(self, marks: frozenset[str]) -> None:
        self.agents.marks = marks
        self.agents.refresh()
        text = f"{count(len(marks), 'agent')} marked. Press s to send to all of them, esc to unmark."
        self._say(text if marks else "No agent is marked.")

    # --- queue ---

    def action_queue(self) -> None:
        """Show the pending prompts of all agents."""
        from claude_headspace.surfaces.tui.queue_panel import Pending, QueuePanel

        def pending() -> list[Pending]:
            agents = self.board.agents.values()
            return [Pending(agent, prompt) for agent in agents for prompt in agent.get("pending_prompts") or ()]

        def cancel(chosen: Pending) -> None:
            self._run_in_thread(partial(self._agent_actions.cancel_prompt, *chosen), self._show_result)

        self.push_screen(QueuePanel(pending, cancel, self._clock, self._palette))

    def _update_queue_panel(self) -> None:
        """Draw the queue again, if it is open."""
        from claude_headspace.surfaces.tui.queue_panel import QueuePanel

        if isinstance(self.screen, QueuePanel):
            self.screen.show()
