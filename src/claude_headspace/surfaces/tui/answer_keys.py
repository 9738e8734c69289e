"""The key that answers a wait: which wait, its panel, and the next one."""

from functools import partial
from typing import TYPE_CHECKING, Any

from claude_headspace.surfaces.cli.output import Span
from claude_headspace.surfaces.text.clients import answer_limit
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.text.labels import may_ask_at_start, wait_text
from claude_headspace.surfaces.tui.actions import ActionResult
from claude_headspace.surfaces.tui.answer_steps import answerable_wait
from claude_headspace.surfaces.tui.details_keys import DetailsKeys

if TYPE_CHECKING:
    from claude_headspace.surfaces.tui.answer_panel import AnswerPanel

NOT_WAITING = "The agent is not waiting."


class AnswerKeys(DetailsKeys):
    """An app that answers waits."""

    def action_answer(self) -> None:
        """Open the panel for the first wait that can be answered here. For another, show the agent's screen."""
        agent = self.agents.selected
        if agent is None:
            return
        wait = answerable_wait(agent)
        if wait is None:
            self._show_terminal(agent)
        else:
            self._open_panel(agent, wait)

    def _show_terminal(self, agent: Json) -> None:
        """Show the screen of an agent whose dialog only the terminal can answer, and say why."""
        may_ask = bool(agent["waits"]) or may_ask_at_start(agent, self._clock())
        limits = [answer_limit(agent, wait) for wait in agent["waits"]] or ["" if may_ask else NOT_WAITING]
        text = limits[0] or "It can only be answered in its terminal."
        self.show_message(Span(text), Span("  Press enter to jump there." if may_ask else "", "dim"))
        if may_ask and not self._shows_preview:
            self.action_toggle_preview()

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

    def _update_answer_panel(self) -> None:
        """After an answer, offer the next wait, which may have opened later. Before, check that nobody has answered."""
        from claude_headspace.surfaces.tui.answer_panel import AnswerPanel, Phase

        panel = self.screen
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
