// The waits that a view shows stay in place.
import { describe, expect, it } from "vitest";
import { keepWaits, nextWait, openWaits, type OpenWait } from "../src/lib/kept-waits";
import type { Wait } from "../src/lib/types";
import { agent } from "./fixtures";

function waiting(id: string, parts: Partial<Wait> = {}): OpenWait {
  const wait = { id, opened_at: "2026-01-01T12:00:00Z", held_until: "2026-01-01T13:00:00Z", answered: null, ...parts } as Wait;
  return { agent: agent({ waits: [wait] }), wait, since: wait.opened_at };
}

const ids = (waits: { wait: Wait }[]): string[] => waits.map(({ wait }) => wait.id);

describe("keepWaits", () => {
  it("keeps the place of a wait that ended, and adds new ones at the end", () => {
    const [first, second, third] = [waiting("first"), waiting("second"), waiting("third")];
    const before = keepWaits([], [first, second]);
    const after = keepWaits(before, [third, second]);
    expect(after.map(({ wait, isOpen }) => [wait.id, isOpen])).toEqual([
      ["first", false],
      ["second", true],
      ["third", true],
    ]);
  });
});

it("lists the longest wait first", () => {
  const agents = [waiting("new", { opened_at: "2026-01-01T12:05:00Z" }), waiting("old")].map((each) => each.agent);
  expect(ids(openWaits(agents))).toEqual(["old", "new"]);
});

it("measures the first wait of a waiting agent like its card on the board", () => {
  const [first, second] = [waiting("first", { opened_at: "2026-01-01T12:05:00Z" }).wait, waiting("second", { opened_at: "2026-01-01T12:06:00Z" }).wait];
  const early = agent({ state: "waiting", state_since: "2026-01-01T11:00:00Z", waits: [second, first] });
  const late = agent({ state: "waiting", state_since: "2026-01-01T12:00:00Z", waits: [waiting("other").wait] });
  expect(openWaits([late, early]).map(({ wait, since }) => [wait.id, since])).toEqual([
    ["first", "2026-01-01T11:00:00Z"],
    ["other", "2026-01-01T12:00:00Z"],
    ["second", "2026-01-01T12:06:00Z"],
  ]);
});

describe("nextWait", () => {
  it("prefers a wait that can be answered here", () => {
    const open = [waiting("answered now"), waiting("terminal", { held_until: null }), waiting("here")];
    expect(nextWait(open, "answered now")?.wait.id).toBe("here");
    expect(nextWait(open.slice(0, 2), "answered now")?.wait.id).toBe("terminal");
    expect(nextWait(open.slice(0, 1), "answered now")).toBeNull();
  });
});
