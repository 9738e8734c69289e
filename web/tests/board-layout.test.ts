// The layout of the board.
import { expect, test } from "vitest";
import { haveSameCounts, countByState, countText, hasSameLayout, matchesFilter, countByClient, countByProject, nextAgent, sections, visitsWith, type Visits } from "../src/lib/board-layout";
import type { Agent } from "../src/lib/types";
import { agent } from "./fixtures";

const everything = { text: "", project: null, state: null, client: null };
const names = (agents: Agent[]): string[] => agents.map((each) => each.name);

test("urgent states come first, the longest wait before the others", () => {
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

test("activity does not move a card", () => {
  const first = agent({ state: "working", last_active_at: "2026-01-01T12:00:00Z" });
  const second = agent({ state: "working", last_active_at: "2026-01-01T12:00:00Z" });
  const before = names(sections([first, second], "attention")[0]!.agents);
  const moreActive = { ...second, last_active_at: "2026-01-01T13:00:00Z" };
  expect(names(sections([first, moreActive], "attention")[0]!.agents)).toEqual(before);
});

test("grouped by project, the most urgent project comes first", () => {
  const idle = { id: "a", name: "alpha", root: "/a" };
  const urgent = { id: "z", name: "zeta", root: "/z" };
  const agents = [agent({ project: idle }), agent({ project: urgent, state: "waiting" }), agent({ project: urgent })];
  expect(sections(agents, "project").map((each) => each.title)).toEqual(["zeta", "alpha"]);
});

test("every word of the filter must occur on the card", () => {
  const one = agent({ name: "calm-otter", branch: "feat/auth", tool: { name: "Edit", summary: "/x/Login.py", since: "" }, state: "working" });
  const fits = (text: string): boolean => matchesFilter(one, { ...everything, text });
  expect([fits("otter"), fits("OTTER auth"), fits("editing login.py"), fits("otter main")]).toEqual([true, true, true, false]);
});

test("the filter can select a project, a state and a client", () => {
  const one = agent({ state: "working" });
  expect(matchesFilter(one, { ...everything, project: "p" })).toBe(true);
  expect(matchesFilter(one, { ...everything, project: "q" })).toBe(false);
  expect(matchesFilter(one, { ...everything, state: "idle" })).toBe(false);
  expect(matchesFilter(one, { ...everything, client: "claude-code" })).toBe(true);
  expect(matchesFilter(one, { ...everything, client: "codex" })).toBe(false);
});

test("ended agents are not counted in projects", () => {
  const agents = [agent({ state: "waiting" }), agent(), agent({ state: "ended" })];
  expect(countByProject(agents)).toEqual([{ id: "p", name: "app", agents: 2, waiting: 1 }]);
  expect(countByState(agents)).toMatchObject({ waiting: 1, idle: 1, ended: 1, working: 0 });
});

test("clients are counted without ended agents, but stay in the list", () => {
  const agents = [agent({ client: "codex" }), agent({ client: "codex", state: "ended" }), agent({ client: "gemini", state: "ended" }), agent()];
  expect(countByClient(agents)).toEqual([
    { name: "claude-code", agents: 1 },
    { name: "codex", agents: 1 },
    { name: "gemini", agents: 0 },
  ]);
});

test("the number of agents says the same with and without a filter", () => {
  const agents = [agent(), agent({ state: "working" }), agent({ state: "ended" })];
  expect(countText(agents, agents)).toBe("2 agents, 1 ended");
  expect(countText(agents.slice(0, 1), agents)).toBe("1 of 2 agents");
  expect(countText(agents.slice(2), agents)).toBe("0 of 2 agents, 1 ended");
  expect(countText([], [])).toBe("0 agents");
});

test("lists with the same counts are equal", () => {
  const agents = [agent({ state: "waiting" }), agent()];
  expect(haveSameCounts(countByProject(agents), countByProject(agents))).toBe(true);
  expect(haveSameCounts(countByProject(agents), countByProject([agents[0]!]))).toBe(false);
});

test("the next agent is a waiting one, then one with an unseen error, then one with unseen results", () => {
  const waiting = agent({ state: "waiting" });
  const stopped = agent({ state: "error", unseen: true });
  const done = agent({ unseen: true });
  expect(nextAgent([done, stopped, waiting])).toBe(waiting);
  expect(nextAgent([done, stopped])).toBe(stopped);
  expect(nextAgent([{ ...done, unseen: false }, { ...stopped, unseen: false }])).toBe(null);
  expect(nextAgent([waiting])).toBe(waiting);
});

test("next visits every agent once, then begins again", () => {
  const times = ["2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z", "2026-01-01T12:00:00Z"];
  const agents = times.map((state_since) => agent({ state: "waiting", state_since }));
  let visits: Visits = new Set();
  let shown: (typeof agents)[number] | null = null;
  const visited = [];
  for (let step = 0; step < 7; step += 1) {
    const next: (typeof agents)[number] = nextAgent(agents, visits, shown?.id)!;
    visits = visitsWith(visits, next, shown);
    visited.push(agents.indexOf(next));
    shown = next;
  }
  expect(visited).toEqual([0, 1, 2, 0, 1, 2, 0]);
  const asksAgain = { ...agents[0]!, state_since: "2026-01-01T13:00:00Z" };
  expect(nextAgent([agents[1]!, agents[2]!, asksAgain], visitsWith(visitsWith(new Set(), agents[1]!, null), agents[2]!, null), null)).toBe(asksAgain);
});

test("the layout depends on the state and the name, not on the activity", () => {
  const one = agent({ state: "working" });
  const tool = { name: "Bash", summary: "make", since: "" };
  expect(hasSameLayout(one, { ...one, tool, last_active_at: "2026-01-01T13:00:00Z", cost_usd: 1 })).toBe(true);
  expect(hasSameLayout(one, { ...one, state: "waiting" })).toBe(false);
  expect(hasSameLayout(one, { ...one, name: "other" })).toBe(false);
  expect(hasSameLayout(undefined, one)).toBe(false);
});
