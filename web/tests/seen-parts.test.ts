// A request was seen when all its parts were on the screen, in any order.
import { describe, expect, it } from "vitest";
import { addPart, coversAll, type Interval } from "../src/lib/seen-parts";

const seen = (...parts: Interval[]): Interval[] => parts.reduce<Interval[]>(addPart, []);

describe("addPart", () => {
  it("joins parts that touch", () => {
    expect(seen([0, 100], [80, 180])).toEqual([[0, 180]]);
    expect(seen([200, 300], [0, 100])).toEqual([[0, 100], [200, 300]]);
    expect(seen([200, 300], [0, 100], [90, 210])).toEqual([[0, 300]]);
    expect(seen([50, 50], [60, 40])).toEqual([]);
  });
});

describe("coversAll", () => {
  it("needs the start, the middle and the end", () => {
    expect(coversAll(seen([0, 100], [80, 180]), 180)).toBe(true);
    expect(coversAll(seen([0, 100], [200, 300]), 300)).toBe(false);
    expect(coversAll(seen([100, 300]), 300)).toBe(false);
    expect(coversAll(seen([0, 200]), 300)).toBe(false);
    expect(coversAll([], 0)).toBe(true);
  });
});
