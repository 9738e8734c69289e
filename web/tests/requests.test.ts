// The parts of a request.
import { describe, expect, it } from "vitest";
import { argumentText, editableInput, hiddenCharactersText, requestParts } from "../src/lib/requests";
import type { WaitDetails } from "../src/lib/types";

function request(parts: Partial<WaitDetails["request"]>, kind = "permission"): Pick<WaitDetails, "kind" | "tool" | "questions" | "request"> {
  return { kind, tool: "mcp__chat__list", questions: [], request: { text: "", diff: "", path: "", paths: [], arguments: {}, complete: true, left_out: 0, ...parts } };
}
const NOTHING = { title: "", diff: "", markdown: "", verbatim: "", arguments: [] };

describe("requestParts", () => {
  it("shows a command as it is, with its other arguments", () => {
    const command = "make \\\n  deploy && git push --force";
    const parts = requestParts(request({ text: command, arguments: { command, timeout: 5 } }));
    expect(parts).toEqual({ ...NOTHING, verbatim: command, arguments: [["timeout", 5]] });
  });
  it("shows a change of a file as a diff", () => {
    const parts = requestParts(request({ text: "Edit app.py", diff: "@@ -1 +1 @@", arguments: { file_path: "app.py" } }));
    expect(parts).toEqual({ ...NOTHING, title: "Edit app.py", diff: "@@ -1 +1 @@" });
  });
  it("shows the arguments of other tools by name", () => {
    const parts = requestParts(request({ text: "channel: #ops\nurgent: true", arguments: { channel: "#ops", urgent: true } }));
    expect(parts).toEqual({ ...NOTHING, arguments: [["channel", "#ops"], ["urgent", true]] });
  });
  it("shows a plan as Markdown, and a request without arguments as text", () => {
    expect(requestParts(request({ text: "1. Read" }, "plan")).markdown).toBe("1. Read");
    expect(requestParts(request({ text: "Open a window" })).verbatim).toBe("Open a window");
  });
  it("does not repeat the name of a tool without arguments", () => {
    expect(requestParts(request({ text: "mcp__chat__list" })).verbatim).toBe("(no arguments)");
  });
  it("leaves questions to the form", () => {
    expect(requestParts({ ...request({ text: "Which?" }, "question"), questions: [{ text: "Which?" }] })).toEqual(NOTHING);
  });
});

describe("editableInput", () => {
  it("is the input of this very call", () => {
    expect(JSON.parse(editableInput(request({ arguments: { command: "make \u200b" } })))).toEqual({ command: "make \u200b" });
  });
  it.each([
    ["not known", { arguments: {} }],
    ["left out", { arguments: { command: "make" }, complete: false }],
    ["redacted", { arguments: { headers: { token: "[redacted]" } } }],
  ])("refuses an input that is %s", (_, parts) => {
    expect(() => editableInput(request(parts))).toThrow();
  });
});

it("shows texts as they are and other values as JSON", () => {
  expect([argumentText("a\nb"), argumentText({ deep: [1] }), argumentText(null)]).toEqual(["a\nb", '{\n  "deep": [\n    1\n  ]\n}', "null"]);
});

it("counts hidden characters by kind", () => {
  const override = { at: 1, code: "U+202E", name: "RIGHT-TO-LEFT OVERRIDE" };
  const found = [override, { at: 3, code: "U+200B", name: "ZERO WIDTH SPACE" }, { ...override, at: 9 }];
  expect(hiddenCharactersText(found)).toBe("U+202E RIGHT-TO-LEFT OVERRIDE (2 times), U+200B ZERO WIDTH SPACE");
});
