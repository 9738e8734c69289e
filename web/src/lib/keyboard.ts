// Runs the shortcuts of `shortcuts.ts`. Keys typed into a form field are ignored, except those that say otherwise. A key
// belongs to the narrowest scope that handles it: an element with the name of the shortcut is clicked, or the command of
// that name runs. A wait handles its own keys.
import { focusNextItem, focusWait } from "./focus";
import { IS_MAC } from "./key-hints";
import { agentPath, router } from "./router.svelte";
import { CHORD_KEY, scopesFrom, SHORTCUTS, type Scope, type Shortcut } from "./shortcuts";
import { ui } from "./ui.svelte";

/** What a shortcut does. It returns false if it does not apply now. */
type Command = (target: HTMLElement) => boolean | void;

const COMMANDS: Record<string, Command> = {
  palette: () => void (ui.paletteIsOpen = true),
  help: () => void (ui.helpIsOpen = true),
  filter: () => focusFilter(),
  prompt: () => focusPrompt(),
  "next agent": () => ui.showNext(),
  wait: () => focusWait(),
  back: () => goBack(),
  "select next": () => selectCard(1),
  "select previous": () => selectCard(-1),
  "open selected": (target) => openSelected(target),
  "group by attention": () => void (ui.grouping.value = "attention"),
  "group by project": () => void (ui.grouping.value = "project"),
  "group by state": () => void (ui.grouping.value = "state"),
  "next item": () => focusNextItem(1),
  "previous item": () => focusNextItem(-1),
  "open item": ({ dataset }) => (dataset.open === undefined ? false : router.navigate(dataset.open)),
  "next hit": ({ dataset }) => (dataset.item === undefined ? false : focusNextItem(1)),
  "previous hit": ({ dataset }) => (dataset.item === undefined ? false : focusNextItem(-1)),
};

/** Whether the last key was the first one of a chord. */
let isChord = false;

export function handleKey(event: KeyboardEvent): void {
  const key = pressedKey(event);
  if (key === null || event.defaultPrevented) return;
  const target = event.target as HTMLElement;
  const field = target.closest<HTMLElement>("input:not([type=checkbox]):not([type=range]), select, textarea");
  const isInDialog = document.querySelector("dialog:modal") !== null; // a click on its text focuses the page
  if (field && !isInDialog && key === "Escape") return leaveField(event, field);
  const isFree = !field && !isInDialog;
  const keys = isChord ? [`${CHORD_KEY} ${key}`, key] : [key];
  isChord = isFree && !isChord && key === CHORD_KEY;
  if (keys.some((each) => run(each, target, isFree))) event.preventDefault();
}

/** The key as in the table; null with other modifiers, which belong to the browser. */
function pressedKey({ key, altKey, ctrlKey, metaKey }: KeyboardEvent): string | null {
  const [isMod, isOther] = IS_MAC ? [metaKey, ctrlKey] : [ctrlKey, metaKey];
  if (altKey || isOther) return null;
  return isMod ? `Mod+${key.toLowerCase()}` : key;
}

/** Run the shortcut of a key in the narrowest scope that has one. Returns whether there was one. */
function run(key: string, target: HTMLElement, isFree: boolean): boolean {
  return activeScopes().some((scope) =>
    SHORTCUTS.some((each) => each.scope === scope && each.keys.includes(key) && (isFree || each.inFields === true) && runShortcut(each, target)),
  );
}

function runShortcut({ name, path }: Shortcut, target: HTMLElement): boolean {
  const command = path === undefined ? COMMANDS[name] : () => router.navigate(path);
  return clickElement(name) || (command !== undefined && command(target) !== false);
}

/** The scopes of the view, narrow to wide. */
function activeScopes(): Scope[] {
  const [view] = router.segments;
  if (view === undefined) return scopesFrom("board");
  if (view === "search" || view === "timeline") return scopesFrom(view);
  if (view === "agents") return scopesFrom(router.query.get("tab") === "changes" ? "changes" : "agent");
  return scopesFrom("views");
}

/** Esc leaves a field, and its text stays. The next Esc leaves the view. */
function leaveField(event: KeyboardEvent, field: HTMLElement): void {
  event.preventDefault();
  field.blur();
  document.querySelector<HTMLElement>("main[tabindex]")?.focus({ preventScroll: true });
}

/** Click the element of the view that has this shortcut. */
function clickElement(name: string): boolean {
  const element = document.querySelector<HTMLElement>(`main [data-shortcut="${CSS.escape(name)}"]`);
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

function openSelected(target: HTMLElement): boolean {
  if (ui.selected === null || target.closest("a, button")) return false;
  router.navigate(agentPath(ui.selected));
  return true;
}

/** Returns whether there is a field for prompts that can be used. */
function focusPrompt(): boolean {
  const field = document.querySelector<HTMLElement>("main [data-prompt]:enabled");
  field?.focus();
  return field !== null;
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
