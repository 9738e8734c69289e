// Which entries of the command palette match, and in which order.
import { expect, test } from "vitest";
import { matchScore, NO_MATCH, WEAK_MATCH } from "../src/lib/fuzzy";
import { agentEntries, entry, matchingEntries } from "../src/lib/palette";
import { agent } from "./fixtures";

const run = (): void => undefined;
const titles = (typed: string, ...names: string[]): string[] =>
  matchingEntries(names.map((title) => entry({ id: title, group: "Views", title, run })), typed).map((each) => each.title);

test("upper and lower case are the same", () => {
  expect(titles("SEA", "Board", "Search")).toEqual(["Search"]);
});

test("the start of the text is a better match than the start of a word, and that better than its middle", () => {
  expect(titles("note", "annotate", "Write a note", "notes")).toEqual(["notes", "Write a note"]);
  expect(matchScore("not", "notes")).toBeGreaterThan(matchScore("not", "a note"));
  expect(matchScore("not", "a note")).toBeGreaterThan(matchScore("not", "annotate"));
});

test("every word must match, in any order", () => {
  expect(titles("dark theme", "Theme: dark", "Theme: light")).toEqual(["Theme: dark"]);
});

test("scattered letters count only if nothing matches better", () => {
  expect(titles("stg", "Settings", "Board")).toEqual(["Settings"]);
  expect(titles("set", "Settings", "Search results")).toEqual(["Settings"]);
  expect(matchScore("stg", "Settings")).toBe(WEAK_MATCH);
  expect(matchScore("xyz", "Settings")).toBe(NO_MATCH);
});

test("agents that need the user come first, also before better matches", () => {
  const agents = [
    agent({ name: "able-ant", state: "idle" }),
    agent({ name: "calm-ant", state: "waiting" }),
    agent({ name: "dull-ant", state: "idle", unseen: true }),
    agent({ name: "ant", state: "working" }),
  ];
  const entries = agentEntries(agents, run);
  expect(entries.map((each) => each.title)).toEqual(["calm-ant", "dull-ant", "ant", "able-ant"]);
  expect(matchingEntries(entries, "ant").map((each) => each.title)).toEqual(["calm-ant", "dull-ant", "ant", "able-ant"]);
});

test("agents are found by project and branch, but not by letters scattered over them", () => {
  const entries = agentEntries([agent({ name: "calm-ant", project: { id: "p", name: "webshop", root: "/w" }, branch: "login" })], run);
  expect(matchingEntries(entries, "webs log")).toHaveLength(1);
  expect(matchingEntries(entries, "wlg")).toHaveLength(0);
});

test("a group with a better match comes first, and a title counts more than a detail", () => {
  const agents = agentEntries([agent({ name: "calm-ant", project: { id: "p", name: "interrupts", root: "/w" } })], run);
  const action = entry({ id: "i", group: "Actions", title: "Interrupt", run });
  expect(matchingEntries([...agents, action], "interrupt").map((each) => each.title)).toEqual(["Interrupt", "calm-ant"]);
});

test("before something is typed, few agents are shown, and all actions", () => {
  const agents = agentEntries(Array.from({ length: 30 }, () => agent()), run);
  const actions = Array.from({ length: 12 }, (_, index) => entry({ id: `${index}`, group: "Actions", title: `Action ${index}`, run }));
  const shown = matchingEntries([...agents, ...actions], "");
  expect(shown.filter((each) => each.group === "Agents")).toHaveLength(6);
  expect(shown.filter((each) => each.group === "Actions")).toHaveLength(12);
});
