// Keeps the board and its address the same: a link, back and forward show the same filter, grouping and selected agent.
// The bare address shows what the user has selected before: other views link to it.
import { untrack } from "svelte";
import { boardQuery, boardSelection, NOTHING_SELECTED } from "./board-address";
import { router } from "./router.svelte";
import { ui } from "./ui.svelte";

export function followBoardAddress(): void {
  if (router.isBoard) select(boardSelection(router.query));
  const first = router.arrival;
  $effect.root(() => {
    $effect(() => {
      const arrival = router.arrival;
      if (arrival === first) return;
      untrack(() => {
        if (router.isBoard) select(boardSelection(router.query) ?? (arrival.isRestored ? NOTHING_SELECTED : null));
      });
    });
    $effect(() => {
      const query = boardQuery({ filter: ui.filter, grouping: ui.grouping.value, selected: ui.selected });
      if (router.isBoard) untrack(() => router.setQuery(query));
    });
  });
}

function select(selection: ReturnType<typeof boardSelection>): void {
  if (selection === null) return;
  ui.filter = { ...selection.filter };
  ui.grouping.show(selection.grouping);
  ui.selected = selection.selected;
}
