// Screens of terminals as styled text.
import { describe, expect, test } from "vitest";
import { paletteColour, styledParts, styleOf, usedLines } from "../src/lib/terminal";

describe("styles", () => {
  test("the 16 colours are classes, which the view colours for its background", () => {
    expect(styleOf("1;31;44").flags).toEqual(["bold", "text-1", "ground-4"]);
    expect(styleOf("97;103").flags).toEqual(["text-15", "ground-11"]);
    expect(styleOf("38;5;9").flags).toEqual(["text-9"]);
  });

  test("colours of 256 and true colours are values", () => {
    expect(styleOf("38;5;208").colour).toBe("rgb(255 135 0)");
    expect(styleOf("48;2;1;2;300")).toEqual({ flags: [], colour: undefined, background: "rgb(1 2 255)" });
    expect([paletteColour(16), paletteColour(231), paletteColour(232), paletteColour(255)]).toEqual(["rgb(0 0 0)", "rgb(255 255 255)", "rgb(8 8 8)", "rgb(238 238 238)"]);
  });

  test("unknown codes change nothing", () => {
    expect(styleOf("")).toEqual({ flags: [], colour: undefined, background: undefined });
    expect(styleOf("58;5;1;99").colour).toBeUndefined();
  });
});

describe("the cursor", () => {
  const texts = (line: Parameters<typeof styledParts>[0], column: number): [string, string][] =>
    styledParts(line, column).map((part) => [part.text, part.classes]);

  test("is on one character, also on a wide one, and behind the end of the line", () => {
    expect(texts([{ text: "abc", style: "31" }], 1)).toEqual([
      ["a", "text-1"],
      ["b", "text-1 cursor"],
      ["c", "text-1"],
    ]);
    expect(texts([{ text: "a" }, { text: "日", wide: true }], 2)).toEqual([
      ["a", ""],
      ["日", "cursor wide"],
    ]);
    expect(texts([{ text: "a" }], 3)).toEqual([
      ["a", ""],
      ["  ", ""],
      [" ", "cursor"],
    ]);
  });
});

test("empty lines at the end are not shown, except up to the cursor", () => {
  const lines = [[{ text: "a" }], [], [{ text: "  " }]];
  expect([usedLines(lines, null), usedLines(lines, 1), usedLines([[{ text: " ", style: "7" }]], null)]).toEqual([1, 2, 1]);
});
