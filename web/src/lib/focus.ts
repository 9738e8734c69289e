// Moves the keyboard focus to items of the page: waits, search hits, events, turns, tool calls.

/** Focus the next or previous element that is marked with `data-item`. */
export function focusNextItem(by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>("main [data-item]")];
  const current = items.indexOf(document.activeElement as HTMLElement);
  const next = items[current === -1 ? (by === 1 ? 0 : items.length - 1) : Math.min(Math.max(current + by, 0), items.length - 1)];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest", behavior: "instant" });
}

/** Focus the first wait on the page. */
export function focusWait(): void {
  const wait = document.querySelector<HTMLElement>("main .wait:not(.closed), .right .wait:not(.closed)");
  if (wait) focusNow(wait);
}

/** Focus an element at the top of its view, without an animation: nothing moves any more once it has the focus. */
export function focusNow(element: HTMLElement): void {
  element.scrollIntoView({ block: "start", behavior: "instant" });
  element.focus({ preventScroll: true });
}

/** Focus an element by its id. Opens it, and everything collapsed around it. */
export function focusElement(id: string | null): void {
  const element = id === null ? null : document.getElementById(id);
  if (!element) return;
  for (let details = element.querySelector("details") ?? element.closest("details"); details; details = details.parentElement?.closest("details") ?? null) {
    details.open = true;
  }
  element.scrollIntoView({ block: "center" });
  (element.querySelector("summary") ?? element).focus({ preventScroll: true });
}

/** Keep the focus in a list after one of its cards was removed: on the card that took its place, else on the heading of the view. */
export function focusAfterRemoval(scope: Element, cards: string, index: number): void {
  const found = scope.querySelectorAll<HTMLElement>(cards);
  const heading = scope.querySelector<HTMLElement>("h1, h2");
  const target = found[Math.min(index, found.length - 1)] ?? heading;
  if (target === heading) heading?.setAttribute("tabindex", "-1");
  target?.focus({ preventScroll: true });
}
