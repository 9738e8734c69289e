// An agent's family: its helpers, the agents that it started, and what went wrong.
import { expect, test } from "vitest";
import { childrenOf, failures, helpers } from "../src/lib/family";
import type { Call, StateChange } from "../src/lib/types";
import { agent } from "./make";

const call = (parts: Partial<Call>): Call => ({
  id: "c",
  tool: "Bash",
  summary: "make",
  subagent_id: null,
  subagent_type: null,
  started_at: "2026-01-01T12:00:00Z",
  ended_at: "2026-01-01T12:00:01Z",
  outcome: "done",
  input: null,
  result: null,
  ...parts,
});
const change = (state: StateChange["state"], at: string, why: string): StateChange => ({
  seq: 1, at, state, why, waiting_for: null, source: "hook", confidence: "high", event: "StopFailure",
});

test("who runs comes first, who is done keeps its calls", () => {
  const running = [{ id: "b", type: "Explore", description: "", started_at: "2026-01-01T11:00:00Z", tool: null }];
  const calls = [
    call({ id: "1" }),
    call({ id: "2", subagent_id: "a", subagent_type: "Plan" }),
    call({ id: "3", subagent_id: "b", subagent_type: "Explore" }),
    call({ id: "4", subagent_id: "a", subagent_type: "Plan" }),
  ];
  const found = helpers(running, calls);
  expect(found.map((each) => [each.kind, each.now !== null, each.calls.map((one) => one.id)])).toEqual([
    ["Explore", true, ["3"]],
    ["Plan", false, ["2", "4"]],
  ]);
});

test("the agents that it started, the oldest first", () => {
  const parent = agent();
  const late = agent({ parent_id: parent.id, created_at: "2026-01-01T13:00:00Z" });
  const early = agent({ parent_id: parent.id, created_at: "2026-01-01T12:30:00Z" });
  expect(childrenOf(parent.id, [parent, late, early, agent()])).toEqual([early, late]);
});

test("what went wrong, the newest first, with the way to it", () => {
  const found = failures(
    [change("working", "2026-01-01T11:59:00Z", "x"), change("error", "2026-01-01T12:05:00Z", "a rate limit")],
    [call({}), call({ id: "bad", outcome: "failed", result: "Exit code 1\nboom" })],
  );
  expect(found.map((each) => [each.what, each.detail, each.call])).toEqual([
    ["the turn was stopped", "a rate limit", null],
    ["failed: Bash: make", "Exit code 1 boom", "bad"],
  ]);
});
