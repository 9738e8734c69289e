// Keyboard shortcuts. Keys typed into a form field are ignored. `j` and `k` select agents on the board; in other views
// they move the focus through the elements with `data-item`. The arrow keys do the same on the board and in search hits.
import { MENU } from "../routes";
import { CHORD_KEY } from "./answer-guard";
import type { Grouping } from "./board-layout";
import { focusNextItem, focusWait } from "./focus";
import { agentPath, router } from "./router.svelte";
import { ui } from "./ui.svelte";

const GROUPINGS: Record<string, Grouping> = { "1": "attention", "2": "project", "3": "state" };

/** Whether the last key was `g`: the next one opens a view. */
let isGoing = false;

export function handleKey(event: KeyboardEvent): void {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
  const target = event.target as HTMLElement;
  const field = target.closest<HTMLElement>("input:not([type=checkbox]):not([type=range]), select, textarea");
  if (field && event.key === "Escape") return leaveField(event, field);
  if (field || target.closest("dialog")) return;
  const route = isGoing ? MENU.find(({ shortcut }) => shortcut === event.key) : undefined;
  isGoing = !isGoing && event.key === CHORD_KEY;
  if (route) {
    event.preventDefault();
    router.navigate(route.path);
  } else if (runShortcut(event.key, target)) {
    event.preventDefault();
  }
}

/** Esc leaves a field, and its text stays. The next Esc leaves the view. */
function leaveField(event: KeyboardEvent, field: HTMLElement): void {
  event.preventDefault();
  field.blur();
  document.querySelector<HTMLElement>("main[tabindex]")?.focus({ preventScroll: true });
}

/** Returns whether the key is a shortcut. */
function runShortcut(key: string, target: HTMLElement): boolean {
  const onBoard = router.isBoard;
  const onHit = router.path === "/search" && target.dataset.item !== undefined;
  if (key === "?") ui.helpIsOpen = true;
  else if (key === "/") focusFilter();
  else if (key === "Escape") goBack();
  else if (key === "n") ui.showNext();
  else if (onBoard && (key === "j" || key === "ArrowDown")) selectCard(1);
  else if (onBoard && (key === "k" || key === "ArrowUp")) selectCard(-1);
  else if (clickShortcut(key)) return true;
  else if (key === "j" || (onHit && key === "ArrowDown")) focusNextItem(1);
  else if (key === "k" || (onHit && key === "ArrowUp")) focusNextItem(-1);
  else if (key === "w") focusWait();
  else if (onBoard && GROUPINGS[key]) ui.grouping.value = GROUPINGS[key];
  else if (onBoard && key === "Enter" && ui.selected !== null && !target.closest("a, button")) router.navigate(agentPath(ui.selected));
  else if (key === "Enter" && target.dataset.open) router.navigate(target.dataset.open);
  else return false;
  return true;
}

/** Click the element of the view that has this key. */
function clickShortcut(key: string): boolean {
  const element = document.querySelector<HTMLElement>(`main [data-shortcut="${CSS.escape(key)}"]`);
  element?.click();
  return element !== null;
}

/** Select the next card, and focus it once it is rendered. */
function selectCard(by: 1 | -1): void {
  ui.selectNext(by);
  const id = ui.selected;
  const focus = (): void => document.querySelector<HTMLElement>(`[data-agent="${CSS.escape(id ?? "")}"]`)?.focus({ preventScroll: true });
  requestAnimationFrame(() => requestAnimationFrame(focus));
}

function focusFilter(): void {
  if (document.getElementById("filter") === null) router.navigate("/");
  requestAnimationFrame(() => document.getElementById("filter")?.focus());
}

function goBack(): void {
  if (!router.isBoard) router.back();
  else if (ui.selected !== null) ui.selected = null;
  else ui.clearFilter();
}
