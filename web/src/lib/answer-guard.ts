// Decides whether a key press or click is a deliberate answer. Pure; the clock is passed in.
//
// Rules
// - Half a second must have passed since the last change of focus, selection or layout: what the user saw is what they answer.
// - A key counts only on its own: not while it is held down, not after another key within half a second, never after `g`.
// - Enter and Space on a button follow the rules of keys. Other clicks without a pointer, such as those of a screen reader, count.
// - A second click of a double click does not count.
import { CHORD_KEY } from "./shortcuts";

/** How long the page must have been unchanged before an answer counts. */
export const SETTLE_MILLISECONDS = 500;

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

export type Click = Pick<UIEvent, "detail">;

/** The sequence of all key presses on the page. */
export class KeySequence {
  #isDeliberate = false;
  #lastKey = "";
  #lastAt = -Infinity;
  #releasedAt = -Infinity;

  constructor(private readonly clock: () => number) {}

  /** Record a key press. Call it before anything else handles the key. */
  press({ key, repeat }: KeyPress): void {
    const at = this.clock();
    this.#isDeliberate = !repeat && this.#lastKey !== CHORD_KEY && at - this.#lastAt >= SETTLE_MILLISECONDS;
    [this.#lastKey, this.#lastAt] = [key, at];
  }

  /** Record that a key was released: Space presses its button only then. */
  release(): void {
    this.#releasedAt = this.clock();
  }

  /** Whether a click or a press of a button counts. `detail` is 0 if no pointer made it. */
  permitsClick({ detail }: Click): boolean {
    const isByKey = detail === 0 && this.clock() - Math.max(this.#lastAt, this.#releasedAt) < SETTLE_MILLISECONDS;
    return isByKey ? this.#isDeliberate : detail <= 1;
  }

  /** Whether the latest key was pressed on its own. */
  get isDeliberate(): boolean {
    return this.#isDeliberate;
  }
}

export const keySequence = new KeySequence(() => performance.now());
