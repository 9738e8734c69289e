// Joining turns and tool calls of several pages and of the stream.
import { expect, test } from "vitest";
import { callTools, conversationItems, keptItems, MAX_ITEM_CALLS } from "../src/lib/conversation";
import { mergeCalls, mergeTurns, updateStart } from "../src/lib/conversation-merge";
import type { ToolCall, Turn } from "../src/lib/types";

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const turn = (id: string, minute: number, text = ""): Turn => ({
  turn_id: id, agent_id: "a", project_id: "p", command_id: "c", actor: "USER", intent: "COMMAND", text, timestamp: at(minute), timestamp_source: "", reason: "",
});
const call = (id: string, minute: number, outcome = "done"): ToolCall => ({
  id, tool: "Bash", summary: "", subagent_id: null, subagent_type: null, started_at: at(minute), ended_at: null, outcome, input: null, result: null,
});

test("turns are in order of time, once, and unchanged ones stay the same object", () => {
  const known = [turn("a", 1), turn("b", 3)];
  const merged = mergeTurns(known, [turn("c", 2), turn("b", 3), turn("a", 1, "corrected")]);
  expect(merged.map((each) => each.turn_id)).toEqual(["a", "c", "b"]);
  expect(merged[0]!.text).toBe("corrected");
  expect(merged[2]).toBe(known[1]);
  expect(mergeTurns(known, [turn("b", 3)])).toBe(known);
});

test("a call that ended replaces the running one", () => {
  const merged = mergeCalls([call("x", 1, "running")], [call("x", 1, "done")]);
  expect(merged.map((each) => each.outcome)).toEqual(["done"]);
});

test("an update begins at the oldest running call, or some turns or calls before the end", () => {
  const turns = [1, 2, 3, 4].map((minute) => turn(`t${minute}`, minute));
  expect(updateStart(turns, [], 2)).toBe(at(3));
  expect(updateStart(turns, [call("x", 1), call("y", 2), call("z", 5)], 2)).toBe(at(3));
  expect(updateStart(turns, [call("x", 1, "running"), call("y", 2)], 2)).toBe(at(1));
  expect(updateStart([], [])).toBe(undefined);
});

test("many consecutive calls are several items, and items that did not change stay the same object", () => {
  const calls = Array.from({ length: MAX_ITEM_CALLS + 1 }, (_, index) => call(`c${index}`, index));
  const items = conversationItems([], calls);
  expect(items.map((item) => (item.kind === "calls" ? item.calls.length : 0))).toEqual([MAX_ITEM_CALLS, 1]);
  const kept = keptItems(items, conversationItems([], [...calls, call("more", 59)]));
  expect(kept[0]).toBe(items[0]);
  expect(kept[1]).not.toBe(items[1]);
});

test("a group of calls names its tools, the most frequent first", () => {
  expect(callTools([{ ...call("a", 1), tool: "Read" }, call("b", 2), call("c", 3)])).toBe("2 Bash, 1 Read");
});
