// An agent's past: stretches of states, and what was said and done in its order.
import { expect, test } from "vitest";
import { stateAt, stretches, ticks } from "../src/lib/ribbon";
import { placeAt, plain, talk } from "../src/lib/talk";
import type { Call, State, StateChange, Turn } from "../src/lib/types";

const MINUTE = 60_000;
const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const change = (minute: number, state: State): StateChange => ({
  seq: minute, at: at(minute), state, waiting_for: null, source: "hook", confidence: "high", why: "", event: "",
});
const call = (id: string, minute: number): Call => ({
  id, tool: "Bash", summary: "", subagent_id: null, subagent_type: null, started_at: at(minute), ended_at: null, outcome: "done", input: null, result: null,
});
const turn = (id: string, minute: number): Turn => ({
  turn_id: id, agent_id: "a", command_id: "c", actor: "USER", intent: "COMMAND", text: "", timestamp: at(minute), timestamp_source: "", reason: "",
});

test("a hit leads to what was said or done nearest to its moment", () => {
  const turns = [turn("first", 0), turn("last", 30)];
  const calls = [{ ...call("ran", 10), ended_at: at(20) }];
  expect(placeAt(turns, calls, at(1))).toBe("turn-first");
  expect(placeAt(turns, calls, at(19))).toBe("call-ran");
  expect(placeAt([], [], at(1))).toBe(null);
});

test("a state lasts until the next one, in the order of time", () => {
  const found = stretches([change(5, "waiting"), change(0, "idle"), change(2, "working")], Date.parse(at(9)));
  expect(found.map((each) => [each.state, (each.ends - each.begins) / MINUTE])).toEqual([
    ["idle", 2], ["working", 3], ["waiting", 4],
  ]);
});

test("the state at a moment is the last one that began before", () => {
  const changes = [change(0, "idle"), change(5, "working")];
  const when = (minute: number): State | null => stateAt(changes, Date.parse(at(minute)))?.state ?? null;
  expect([when(-1), when(0), when(4), when(5), when(50)]).toEqual([null, "idle", "idle", "working", "working"]);
});

test("an axis has a few round moments", () => {
  const found = ticks(Date.parse(at(3)), Date.parse(at(58)));
  expect(found.length).toBeGreaterThan(2);
  expect(found.length).toBeLessThan(8);
  expect(found.every((tick) => tick % (5 * MINUTE) === 0)).toBe(true);
});

test("calls that follow one another are one group between the turns", () => {
  const items = talk([turn("first", 0), turn("second", 5)], [call("b", 2), call("a", 1), call("c", 6)]);
  expect(items.map((item) => (item.kind === "turn" ? item.key : item.calls.map((each) => each.id)))).toEqual([
    "first", ["a", "b"], "second", ["c"],
  ]);
});

test("what came out of a call is shown as people read it", () => {
  expect(plain("text")).toBe("text");
  expect(plain({ stdout: "out", stderr: "err", interrupted: false })).toBe("out\nerr");
  expect(plain({ stdout: "", stderr: "" })).toBe("(no output)");
  expect(plain({ plan: "the plan" })).toBe("the plan");
  expect(plain({ a: 1, b: 2 })).toBe('{\n  "a": 1,\n  "b": 2\n}');
  expect(plain(null)).toBe("");
});
