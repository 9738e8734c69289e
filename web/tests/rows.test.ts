// The board as rows, and which of them are in sight.
import { expect, test } from "vitest";
import { sections } from "../src/lib/arrange";
import { cardHeight, inSight, rowsOf } from "../src/lib/rows";
import type { Subagent } from "../src/lib/types";
import { agent } from "./make";

const subagents = (number: number): Subagent[] =>
  Array.from({ length: number }, (_, at) => ({ id: String(at), type: "t", description: "", started_at: "", tool: null }));

test("a section is a heading and rows of cards, the tallest card decides", () => {
  const agents = [agent(), agent({ subagents: subagents(2) }), agent()];
  const rows = rowsOf(sections(agents, "attention"), 2);
  expect(rows.map((row) => row.kind)).toEqual(["header", "cards", "cards"]);
  expect(rows[1]!.height - rows[2]!.height).toBe(40);
});

test("a card grows by four lines at most", () => {
  const bare = cardHeight(agent());
  expect([1, 4, 40].map((number) => cardHeight(agent({ subagents: subagents(number) })) - bare)).toEqual([20, 80, 80]);
});

test("only what is in sight is made, and the rest keeps its room", () => {
  const heights = Array.from({ length: 1_000 }, () => 100);
  for (const top of [0, 12_345, 99_500]) {
    const slice = inSight(heights, top, 800);
    expect(slice.to - slice.from).toBeLessThan(20);
    expect(slice.before).toBeLessThanOrEqual(top);
    expect(slice.before + (slice.to - slice.from) * 100 + slice.after).toBe(100_000);
    expect(slice.before + (slice.to - slice.from) * 100).toBeGreaterThanOrEqual(Math.min(top + 800, 100_000));
  }
  expect(inSight([], 0, 800)).toEqual({ from: 0, to: 0, before: 0, after: 0 });
});
