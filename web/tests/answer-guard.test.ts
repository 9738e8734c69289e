// When a key or click counts as an answer.
import { beforeEach, describe, expect, it } from "vitest";
import { AnswerGuard, isSingleClick, KeySequence } from "../src/lib/answer-guard";

let time = 0;
const clock = (): number => time;

beforeEach(() => {
  time = 10_000;
});

describe("AnswerGuard", () => {
  it("accepts nothing within half a second of a change", () => {
    const guard = new AnswerGuard(clock);
    expect(guard.isSettled).toBe(false);
    time += 500;
    expect(guard.isSettled).toBe(true);
    guard.change();
    time += 499;
    expect(guard.isSettled).toBe(false);
  });
});

describe("KeySequence", () => {
  /** Whether the last of these keys is deliberate, pressed with the given pauses before them. */
  function isDeliberate(...presses: [number, string][]): boolean {
    const keys = new KeySequence(clock);
    for (const [pause, key] of presses) {
      time += pause;
      keys.press({ key, repeat: false });
    }
    return keys.isDeliberate;
  }

  it("accepts a key on its own", () => {
    expect(isDeliberate([0, "y"])).toBe(true);
    expect(isDeliberate([0, "j"], [600, "y"])).toBe(true);
  });
  it("refuses the second key of a chord, however slow", () => {
    expect(isDeliberate([0, "g"], [100, "a"])).toBe(false);
    expect(isDeliberate([0, "g"], [5_000, "a"])).toBe(false);
    expect(isDeliberate([0, "g"], [600, "g"], [600, "a"])).toBe(false);
  });
  it("refuses a double press and a key within a word", () => {
    expect(isDeliberate([0, "y"], [200, "y"])).toBe(false);
    expect(isDeliberate([0, "1"], [90, "2"], [90, "y"])).toBe(false);
  });
  it("refuses a key that is held down", () => {
    const keys = new KeySequence(clock);
    keys.press({ key: "y", repeat: true });
    expect(keys.isDeliberate).toBe(false);
  });
});

it("ignores the second click of a double click", () => {
  expect([0, 1, 2, 3].map((detail) => isSingleClick({ detail }))).toEqual([true, true, false, false]);
});
