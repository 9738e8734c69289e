// The clients that the page knows: titles, and the sentence for what a client cannot do.
import { beforeEach, expect, test } from "vitest";
import { clients } from "../src/lib/clients.svelte";

beforeEach(() => {
  const cannot = { name: "edit_input", title: "change the input of a call", supported: false, text: "Codex applies a call as it is." };
  const can = { name: "send", title: "send a prompt", supported: true, text: "Typed into its terminal." };
  clients.all = [{ name: "codex", title: "Codex", short_title: "codex", program: "codex", tested_versions: ["0.166.0"], capabilities: [cannot, can] }];
});

test("a client has a title and a short one; an unknown client keeps its name", () => {
  expect([clients.title("codex"), clients.shortTitle("codex")]).toEqual(["Codex", "codex"]);
  expect([clients.title("newcomer"), clients.shortTitle("newcomer")]).toEqual(["newcomer", "newcomer"]);
});

test("only what a client cannot do has a sentence", () => {
  expect(clients.limit({ client: "codex" }, "edit_input")).toBe("Codex applies a call as it is.");
  expect(clients.limit({ client: "codex" }, "send")).toBe("");
  expect(clients.limit({ client: "newcomer" }, "edit_input")).toBe("");
  expect(clients.limits("codex")).toEqual(["Codex applies a call as it is."]);
});
