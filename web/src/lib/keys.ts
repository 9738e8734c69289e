// The keyboard. Typing into a field is left alone. On the board `j` and `k` select; elsewhere they walk through what is
// marked with `data-step`: waits, hits, events, turns. Arrows walk through hits too, down from the field on.
import { recommended, type View } from "./arrange";
import { board } from "./board.svelte";
import { agentPath, route } from "./route.svelte";
import { ui } from "./ui.svelte";

const PLACES: Record<string, string> = {
  b: "/",
  w: "/waits",
  m: "/missions",
  e: "/efforts",
  s: "/search",
  a: "/activity",
  r: "/replay",
  l: "/logging",
  ",": "/settings",
};
const VIEWS: Record<string, View> = { "1": "attention", "2": "project", "3": "state" };

let going = false;

export function pressed(event: KeyboardEvent): void {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
  const target = event.target as HTMLElement;
  if (target.closest("input:not([type=checkbox]):not([type=range]), select, textarea, dialog")) return;
  const path = going ? PLACES[event.key] : undefined;
  going = !going && event.key === "g";
  if (path !== undefined) {
    event.preventDefault();
    route.go(path);
  } else if (act(event.key, target)) {
    event.preventDefault();
  }
}

/** Do what a key means; whether it meant anything. */
function act(key: string, target: HTMLElement): boolean {
  const onBoard = route.place.view === "board";
  const onHit = route.place.view === "search" && target.dataset.step !== undefined;
  if (key === "?") ui.helpIsOpen = true;
  else if (key === "/") focusFilter();
  else if (key === "Escape") back();
  else if (key === "n") selectNext();
  else if (onBoard && (key === "j" || key === "ArrowDown")) select(1);
  else if (onBoard && (key === "k" || key === "ArrowUp")) select(-1);
  else if (key === "j" || (onHit && key === "ArrowDown")) walk(1);
  else if (key === "k" || (onHit && key === "ArrowUp")) walk(-1);
  else if (key === "w") toTheWait();
  else if (onBoard && VIEWS[key]) ui.view.value = VIEWS[key];
  else if (onBoard && key === "Enter" && ui.selected !== null && !target.closest("a, button")) route.go(agentPath(ui.selected));
  else if (key === "Enter" && target.dataset.open) route.go(target.dataset.open);
  else return false;
  return true;
}

/** Select the next card; it has the focus as soon as it is there. */
function select(by: 1 | -1): void {
  ui.step(by);
  const id = ui.selected;
  const focus = (): void => document.querySelector<HTMLElement>(`[data-agent="${CSS.escape(id ?? "")}"]`)?.focus({ preventScroll: true });
  requestAnimationFrame(() => requestAnimationFrame(focus));
}

/** The next thing on the page, in front and in sight. */
export function walk(by: 1 | -1): void {
  const steps = [...document.querySelectorAll<HTMLElement>("main [data-step]")];
  const at = steps.indexOf(document.activeElement as HTMLElement);
  const next = steps[at === -1 ? (by === 1 ? 0 : steps.length - 1) : Math.min(Math.max(at + by, 0), steps.length - 1)];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

/** What the agent waits for, where the page shows it. */
export function toTheWait(): void {
  const wait = document.querySelector<HTMLElement>("main .wait, .right .wait");
  wait?.scrollIntoView({ block: "start" });
  wait?.focus({ preventScroll: true });
}

function focusFilter(): void {
  if (document.getElementById("filter") === null) route.go("/");
  requestAnimationFrame(() => document.getElementById("filter")?.focus());
}

function back(): void {
  if (route.place.view !== "board") route.go("/");
  else if (ui.selected !== null) ui.selected = null;
  else ui.clear();
}

function selectNext(): void {
  const next = recommended(board.placed);
  if (next === null) return;
  ui.clear();
  ui.selected = next.id;
  if (route.place.view !== "board") route.go("/");
}
