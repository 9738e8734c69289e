// Languages of files, and highlighted HTML as tokens.
import core from "highlight.js/lib/core";
import python from "highlight.js/lib/languages/python";
import { expect, test } from "vitest";
import { codeParts } from "../src/lib/code-parts";
import { languageOf, tokenLines, type Token } from "../src/lib/highlight";

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

test("a hidden character in a token is a part of its own", () => {
  const tokens: Token[] = [{ text: "return ", kind: "keyword" }, { text: "'a\u202eb'", kind: "string" }];
  expect(codeParts("return 'a\u202eb'", tokens)).toEqual([
    { text: "return ", kind: "keyword" },
    { text: "'a", kind: "string" },
    { text: "⟦U+202E⟧", kind: "mark" },
    { text: "b'", kind: "string" },
  ]);
  expect(codeParts("plain", null)).toEqual([{ text: "plain", kind: null }]);
});
