// What stands where on the board.
import { expect, test } from "vitest";
import { areSame, counts, isPlacedAlike, matches, projects, recommended, sections } from "../src/lib/arrange";
import type { Agent } from "../src/lib/types";
import { agent } from "./make";

const everything = { text: "", project: null, state: null };
const names = (agents: Agent[]): string[] => agents.map((each) => each.name);

test("those who need somebody come first, whoever waits longest before the others", () => {
  const agents = [
    agent({ name: "idle" }),
    agent({ name: "new wait", state: "waiting", state_since: "2026-01-01T12:05:00Z" }),
    agent({ name: "works", state: "working" }),
    agent({ name: "old wait", state: "waiting", state_since: "2026-01-01T12:01:00Z" }),
    agent({ name: "failed", state: "error" }),
  ];
  const found = sections(agents, "attention");
  expect(found.map((each) => each.key)).toEqual(["waiting", "error", "working", "idle"]);
  expect(names(found.flatMap((each) => each.agents))).toEqual(["old wait", "new wait", "failed", "works", "idle"]);
});

test("a sign of life moves no card", () => {
  const first = agent({ state: "working", last_active_at: "2026-01-01T12:00:00Z" });
  const second = agent({ state: "working", last_active_at: "2026-01-01T12:00:00Z" });
  const before = names(sections([first, second], "attention")[0]!.agents);
  const livelier = { ...second, last_active_at: "2026-01-01T13:00:00Z" };
  expect(names(sections([first, livelier], "attention")[0]!.agents)).toEqual(before);
});

test("by project, the one that needs somebody comes first", () => {
  const quiet = { id: "a", name: "alpha", root: "/a" };
  const loud = { id: "z", name: "zeta", root: "/z" };
  const agents = [agent({ project: quiet }), agent({ project: loud, state: "waiting" }), agent({ project: loud })];
  expect(sections(agents, "project").map((each) => each.title)).toEqual(["zeta", "alpha"]);
});

test("every word that is typed must be found, in whatever the card shows", () => {
  const one = agent({ name: "calm-otter", branch: "feat/auth", tool: { name: "Edit", summary: "/x/Login.py", since: "" }, state: "working" });
  const fits = (text: string): boolean => matches(one, { ...everything, text });
  expect([fits("otter"), fits("OTTER auth"), fits("editing login.py"), fits("otter main")]).toEqual([true, true, true, false]);
});

test("project and state narrow the board", () => {
  const one = agent({ state: "working" });
  expect(matches(one, { ...everything, project: "p" })).toBe(true);
  expect(matches(one, { ...everything, project: "q" })).toBe(false);
  expect(matches(one, { ...everything, state: "idle" })).toBe(false);
});

test("projects are counted without the ended", () => {
  const agents = [agent({ state: "waiting" }), agent(), agent({ state: "ended" })];
  expect(projects(agents)).toEqual([{ id: "p", name: "app", agents: 2, waiting: 1 }]);
  expect(counts(agents)).toMatchObject({ waiting: 1, idle: 1, ended: 1, working: 0 });
});

test("a list of projects that says the same is the same", () => {
  const agents = [agent({ state: "waiting" }), agent()];
  expect(areSame(projects(agents), projects(agents))).toBe(true);
  expect(areSame(projects(agents), projects([agents[0]!]))).toBe(false);
});

test("next is who waits, then who stopped or finished unseen, then nobody", () => {
  const waits = agent({ state: "waiting" });
  const stopped = agent({ state: "error", unseen: true });
  const done = agent({ unseen: true });
  expect(recommended([done, stopped, waits])).toBe(waits);
  expect(recommended([done, stopped])).toBe(stopped);
  expect(recommended([{ ...done, unseen: false }, { ...stopped, unseen: false }])).toBe(null);
  expect(recommended([waits])).toBe(waits);
});

test("what an agent does moves no card; what it is, does", () => {
  const one = agent({ state: "working" });
  const tool = { name: "Bash", summary: "make", since: "" };
  expect(isPlacedAlike(one, { ...one, tool, last_active_at: "2026-01-01T13:00:00Z", cost_usd: 1 })).toBe(true);
  expect(isPlacedAlike(one, { ...one, state: "waiting" })).toBe(false);
  expect(isPlacedAlike(one, { ...one, name: "other" })).toBe(false);
  expect(isPlacedAlike(undefined, one)).toBe(false);
});
