// Building answers to waits.
import { describe, expect, it } from "vitest";
import { answerChoices, formContent, initialFormValues, isAllowing, questionsAnswer } from "../src/lib/answers";
import type { Answer, FormField, Question, Wait } from "../src/lib/types";

const one: Question = { text: "Which colour?", options: [{ label: "Red" }] };
const several: Question = { text: "Which rooms?", options: [{ label: "Hall" }], several: true };

function wait(parts: Partial<Wait>): Wait {
  const empty = { id: "w", agent_id: "a", text: "", questions: [], form: [], tool: null, summary: "", subagent_id: null, suggestions: [] };
  const open = { opened_at: "", held_until: null, answered: null, undelivered: null, obstacle: "", closed_at: null, resolution: null };
  return { kind: "permission", ...empty, ...open, ...parts };
}

describe("answerChoices", () => {
  it("has no button that grants more than the request", () => {
    expect(answerChoices(wait({})).map((each) => each.title)).toEqual(["Allow", "Deny"]);
  });
  it("declines with the same key everywhere", () => {
    for (const kind of ["permission", "plan", "question", "elicitation"]) expect(answerChoices(wait({ kind })).some(({ key }) => key === "d")).toBe(true);
  });
  it("is empty if only the terminal can answer", () => {
    expect(answerChoices(wait({ kind: "dialog" }))).toEqual([]);
  });
});

describe("isAllowing", () => {
  it("is true for every answer that lets the agent continue with what it asked for", () => {
    expect([{ decision: "allow" }, { action: "accept" }, { answers: {} }].map((each) => isAllowing(each as Answer))).toEqual([true, true, true]);
    expect([{ decision: "deny" }, { action: "decline" }, { action: "cancel" }].map((each) => isAllowing(each as Answer))).toEqual([false, false, false]);
  });
});

describe("questionsAnswer", () => {
  it("uses a typed answer instead of one option, and in addition to several", () => {
    const chosen = { "Which colour?": ["Red"], "Which rooms?": ["Hall"] };
    expect(questionsAnswer([one, several], chosen, {})).toEqual({ answers: { "Which colour?": "Red", "Which rooms?": ["Hall"] } });
    expect(questionsAnswer([one, several], chosen, { "Which colour?": " grey ", "Which rooms?": "cellar" })).toEqual({
      answers: { "Which colour?": "grey", "Which rooms?": ["Hall", "cellar"] },
    });
  });
});

describe("forms", () => {
  const form: FormField[] = [
    { name: "board", kind: "integer", default: 7 },
    { name: "mail", kind: "text" },
    { name: "urgent", kind: "boolean" },
    { name: "tags", kind: "choices" },
  ];
  it("start with the defaults of the server", () => {
    expect(initialFormValues(form)).toEqual({ board: 7, mail: "", urgent: false, tags: [] });
  });
  it("leave out empty fields", () => {
    expect(formContent(form, { board: 0, mail: "", urgent: false, tags: [] })).toEqual({ board: 0, urgent: false });
  });
});
