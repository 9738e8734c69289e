// The keyboard. Typing into a field is left alone.
import { recommended, type View } from "./arrange";
import { board } from "./board.svelte";
import { agentPath, route } from "./route.svelte";
import { isUnseen } from "./seen.svelte";
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
  if (key === "?") ui.helpIsOpen = true;
  else if (key === "/") focusFilter();
  else if (key === "Escape") back();
  else if (key === "n") selectNext();
  else if (onBoard && (key === "j" || key === "ArrowDown")) ui.step(1);
  else if (onBoard && (key === "k" || key === "ArrowUp")) ui.step(-1);
  else if (onBoard && VIEWS[key]) ui.view.value = VIEWS[key];
  else if (onBoard && key === "Enter" && ui.selected !== null && !target.closest("a, button")) route.go(agentPath(ui.selected));
  else return false;
  return true;
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
  const next = recommended(board.agents.values(), isUnseen);
  if (next === null) return;
  ui.clear();
  ui.selected = next.id;
  if (route.place.view !== "board") route.go("/");
}
