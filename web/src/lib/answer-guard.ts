// Decides whether a key press or click is a deliberate answer. Pure; the clock is passed in.
//
// Rules
// - Half a second must have passed since the last change of focus, selection or layout: what the user saw is what they answer.
// - A key counts only on its own: not while it is held down, not after another key within half a second, never after `g`.
// - A second click of a double click does not count.

/** How long the page must have been unchanged before an answer counts. */
export const SETTLE_MILLISECONDS = 500;
/** The first key of the chords that open views. */
export const CHORD_KEY = "g";

export class AnswerGuard {
  #changedAt: number;

  constructor(private readonly clock: () => number) {
    this.#changedAt = clock();
  }

  /** Focus, selection or layout changed. */
  change(): void {
    this.#changedAt = this.clock();
  }

  get isSettled(): boolean {
    return this.clock() - this.#changedAt >= SETTLE_MILLISECONDS;
  }
}

export interface KeyPress {
  key: string;
  repeat: boolean;
}

/** The sequence of all key presses on the page. */
export class KeySequence {
  #isDeliberate = false;
  #lastKey = "";
  #lastAt = -Infinity;

  constructor(private readonly clock: () => number) {}

  /** Record a key press. Call it before anything else handles the key. */
  press({ key, repeat }: KeyPress): void {
    const at = this.clock();
    this.#isDeliberate = !repeat && this.#lastKey !== CHORD_KEY && at - this.#lastAt >= SETTLE_MILLISECONDS;
    [this.#lastKey, this.#lastAt] = [key, at];
  }

  /** Whether the latest key was pressed on its own. */
  get isDeliberate(): boolean {
    return this.#isDeliberate;
  }
}

/** A click with the pointer, or a press of a button with the keyboard (`detail` is 0). */
export function isSingleClick(event: Pick<UIEvent, "detail">): boolean {
  return event.detail <= 1;
}

export const keySequence = new KeySequence(() => performance.now());
