// Agents, times and numbers as text.
import { expect, test } from "vitest";
import { ago, duration, shortDuration } from "../src/lib/time";
import type { Agent, Wait } from "../src/lib/types";
import { answeredText, contextLevel, formatCost, count, modelName, agentSummary, formatTokens, learnTools, toolText, waitText } from "../src/lib/text";
import examples from "./agent-summaries.json";
import { agent } from "./fixtures";

const NOW = Date.parse("2026-01-01T12:00:00Z");

// tests/surfaces/text/test_labels.py reads the same file, so that page and terminal use the same sentences.
test.each(examples.map((each) => [each.summary, each.agent] as const))("summary: %s", (summary, parts) => {
  expect(agentSummary(agent(parts as unknown as Partial<Agent>), NOW)).toBe(summary);
});

test("a short duration has one unit, and a time is never in the future", () => {
  expect([0, 59, 60, 3599, 3600, 172_799, 172_800].map(shortDuration)).toEqual(["0 s", "59 s", "1 min", "59 min", "1 h", "47 h", "2 d"]);
  expect(ago("2026-01-01T12:00:09Z", NOW)).toBe("just now");
  expect(ago("nonsense", NOW)).toMatch(/ d ago$/);
});

test("a duration of hours has two units", () => {
  expect([30, 90, 3600, 7500].map(duration)).toEqual(["30 s", "1 min", "1 h", "2 h 5 min"]);
});

test("models have short names", () => {
  expect(modelName("claude-opus-4-5-20260101")).toBe("opus 4.5");
  expect(modelName("claude-sonnet-5[1m]")).toBe("sonnet 5");
  expect(modelName("us.anthropic.claude-haiku-4-5-20251001-v1:0")).toBe("haiku 4.5");
  expect(modelName("gpt-6-luna")).toBe("gpt-6-luna");
  expect(modelName("gemini-3.1-pro")).toBe("gemini-3.1-pro");
});

test("numbers are short", () => {
  expect([formatTokens(950), formatTokens(61_400), formatTokens(1_240_000)]).toEqual(["950", "61k", "1.2M"]);
  expect([0, 0.0026, 0.031, 12.4].map(formatCost)).toEqual(["$0.00", "<$0.01", "$0.03", "$12"]);
  expect([count(1, "agent"), count(1204, "event")]).toEqual(["1 agent", "1,204 events"]);
});

test("the context has four levels", () => {
  expect([59, 60, 80, 90].map(contextLevel)).toEqual(["calm", "note", "warning", "full"]);
});

test("an answer names the chosen labels and what it grants", () => {
  const option = { id: "", kind: "rule", destination: "this session", lifetime: "until this session ends", warning: "" };
  const grants = ["Allow Bash(make:*)", "Allow access to /x"].map((words) => ({ ...option, words }));
  expect(answeredText({ words: "answered Red; S, L", grants: [] })).toBe("Answered Red; S, L");
  expect(answeredText({ words: "allowed with 2 grants", grants })).toBe("Allowed, and granted: Allow Bash(make:*); Allow access to /x");
});

test("tools of other clients have their words", () => {
  learnTools([{ name: "run_it", doing: "running", wants: "run", is_file: false }, { name: "patch", doing: "editing", wants: "edit", is_file: true }]);
  expect(toolText({ name: "run_it", summary: "npm test" })).toBe("running npm test");
  expect(toolText({ name: "patch", summary: "/src/auth.py" })).toBe("editing auth.py");
  expect(toolText({ name: "patch", summary: "src/a.py, src/b.py" })).toBe("editing src/a.py, src/b.py");
  const asked = { kind: "permission", text: "", tool: "run_it", summary: "npm test", questions: [] } as unknown as Wait;
  expect(waitText(asked)).toBe("wants to run: npm test");
});
