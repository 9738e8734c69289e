// The form for a new agent: projects, clients, and what is sent.
import { expect, test } from "vitest";
import { firstClient, formProblem, missionBody, startingBody, type LaunchForm } from "../src/lib/launch";
import type { ClientOffer, LaunchOffers } from "../src/lib/types";

const client = (name: string, more: Partial<ClientOffer> = {}): ClientOffer => ({ name, title: name, problem: "", hint: "", mission_problem: "", permission_modes: [], models: [], ...more });
const OFFERS: LaunchOffers = {
  host: "laptop",
  problem: "",
  hint: "",
  clients: [client("missing", { problem: "The program was not found.", hint: "Install it." }), client("one"), client("two", { mission_problem: "It runs no missions." })],
  projects: [],
};
const FORM: LaunchForm = {
  what: "agent",
  directory: "/shop",
  client: "one",
  prompt: "Fix it",
  model: " opus ",
  permissionMode: "plan",
  name: "",
  inWorktree: false,
  worktree: "",
  base: "",
  inBackground: false,
  reportsTo: "",
};

test("the wanted client is chosen if it can be started, otherwise the first one that can", () => {
  expect([firstClient(OFFERS, "two"), firstClient(OFFERS, "missing"), firstClient(OFFERS, null)]).toEqual(["two", "one", "one"]);
});

test("a form says why it cannot be sent", () => {
  const place = { directory: "/shop", problem: "There is no directory /shop.", hint: "Did you mean shops?", worktree_problem: "", branch: null, branches: [], uncommitted: 0 };
  expect(formProblem(FORM, OFFERS, null)).toBe("");
  expect(formProblem(FORM, OFFERS, place)).toBe("There is no directory /shop. Did you mean shops?");
  expect(formProblem({ ...FORM, directory: " " }, OFFERS, null)).toContain("Choose a project");
  expect(formProblem({ ...FORM, client: "missing" }, OFFERS, null)).toBe("The program was not found. Install it.");
  expect(formProblem({ ...FORM, client: "two", what: "mission" }, OFFERS, null)).toBe("It runs no missions.");
  expect(formProblem({ ...FORM, prompt: " ", what: "mission" }, OFFERS, null)).toBe("A mission needs a goal.");
  expect(formProblem(FORM, { ...OFFERS, problem: "tmux is not installed.", hint: "Install it." }, null)).toBe("tmux is not installed. Install it.");
});

test("an agent without a worktree names none; an empty branch is a generated one", () => {
  expect(startingBody(FORM)).toEqual({ directory: "/shop", client: "one", name: "", prompt: "Fix it", model: "opus", permission_mode: "plan" });
  expect(startingBody({ ...FORM, inWorktree: true })).toMatchObject({ worktree: "", base: null });
});

test("a mission is started, in the background if wanted", () => {
  expect(missionBody({ ...FORM, inBackground: true })).toMatchObject({ goal: "Fix it", cwd: "/shop", mode: "background", start: true, conversation: null });
});
