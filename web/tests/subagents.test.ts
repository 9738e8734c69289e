// Sub-agents, child agents and errors of an agent.
import { expect, test } from "vitest";
import { agentErrors } from "../src/lib/agent-errors";
import { childAgents, subagentHistory } from "../src/lib/subagents";
import type { StateChange, ToolCall } from "../src/lib/types";
import { agent } from "./fixtures";

const call = (parts: Partial<ToolCall>): ToolCall => ({
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

test("running sub-agents come first, finished ones keep their tool calls", () => {
  const running = [{ id: "b", type: "Explore", description: "", started_at: "2026-01-01T11:00:00Z", tool: null }];
  const calls = [
    call({ id: "1" }),
    call({ id: "2", subagent_id: "a", subagent_type: "Plan" }),
    call({ id: "3", subagent_id: "b", subagent_type: "Explore" }),
    call({ id: "4", subagent_id: "a", subagent_type: "Plan" }),
  ];
  const found = subagentHistory(running, calls);
  expect(found.map((each) => [each.type, each.running !== null, each.calls.map((one) => one.id)])).toEqual([
    ["Explore", true, ["3"]],
    ["Plan", false, ["2", "4"]],
  ]);
});

test("a finished sub-agent keeps its description", () => {
  const [found] = subagentHistory([], [call({ subagent_id: "a", subagent_type: "Explore", subagent_description: "find the parser" })]);
  expect([found!.type, found!.description]).toEqual(["Explore", "find the parser"]);
});

test("child agents are listed oldest first", () => {
  const parent = agent();
  const late = agent({ parent_id: parent.id, created_at: "2026-01-01T13:00:00Z" });
  const early = agent({ parent_id: parent.id, created_at: "2026-01-01T12:30:00Z" });
  expect(childAgents(parent.id, [parent, late, early, agent()])).toEqual([early, late]);
});

test("errors are listed newest first, with the id of the tool call", () => {
  const found = agentErrors(
    [change("working", "2026-01-01T11:59:00Z", "x"), change("error", "2026-01-01T12:05:00Z", "a rate limit")],
    [call({}), call({ id: "bad", outcome: "failed", result: "Exit code 1\nboom" })],
  );
  expect(found.map((each) => [each.title, each.detail, each.callId])).toEqual([
    ["turn stopped", "a rate limit", null],
    ["failed: Bash: make", "Exit code 1 boom", "bad"],
  ]);
});
