// Answers that allow something can be sent with a delay, so that they can be undone. The delay is a setting of this
// browser. Leaving the view does not cancel the answer; closing the page does.
import { SvelteMap } from "svelte/reactivity";
import { StoredSetting } from "./stored-setting.svelte";
import { secondsUntil } from "./time";

/** Seconds; 0: answers are sent immediately. */
export const DELAYS = [0, 3, 5, 10];
export const allowDelay = new StoredSetting<number>("allow-delay", 0);

interface DelayedAnswer {
  seconds: number;
  /** When it is sent, as a time of `Date.now()`. */
  at: number;
  timer: ReturnType<typeof setTimeout>;
}

class DelayedAnswers {
  #answers = new SvelteMap<string, DelayedAnswer>();

  /** When the answer to a wait is sent; null if none is delayed. */
  sentAt(wait: string): number | null {
    return this.#answers.get(wait)?.at ?? null;
  }

  /** The seconds to show until an answer is sent. */
  secondsLeft(wait: string, now: number): number {
    const { at, seconds } = this.#answers.get(wait) ?? { at: now, seconds: 1 };
    return secondsUntil(at, now, seconds);
  }

  /** Call `send` after the configured delay. */
  start(wait: string, send: () => void): void {
    this.undo(wait);
    const seconds = allowDelay.value;
    const milliseconds = seconds * 1000;
    const timer = setTimeout(() => {
      this.#answers.delete(wait);
      send();
    }, milliseconds);
    this.#answers.set(wait, { seconds, at: Date.now() + milliseconds, timer });
  }

  undo(wait: string): void {
    clearTimeout(this.#answers.get(wait)?.timer);
    this.#answers.delete(wait);
  }
}

export const delayedAnswers = new DelayedAnswers();
