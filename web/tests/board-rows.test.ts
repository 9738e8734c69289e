// The rows of the board, and which of them are visible.
import { expect, test } from "vitest";
import { sections } from "../src/lib/board-layout";
import { anchoredPosition, boardRows, cardAnchors, cardHeight, visibleRange } from "../src/lib/board-rows";
import type { Subagent } from "../src/lib/types";
import { agent } from "./fixtures";

const subagents = (number: number): Subagent[] =>
  Array.from({ length: number }, (_, at) => ({ id: String(at), type: "t", description: "", started_at: "", tool: null }));

test("a section is a header and rows of cards, each as tall as its tallest card", () => {
  const agents = [agent(), agent({ subagents: subagents(2) }), agent()];
  const rows = boardRows(sections(agents, "attention"), 2);
  expect(rows.map((row) => row.kind)).toEqual(["header", "cards", "cards"]);
  expect(rows[1]!.height - rows[2]!.height).toBe(40);
});

test("a card grows by four lines at most", () => {
  const bare = cardHeight(agent());
  expect([1, 4, 40].map((number) => cardHeight(agent({ subagents: subagents(number) })) - bare)).toEqual([20, 80, 80]);
});

test("the first visible card keeps its place when a row is added above it", () => {
  const row = (...anchors: string[]): { anchors: string[]; height: number } => ({ anchors, height: 100 });
  const before = ["a", "b", "c", "d"].map((name) => row(name));
  expect(anchoredPosition(before, [row("new"), ...before], 150, 200)).toBe(250);
  expect(anchoredPosition(before, [row("new"), ...before], 0, 200)).toBe(0);
  expect(anchoredPosition(before, [row("c"), row("new"), row("a"), row("b"), row("d")], 150, 200)).toBe(0 + 150 - 200);
  expect(anchoredPosition(before, [row("x")], 150, 200)).toBe(150);
});

test("a card that changes its state is no anchor", () => {
  const one = agent({ state: "working" });
  const names = (each: typeof one): string[] => boardRows(sections([each], "attention"), 1).flatMap(cardAnchors);
  expect(names(one)).toEqual(names({ ...one, cost_usd: 2 }));
  expect(names(one)).not.toEqual(names({ ...one, state: "waiting" }));
});

test("only visible rows are rendered, and the others keep their height", () => {
  const heights = Array.from({ length: 1_000 }, () => 100);
  for (const top of [0, 12_345, 99_500]) {
    const range = visibleRange(heights, top, 800);
    expect(range.to - range.from).toBeLessThan(20);
    expect(range.before).toBeLessThanOrEqual(top);
    expect(range.before + (range.to - range.from) * 100 + range.after).toBe(100_000);
    expect(range.before + (range.to - range.from) * 100).toBeGreaterThanOrEqual(Math.min(top + 800, 100_000));
  }
  expect(visibleRange([], 0, 800)).toEqual({ from: 0, to: 0, before: 0, after: 0 });
});
