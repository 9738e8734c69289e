// What can be done with an agent, and the reasons why not.
import { expect, test } from "vitest";
import { agentActions, stopText } from "../src/lib/agent-actions";
import type { Agent } from "../src/lib/types";

const agent = (more: Partial<Agent>): Agent => ({ name: "otter", state: "idle", session_id: "s", worktree: null, crashed: false, archived: false, tmux: { session: "otter", pane: "%1" }, ...more }) as Agent;
const refusals = (given: Agent): Record<string, string> => Object.fromEntries(agentActions(given, () => "").map(({ title, refusal }) => [title, refusal]));

test("a running agent can be stopped, and not be archived", () => {
  const found = refusals(agent({}));
  expect(Object.keys(found)).toEqual(["Stop", "Fork", "Rename", "Note", "Worktree", "Archive"]);
  expect(found.Archive).toContain("Stop it first");
  expect(found.Worktree).toContain("does not work in a git worktree");
});

test("an ended agent can be resumed; after a crash this is a restart, and without a session impossible", () => {
  expect(refusals(agent({ state: "ended" })).Resume).toBe("");
  expect(refusals(agent({ state: "ended", crashed: true })).Restart).toBe("");
  expect(refusals(agent({ state: "ended", session_id: null })).Resume).toContain("never started a session");
});

test("what the client cannot do is said", () => {
  const found = agentActions(agent({}), (capability) => (capability === "fork" ? "Gemini CLI cannot do that." : ""));
  expect(found.find((each) => each.name === "fork")?.refusal).toBe("Gemini CLI cannot do that.");
});

test("the question says what stopping does", () => {
  expect(stopText(agent({ state: "working" }))).toMatch(/^Its turn is interrupted/);
  expect(stopText(agent({ tmux: { session: null, pane: null } as unknown as Agent["tmux"] }))).toContain("does not run in tmux");
});
