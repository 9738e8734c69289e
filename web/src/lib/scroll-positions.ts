// Keeps the scroll positions of a view in its entry of the browser's history, and restores them when the user returns to it.
// Restoring waits until the view has its content again, and ends when the user scrolls.
import { router } from "./router.svelte";

const WRITE_MILLISECONDS = 100;
const GIVE_UP_MILLISECONDS = 5_000;
/** A view may still move for some frames after its content has appeared. */
const STABLE_FRAMES = 10;
const USER_INPUT = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

type Positions = Record<string, number>;

let positions: Positions = {};
let writing: ReturnType<typeof setTimeout> | null = null;
/** What is being restored. */
let wanted: Positions | null = null;

export function followScrolling(): void {
  history.scrollRestoration = "manual";
  window.addEventListener("scroll", (event) => record(event.target), { capture: true, passive: true });
  window.addEventListener("popstate", restore);
  for (const input of USER_INPUT) window.addEventListener(input, () => (wanted = null), { capture: true, passive: true });
  router.beforeLeaving(leave);
  restore();
}

/** The parts that scroll: the view, and the lists with their names. */
function scrollers(): Map<string, Element> {
  const lists = [...document.querySelectorAll("main .virtual")].map((list) => [list.getAttribute("aria-label") ?? "", list] as const);
  const main = document.querySelector("main");
  return new Map([...(main === null ? [] : [["", main] as const]), ...lists]);
}

function record(target: EventTarget | null): void {
  if (wanted !== null) return;
  for (const [name, element] of scrollers()) if (element === target) positions[name] = element.scrollTop;
  writing ??= setTimeout(write, WRITE_MILLISECONDS);
}

function write(): void {
  if (writing === null) return;
  stopWriting();
  history.replaceState({ ...(history.state as object | null), scroll: positions }, "");
}

function stopWriting(): void {
  if (writing !== null) clearTimeout(writing);
  writing = null;
}

function leave(): void {
  write();
  [positions, wanted] = [{}, null];
  document.querySelector("main")?.scrollTo({ top: 0, behavior: "instant" });
}

function restore(): void {
  stopWriting();
  positions = { ...(history.state as { scroll?: Positions } | null)?.scroll };
  wanted = Object.keys(positions).length > 0 ? positions : null;
  const target = wanted;
  const deadline = performance.now() + GIVE_UP_MILLISECONDS;
  let stableFrames = 0;
  const step = (): void => {
    if (target === null || wanted !== target) return;
    stableFrames = scrollTo(target) ? stableFrames + 1 : 0;
    if (stableFrames < STABLE_FRAMES && performance.now() < deadline) requestAnimationFrame(step);
    else wanted = null;
  };
  step();
}

/** Returns whether everything is at its position. */
function scrollTo(target: Positions): boolean {
  const elements = scrollers();
  return Object.entries(target).map(([name, top]) => {
    const element = elements.get(name);
    element?.scrollTo({ top, behavior: "instant" });
    return element !== undefined && Math.abs(element.scrollTop - top) <= 1;
  }).every(Boolean);
}
