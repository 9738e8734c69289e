// When a key or click counts as an answer.
import { beforeEach, describe, expect, it } from "vitest";
import { AnswerGuard, KeySequence } from "../src/lib/answer-guard";

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

describe("clicks", () => {
  const [byKey, byPointer, second] = [{ detail: 0 }, { detail: 1 }, { detail: 2 }];

  it("ignores the second click of a double click", () => {
    const keys = new KeySequence(clock);
    expect([byPointer, second].map((click) => keys.permitsClick(click))).toEqual([true, false]);
  });
  it("accepts Enter and Space on their own", () => {
    const keys = new KeySequence(clock);
    keys.press({ key: "Enter", repeat: false });
    expect(keys.permitsClick(byKey)).toBe(true);
    time += 600;
    keys.press({ key: " ", repeat: false });
    time += 2_000;
    keys.release();
    expect(keys.permitsClick(byKey)).toBe(true);
  });
  it("refuses Enter and Space after `g`, twice, and held down", () => {
    const keys = new KeySequence(clock);
    keys.press({ key: "g", repeat: false });
    time += 900;
    keys.press({ key: "Enter", repeat: false });
    expect(keys.permitsClick(byKey)).toBe(false);
    time += 300;
    keys.press({ key: "Enter", repeat: false });
    expect(keys.permitsClick(byKey)).toBe(false);
    time += 900;
    keys.press({ key: " ", repeat: true });
    time += 900;
    keys.release();
    expect(keys.permitsClick(byKey)).toBe(false);
  });
  it("accepts a click that comes from neither a key nor a pointer", () => {
    const keys = new KeySequence(clock);
    expect(keys.permitsClick(byKey)).toBe(true);
    keys.press({ key: "g", repeat: false });
    time += 600;
    expect(keys.permitsClick(byKey)).toBe(true);
    expect(keys.permitsClick(byPointer)).toBe(true);
  });
});
