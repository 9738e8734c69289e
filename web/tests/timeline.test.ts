// The timeline: lanes, bands, the axis, the window in the address.
import { describe, expect, it } from "vitest";
import { addressOf, afterEvent, axisOf, bandsOf, isActive, itemAt, itemsOf, lanesOf, panned, segmentsOf, visibleBands, windowOf, zoomed, type Lane } from "../src/lib/timeline";
import type { Timeline } from "../src/lib/types";

const MINUTE = 60_000;
const START = Date.UTC(2026, 2, 1, 12);
const WINDOW = { from: START, to: START + 60 * MINUTE };

function reply(): Timeline {
  return {
    since: "",
    until: "",
    projects: [{ id: "p", name: "shop", root: "/shop" }],
    evidence: [{ why: "prompt", event: "UserPromptSubmit", source: "hook", confidence: "high" }],
    agents: [
      {
        id: "a",
        name: "calm-otter",
        project: 0,
        client: "claude-code",
        parent_id: null,
        created_at: START,
        mission: null,
        states: [
          [1, START - MINUTE, "idle", null, 0],
          [2, START + MINUTE, "working", null, 0],
          [3, START + 11 * MINUTE, "waiting", "question", 0],
        ],
        commands: [[START + MINUTE, "Fix it", null]],
        subagents: [["s", START + 2 * MINUTE, null, "", "look"]],
      },
    ],
  };
}
const lane = (): Lane => lanesOf(reply()).get("a")!;
const minutes = (time: number): number => (time - START) / MINUTE;

describe("a lane", () => {
  it("has the states of a window as bands", () => {
    expect(bandsOf(lane().changes, WINDOW).map((band) => [band.state, minutes(band.at), minutes(band.endsAt), band.evidence?.why])).toEqual([
      ["idle", -1, 1, "prompt"],
      ["working", 1, 11, "prompt"],
      ["waiting", 11, 60, "prompt"],
    ]);
    expect(bandsOf(lane().changes, { from: START + 5 * MINUTE, to: START + 6 * MINUTE }).map((band) => band.state)).toEqual(["working"]);
  });
  it("ends with its agent", () => {
    const ended = [...lane().changes, { seq: 4, at: START + 20 * MINUTE, state: "ended", waitingFor: null, evidence: null }];
    expect(bandsOf(ended, WINDOW).map((band) => minutes(band.endsAt))).toEqual([1, 11, 20]);
  });
  it("is active if it is not only idle", () => {
    expect(isActive(lane(), WINDOW)).toBe(true);
    expect(isActive({ ...lane(), changes: lane().changes.slice(0, 1), commands: [] }, WINDOW)).toBe(false);
  });
  it("has items: a command wins over the state at its place", () => {
    const items = itemsOf(lane(), WINDOW);
    expect(items.map((item) => item.kind)).toEqual(["band", "band", "command", "band"]);
    expect(itemAt(items, START + 1.5 * MINUTE, MINUTE)?.kind).toBe("command");
    expect(itemAt(items, START + 5 * MINUTE, MINUTE)).toMatchObject({ kind: "band", band: { state: "working" } });
    expect(itemAt(items, START + 90 * MINUTE, MINUTE)).toBe(null);
  });
});

describe("narrow bands", () => {
  it("become one, with the most urgent state", () => {
    const bands = ["working", "waiting", "working", "idle"].map((state, index) => ({ seq: index, at: index, state, waitingFor: null, evidence: null, endsAt: index === 3 ? 100 : index + 1 }));
    const shown = visibleBands(bands, (time) => time, 10);
    expect(shown.map((band) => [band.state, band.at, band.endsAt])).toEqual([
      ["waiting", 0, 3],
      ["idle", 3, 100],
    ]);
    expect(visibleBands(bands, (time) => time * 100, 10)).toHaveLength(4);
  });
});

describe("the axis", () => {
  it("shortens times in which no agent works", () => {
    const segments = segmentsOf([lane()], WINDOW);
    expect(segments.map((each) => [minutes(each.startsAt), minutes(each.endsAt), each.isIdle])).toEqual([
      [0, 11, false],
      [11, 60, true],
    ]);
    const axis = axisOf(segments, 0.1);
    expect(axis.position(START + 11 * MINUTE)).toBeGreaterThan(0.85);
    expect(axis.shortened).toHaveLength(1);
    expect(axis.ticks.length).toBeGreaterThan(0);
  });
  it("shortens nothing without any work", () => {
    const axis = axisOf(segmentsOf([], WINDOW), 0.1);
    expect([axis.position(START + 30 * MINUTE), axis.shortened]).toEqual([0.5, []]);
  });
});

describe("the stream", () => {
  const at = "2026-03-01T12:30:00+00:00";
  const evidence = { source: "hook", confidence: "high", at, why: "done" };
  const changed = { type: "state_changed", id: 9, data: { agent_id: "a", state: "idle", waiting_for: null, evidence, changes: { state_since: at, subagents: [] } } };
  it("adds states, and ends sub-agents that it no longer names", () => {
    const after = afterEvent(lanesOf(reply()), changed, START + 31 * MINUTE)!.get("a")!;
    expect(after.changes.at(-1)).toMatchObject({ state: "idle", at: START + 30 * MINUTE, evidence: { why: "done" } });
    expect(minutes(after.subagents[0]!.endedAt!)).toBe(31);
    expect(afterEvent(new Map([["a", after]]), changed, START)!.get("a")!.changes).toHaveLength(4);
  });
  it("adds commands once", () => {
    const command = { started_at: "2026-03-01T12:20:00.500000+00:00", text: "Next", outcome: null };
    const event = { type: "agent_updated", id: 10, data: { agent_id: "a", changes: { command } } };
    const once = afterEvent(lanesOf(reply()), event, START)!;
    expect(afterEvent(once, event, START)!.get("a")!.commands.map((each) => each.text)).toEqual(["Fix it", "Next"]);
  });
  it("needs a request for an unknown agent only", () => {
    expect(afterEvent(lanesOf(reply()), { type: "agent_created", id: 1, data: { agent_id: "new" } }, START)).toBe(null);
    const lanes = lanesOf(reply());
    expect(afterEvent(lanes, { type: "turn_created", id: 1, data: { agent_id: "new" } }, START)).toBe(lanes);
  });
});

describe("the window", () => {
  const now = START + 600 * MINUTE;
  it("is a live range, or two times", () => {
    expect(windowOf(new URLSearchParams(""), now)).toEqual({ from: now - 360 * MINUTE, to: now, range: "6h", isLive: true });
    expect(windowOf(new URLSearchParams("range=24h"), now).range).toBe("24h");
    const address = addressOf(WINDOW, now);
    expect(windowOf(new URLSearchParams(address.split("?")[1]), now)).toEqual({ ...WINDOW, range: null, isLive: false });
    expect(addressOf({ from: now - 90 * MINUTE, to: now }, now)).toBe("/timeline?minutes=90");
    expect(windowOf(new URLSearchParams("minutes=90"), now)).toEqual({ from: now - 90 * MINUTE, to: now, range: null, isLive: true });
    expect(windowOf(new URLSearchParams("range=toString&since=2026-03-02&until=2026-03-01"), now).range).toBe("6h");
  });
  it("is zoomed around a time and moved, never beyond now", () => {
    expect(zoomed(WINDOW, 0.5, START + 30 * MINUTE, now)).toEqual({ from: START + 15 * MINUTE, to: START + 45 * MINUTE });
    expect(zoomed({ from: now - 60 * MINUTE, to: now }, 2, now - 30 * MINUTE, now)).toEqual({ from: now - 120 * MINUTE, to: now });
    expect(panned(WINDOW, -0.5, now)).toEqual({ from: START - 30 * MINUTE, to: START + 30 * MINUTE });
    expect(panned({ from: now - 60 * MINUTE, to: now }, 0.5, now)).toEqual({ from: now - 60 * MINUTE, to: now });
  });
});
