// Messages out of a stream's bytes, and what they do to the board.
import { expect, test } from "vitest";
import { apply, type Told } from "../src/lib/apply";
import { Frames } from "../src/lib/frames";
import type { Agent } from "../src/lib/types";
import { agent } from "./make";

test("messages come out whole, however the bytes were cut", () => {
  const text = "retry: 1000\n: connected\n\nid: 7\nevent: state_changed\ndata: {\"a\":1}\n\n: heartbeat\n\nid: 8\nevent: gap\ndata: {}\n\n";
  for (let cut = 0; cut <= text.length; cut += 1) {
    const frames = new Frames();
    const found = [...frames.take(text.slice(0, cut)), ...frames.take(text.slice(cut))];
    expect(found).toEqual([
      { id: 7, type: "state_changed", data: '{"a":1}' },
      { id: 8, type: "gap", data: "{}" },
    ]);
  }
});

test("a message that never ends is never told", () => {
  expect(new Frames().take("id: 1\nevent: x\ndata: {}\n")).toEqual([]);
});

const told = (type: string, data: Told["data"]): Told => ({ type, id: 1, data });

test("a new agent is put up, a change touches only what it names", () => {
  const one = agent({ name: "otter", state: "idle" });
  const agents = new Map<string, Agent>();
  const missing: string[] = [];
  apply(agents, told("agent_created", { agent_id: one.id, agent: one }), (id) => missing.push(id));
  apply(agents, told("state_changed", { agent_id: one.id, changes: { state: "working" } }), (id) => missing.push(id));
  expect(agents.get(one.id)).toEqual({ ...one, state: "working" });
  expect(one.state).toBe("idle");
  expect(missing).toEqual([]);
});

test("what is told of an agent that nobody knows is asked for", () => {
  const missing: string[] = [];
  apply(new Map(), told("agent_updated", { agent_id: "x", changes: { model: "m" } }), (id) => missing.push(id));
  expect(missing).toEqual(["x"]);
});

test("turns and waits change no agent by themselves", () => {
  const one = agent();
  const agents = new Map([[one.id, one]]);
  apply(agents, told("turn_created", { agent_id: one.id, text: "hello" }), () => expect.fail());
  expect(agents.get(one.id)).toBe(one);
});
