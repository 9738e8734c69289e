// Watches whether all of an element was on the screen. What changed its height is read again.
import { addPart, coversAll, type Interval } from "./seen-parts";

/** A part counts if it is on the screen at two looks in a row, so parts that a jump scrolls past do not. */
const SAMPLE_MILLISECONDS = 200;

/** Call `done` once every part of the element was on the screen. Returns a function that stops watching. */
export function watchReading(element: HTMLElement, done: () => void): () => void {
  let seen: Interval[] = [];
  let height = 0;
  let before: Interval = [0, 0];
  const look = (): void => {
    const shown = document.hidden ? ([0, 0] as const) : shownPart(element);
    const current = Math.round(element.getBoundingClientRect().height);
    if (current !== height) [seen, height] = [[], current];
    else seen = addPart(seen, [Math.max(before[0], shown[0]), Math.min(before[1], shown[1])]);
    before = shown;
    if (document.hidden || !coversAll(seen, height)) return;
    stop();
    done();
  };
  const timer = setInterval(look, SAMPLE_MILLISECONDS);
  const stop = (): void => clearInterval(timer);
  return stop;
}

/** The part of an element that the window shows, from its top. Notices at the bottom of the view cover a part of it. */
function shownPart(element: HTMLElement): Interval {
  const box = element.getBoundingClientRect();
  const view = element.closest(".inbox .reading, main, .panel");
  const { top, bottom } = (view ?? document.body).getBoundingClientRect();
  const notices = [...(view?.querySelectorAll(":scope > [role=alert]") ?? [])].map((notice) => notice.getBoundingClientRect().top);
  const end = Math.min(bottom, window.innerHeight, ...notices);
  return [Math.max(top - box.top, -box.top, 0), Math.min(end - box.top, box.height)];
}
