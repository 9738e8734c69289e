"""The keys that change how the board is shown: order, groups, pins, and whether ended agents are listed."""

import msgspec

from claude_headspace.surfaces.text.board_order import GROUPS, SORTS, BoardView, following, toggled
from claude_headspace.surfaces.tui.drawing import Drawing
from claude_headspace.surfaces.tui.presentation.rows import GroupRow, group_title


class BoardViewKeys(Drawing):
    """An app with a board whose view is stored."""

    def _change_view(self, view: BoardView, text: str = "") -> None:
        self._view = view
        self._agent_actions.save_view(view)
        self._renumber()
        if text:
            self._say(text)

    def action_next_sort(self) -> None:
        """Sort the list by something else."""
        sort = following(SORTS, self._view.sort)
        self._change_view(msgspec.structs.replace(self._view, sort=sort), f"Sorted by {sort}.")

    def action_next_group(self) -> None:
        """Group the list by something else, or not at all."""
        group = following(GROUPS, self._view.group)
        text = "No groups." if group == GROUPS[0] else f"Grouped by {group}: space folds a group."
        self._change_view(msgspec.structs.replace(self._view, group=group, folded=()), text)

    def action_fold(self) -> None:
        """Fold or unfold the group of the selection, and select its heading."""
        title = group_title(self.agents.rows, self.agents.index)
        if title is None:
            self._say("There are no groups. Press v to group the list.")
        else:
            self.agents.selected_id = GroupRow(title, (), is_folded=True).id
            self._change_view(msgspec.structs.replace(self._view, folded=toggled(self._view.folded, title)))

    def action_pin(self) -> None:
        """Pin the selected agent, or unpin it."""
        agent = self.agents.selected
        if agent is not None:
            known = [pin for pin in self._view.pins if pin in self.board.agents]
            pins = toggled(tuple(known), agent["id"])
            text = f"{'Pinned' if agent['id'] in pins else 'Unpinned'} {agent['name']}."
            self._change_view(msgspec.structs.replace(self._view, pins=pins), text)

    def action_toggle_ended(self) -> None:
        """Show or hide ended agents."""
        self._shows_ended = not self._shows_ended
        self._renumber()
