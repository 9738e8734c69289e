// What was chosen and typed, as the API takes it.
import { describe, expect, it } from "vitest";
import { answers, beginning, choices, content } from "../src/lib/answers";
import type { Field, Question, Wait } from "../src/lib/types";

const one: Question = { text: "Which colour?", options: [{ label: "Red" }] };
const several: Question = { text: "Which rooms?", options: [{ label: "Hall" }], several: true };

function wait(parts: Partial<Wait>): Wait {
  const empty = { id: "w", agent_id: "a", text: "", questions: [], tool: null, summary: "", subagent_id: null, suggestions: [] };
  const open = { opened_at: "", held_until: null, answered: null, closed_at: null, resolution: null };
  return { kind: "permission", ...empty, ...open, ...parts };
}

describe("choices", () => {
  it("offers always where the client suggests rules", () => {
    expect(choices(wait({})).map((each) => each.title)).toEqual(["Allow", "Deny"]);
    expect(choices(wait({ suggestions: [{}] })).map((each) => each.title)).toEqual(["Allow", "Deny", "Always allow"]);
  });
  it("has none for what only the terminal takes", () => {
    expect(choices(wait({ kind: "dialog" }))).toEqual([]);
  });
});

describe("answers", () => {
  it("takes own words instead of one choice, and beside several", () => {
    const chosen = { "Which colour?": ["Red"], "Which rooms?": ["Hall"] };
    expect(answers([one, several], chosen, {})).toEqual({ answers: { "Which colour?": "Red", "Which rooms?": ["Hall"] } });
    expect(answers([one, several], chosen, { "Which colour?": " grey ", "Which rooms?": "cellar" })).toEqual({
      answers: { "Which colour?": "grey", "Which rooms?": ["Hall", "cellar"] },
    });
  });
});

describe("forms", () => {
  const form: Field[] = [
    { name: "board", kind: "integer", default: 7 },
    { name: "mail", kind: "text" },
    { name: "urgent", kind: "boolean" },
    { name: "tags", kind: "choices" },
  ];
  it("begin with what the server suggests", () => {
    expect(beginning(form)).toEqual({ board: 7, mail: "", urgent: false, tags: [] });
  });
  it("leave out what was left empty", () => {
    expect(content(form, { board: 0, mail: "", urgent: false, tags: [] })).toEqual({ board: 0, urgent: false });
  });
});
