// What is said of agents and times: the same words as in the terminal.
import { expect, test } from "vitest";
import { ago, duration, span } from "../src/lib/time";
import type { Agent } from "../src/lib/types";
import { contextLevel, costWords, count, modelWords, summary, tokensWords } from "../src/lib/words";
import examples from "./agents.json";
import { agent } from "./make";

const NOW = Date.parse("2026-01-01T12:00:00Z");

// The same file is read by tests/surfaces/test_wording.py: page and terminal speak alike.
test.each(examples.map((each) => [each.words, each.agent] as const))("says: %s", (words, parts) => {
  expect(summary(agent(parts as unknown as Partial<Agent>), NOW)).toBe(words);
});

test("time is told in one unit, and never in the future", () => {
  expect([0, 59, 60, 3599, 3600, 172_799, 172_800].map(span)).toEqual(["0 s", "59 s", "1 min", "59 min", "1 h", "47 h", "2 d"]);
  expect(ago("2026-01-01T12:00:09Z", NOW)).toBe("just now");
  expect(ago("nonsense", NOW)).toMatch(/ d ago$/);
});

test("long times have two units where one says too little", () => {
  expect([30, 90, 3600, 7500].map(duration)).toEqual(["30 s", "1 min", "1 h", "2 h 5 min"]);
});

test("models are called as people call them", () => {
  expect(modelWords("claude-opus-4-5-20260101")).toBe("opus 4.5");
  expect(modelWords("claude-sonnet-5[1m]")).toBe("sonnet 5");
  expect(modelWords("us.anthropic.claude-haiku-4-5-20251001-v1:0")).toBe("haiku 4.5");
  expect(modelWords("something-else")).toBe("something else");
});

test("numbers are short", () => {
  expect([tokensWords(950), tokensWords(61_400), tokensWords(1_240_000)]).toEqual(["950", "61k", "1.2M"]);
  expect([costWords(0.031), costWords(12.4)]).toEqual(["$0.03", "$12"]);
  expect([count(1, "agent"), count(1204, "event")]).toEqual(["1 agent", "1,204 events"]);
});

test("a context is calm until it matters", () => {
  expect([59, 60, 80, 90].map(contextLevel)).toEqual(["calm", "note", "warning", "full"]);
});
