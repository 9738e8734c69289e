// The history of an agent: spans of states, and the conversation in chronological order.
import { expect, test } from "vitest";
import { axisTicks, scaleTicks, segmentOf, stateAt, stateScale, stateSpans } from "../src/lib/state-timeline";
import { timeScale } from "../src/lib/time-scale";
import { conversationItems, elementIdAt, inputText, readableText } from "../src/lib/conversation";
import type { State, StateChange, ToolCall, Turn } from "../src/lib/types";

const MINUTE = 60_000;
const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const change = (minute: number, state: State): StateChange => ({
  seq: minute, at: at(minute), state, waiting_for: null, source: "hook", confidence: "high", why: "", event: "",
});
const call = (id: string, minute: number): ToolCall => ({
  id, tool: "Bash", summary: "", subagent_id: null, subagent_type: null, started_at: at(minute), ended_at: null, outcome: "done", input: null, result: null,
});
const turn = (id: string, minute: number): Turn => ({
  turn_id: id, agent_id: "a", project_id: "p", command_id: "c", actor: "USER", intent: "COMMAND", text: "", timestamp: at(minute), timestamp_source: "", reason: "",
});

test("a search hit links to the turn or tool call closest to its time", () => {
  const turns = [turn("first", 0), turn("last", 30)];
  const calls = [{ ...call("ran", 10), ended_at: at(20) }];
  expect(elementIdAt(turns, calls, at(1))).toBe("turn-first");
  expect(elementIdAt(turns, calls, at(19))).toBe("call-ran");
  expect(elementIdAt([], [], at(1))).toBe(null);
});

test("a state lasts until the next one, in chronological order", () => {
  const found = stateSpans([change(5, "waiting"), change(0, "idle"), change(2, "working")], Date.parse(at(9)));
  expect(found.map((each) => [each.change.state, (each.endsAt - each.startsAt) / MINUTE])).toEqual([
    ["idle", 2], ["working", 3], ["waiting", 4],
  ]);
});

test("the state at a time is the last one that started before it", () => {
  const changes = [change(0, "idle"), change(5, "working")];
  const stateAtMinute = (minute: number): string | null => stateAt(changes, Date.parse(at(minute)))?.state ?? null;
  expect([-1, 0, 4, 5, 50].map(stateAtMinute)).toEqual([null, "idle", "idle", "working", "working"]);
});

test("an axis has a few round times", () => {
  const found = axisTicks(Date.parse(at(3)), Date.parse(at(58)));
  expect(found.length).toBeGreaterThan(2);
  expect(found.length).toBeLessThan(8);
  expect(found.every((tick) => tick % (5 * MINUTE) === 0)).toBe(true);
});

test("hours without work are short on the axis, and the work keeps its room", () => {
  const spans = stateSpans([change(0, "working"), change(10, "idle"), change(310, "working")], Date.parse(at(320)));
  const scale = stateScale(spans);
  expect(spans.map((span) => scale.isShortened(segmentOf(span)))).toEqual([false, true, false]);
  expect(scale.position(Date.parse(at(10)))).toBeGreaterThan(0.4);
  expect(scale.position(Date.parse(at(310)))).toBeLessThan(0.6);
  for (const minute of [0, 5, 100, 310, 315, 320]) expect(scale.time(scale.position(Date.parse(at(minute))))).toBeCloseTo(Date.parse(at(minute)), -1);
  const ticks = scaleTicks(spans, scale).map((tick) => (tick - Date.parse(at(0))) / MINUTE);
  expect(ticks.length).toBeGreaterThan(1);
  expect(ticks.every((minute) => minute <= 10 || minute >= 310)).toBe(true);
});

test("without work, or with short idle times, nothing is shortened", () => {
  const idle = { startsAt: 0, endsAt: 1_000_000, isIdle: true };
  expect(timeScale([idle]).isShortened(idle)).toBe(false);
  const short = { startsAt: 100_000, endsAt: 150_000, isIdle: true };
  const scale = timeScale([{ startsAt: 0, endsAt: 100_000, isIdle: false }, short]);
  expect([scale.isShortened(short), scale.position(75_000), scale.position(-5), scale.position(200_000), scale.time(1)]).toEqual([false, 0.5, 0, 1, 150_000]);
});

test("consecutive tool calls are one item between the turns", () => {
  const items = conversationItems([turn("first", 0), turn("second", 5)], [call("b", 2), call("a", 1), call("c", 6)]);
  expect(items.map((item) => (item.kind === "turn" ? item.key : item.calls.map((each) => each.id)))).toEqual([
    "first", ["a", "b"], "second", ["c"],
  ]);
});

test("the result of a tool call is shown as readable text", () => {
  expect(readableText("text")).toBe("text");
  expect(readableText({ stdout: "out", stderr: "err", interrupted: false })).toBe("out\nerr");
  expect(readableText({ stdout: "", stderr: "" })).toBe("(no output)");
  expect(readableText({ plan: "the plan" })).toBe("the plan");
  expect(readableText({ a: 1, b: 2 })).toBe('{\n  "a": 1,\n  "b": 2\n}');
  expect(readableText(null)).toBe("");
});

test("the input of a call has its values by name, without escapes", () => {
  expect(inputText({ command: 'echo "a"\necho b', timeout: 5 })).toBe('command:\necho "a"\necho b\ntimeout: 5');
  expect(inputText({ command: "ls" })).toBe("ls");
  expect([inputText(null), inputText("text"), inputText({})]).toEqual(["", "text", ""]);
});
