// Parsing the stream and applying its events.
import { expect, test } from "vitest";
import { SseParser } from "../src/lib/sse-parser";
import { applyEvent, type StreamEvent } from "../src/lib/stream-events";
import type { Agent } from "../src/lib/types";
import { agent } from "./fixtures";

test("messages are complete, wherever the chunks are split", () => {
  const text = "retry: 1000\n: connected\n\nid: 7\nevent: state_changed\ndata: {\"a\":1}\n\n: heartbeat\n\nid: 8\nevent: gap\ndata: {}\n\n";
  for (let cut = 0; cut <= text.length; cut += 1) {
    const parser = new SseParser();
    const found = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
    expect(found).toEqual([
      { id: 7, type: "state_changed", data: '{"a":1}' },
      { id: 8, type: "gap", data: "{}" },
    ]);
  }
});

test("an incomplete message is not returned", () => {
  expect(new SseParser().push("id: 1\nevent: x\ndata: {}\n")).toEqual([]);
});

const event = (type: string, data: StreamEvent["data"]): StreamEvent => ({ type, id: 1, data });

test("a new agent is added, and a change affects only the fields that it names", () => {
  const one = agent({ name: "otter", state: "idle" });
  const agents = new Map<string, Agent>();
  const missing: string[] = [];
  applyEvent(agents, event("agent_created", { agent_id: one.id, agent: one }), (id) => missing.push(id));
  applyEvent(agents, event("state_changed", { agent_id: one.id, changes: { state: "working" } }), (id) => missing.push(id));
  expect(agents.get(one.id)).toEqual({ ...one, state: "working" });
  expect(one.state).toBe("idle");
  expect(missing).toEqual([]);
});

test("an unknown agent is reported", () => {
  const missing: string[] = [];
  applyEvent(new Map(), event("agent_updated", { agent_id: "x", changes: { model: "m" } }), (id) => missing.push(id));
  expect(missing).toEqual(["x"]);
});

test("turns do not change agents", () => {
  const one = agent();
  const agents = new Map([[one.id, one]]);
  applyEvent(agents, event("turn_created", { agent_id: one.id, text: "hello" }), () => expect.fail());
  expect(agents.get(one.id)).toBe(one);
});
