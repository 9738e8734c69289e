// Watches the card of a wait: changes of focus, and movement of its buttons, for example because something above them
// changed its height. Scrolling by the user is not a change.
import { AnswerGuard, SETTLE_MILLISECONDS } from "./answer-guard";

const SAMPLE_MILLISECONDS = 100;
/** On touch screens the focus follows the end of the touch. */
const TOUCH_MILLISECONDS = 300;

export class CardGuard {
  /** Whether an answer counts now. For the look of the buttons; `permits` decides. */
  isSettled = $state(false);
  #guard = new AnswerGuard(() => performance.now());
  #timer: ReturnType<typeof setTimeout> | undefined;
  #element: HTMLElement | null = null;
  #position = "";
  #pointerIsDown = false;
  #pointerAt = -Infinity;

  /** Something changed: answers do not count for half a second. */
  change = (): void => {
    this.#guard.change();
    this.isSettled = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.isSettled = true), SETTLE_MILLISECONDS);
  };

  permits(): boolean {
    this.#checkPosition();
    return this.#guard.isSettled;
  }

  /** Watch the position of the buttons, and the focus of the window. Returns a function that stops it. */
  watch = (element: HTMLElement): (() => void) => {
    this.#element = element;
    this.change();
    const interval = setInterval(() => this.#checkPosition(), SAMPLE_MILLISECONDS);
    window.addEventListener("focus", this.change);
    document.addEventListener("visibilitychange", this.change);
    return () => {
      clearInterval(interval);
      clearTimeout(this.#timer);
      window.removeEventListener("focus", this.change);
      document.removeEventListener("visibilitychange", this.change);
      this.#element = null;
    };
  };

  pointerDown = (): void => {
    this.#pointerIsDown = true;
  };

  pointerUp = (): void => {
    this.#pointerIsDown = false;
    this.#pointerAt = performance.now();
  };

  /** A click moves the focus to its button: that is part of the click. */
  focusIn = (): void => {
    const isPartOfClick = this.#pointerIsDown || performance.now() - this.#pointerAt < TOUCH_MILLISECONDS;
    if (!isPartOfClick) this.change();
  };

  #checkPosition(): void {
    const position = this.#element === null ? "" : positionOf(this.#element);
    if (position === this.#position) return;
    this.#position = position;
    this.change();
  }
}

/** The position in the content of the view, which scrolling does not change. */
function positionOf(element: HTMLElement): string {
  const scroller = element.closest("main, .panel");
  const { left, top } = element.getBoundingClientRect();
  return `${Math.round(left)} ${Math.round(top + (scroller?.scrollTop ?? 0))}`;
}
