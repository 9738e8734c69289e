// Watches whether all of an element was on the screen. What changed its height is read again.
import { addPart, coversAll, type Interval } from "./seen-parts";

/** Besides after scrolling, because a change elsewhere on the page can move the element. */
const SAMPLE_MILLISECONDS = 200;

/** Call `done` once every part of the element was on the screen. Returns a function that stops watching. */
export function watchReading(element: HTMLElement, done: () => void): () => void {
  let seen: Interval[] = [];
  let height = 0;
  const look = (): void => {
    if (document.hidden) return;
    const box = element.getBoundingClientRect();
    if (Math.round(box.height) !== height) [seen, height] = [[], Math.round(box.height)];
    const [top, bottom] = visibleRange(element);
    seen = addPart(seen, [Math.max(top - box.top, 0), Math.min(bottom - box.top, box.height)]);
    if (!coversAll(seen, height)) return;
    stop();
    done();
  };
  const timer = setInterval(look, SAMPLE_MILLISECONDS);
  document.addEventListener("scroll", look, { capture: true, passive: true });
  const stop = (): void => {
    clearInterval(timer);
    document.removeEventListener("scroll", look, { capture: true });
  };
  return stop;
}

/** The top and bottom of what the window shows of the view. Notices at the bottom of the view cover a part of it. */
function visibleRange(element: HTMLElement): [number, number] {
  const view = element.closest("main, .panel");
  const { top, bottom } = (view ?? document.body).getBoundingClientRect();
  const notices = [...(view?.querySelectorAll(":scope > [role=alert]") ?? [])].map((notice) => notice.getBoundingClientRect().top);
  return [Math.max(top, 0), Math.min(bottom, window.innerHeight, ...notices)];
}
