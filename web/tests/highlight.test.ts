// Languages of files, and highlighted HTML as tokens.
import core from "highlight.js/lib/core";
import python from "highlight.js/lib/languages/python";
import { expect, test } from "vitest";
import { languageOf, tokenLines } from "../src/lib/highlight";

test("the language is that of the file's ending", () => {
  expect(["src/app.py", "Makefile", "a/b.test.ts", "README", "x.PY", ".sh/notes"].map(languageOf)).toEqual(["python", "makefile", "typescript", null, "python", null]);
});

test("tokens are the text with kinds, line by line", () => {
  core.registerLanguage("python", python);
  const text = `def run(x):\n    """Two <b>\n    lines & "quotes"."""\n    return 'a' < 1\n`;
  const lines = tokenLines(core.highlight(text, { language: "python" }).value);
  expect(lines.map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(text);
  expect(lines[0]!.map(({ text, kind }) => [text, kind])).toContainEqual(["run", "name"]);
  expect(lines[2]).toEqual([{ text: `    lines & "quotes"."""`, kind: "string" }]);
  expect(lines[3]!.map((token) => token.kind)).toEqual([null, "keyword", null, "string", null, "string"]);
});
