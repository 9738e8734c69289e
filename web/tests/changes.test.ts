// The changes of an agent as rows.
import { expect, test } from "vitest";
import { changeRows, fileAt, fileRows, fileStarts, lastNumber, longestLine, splitPath } from "../src/lib/changes";
import type { ChangedFile } from "../src/lib/types";

const file = (path: string, diff: string, parts: Partial<ChangedFile> = {}): ChangedFile => ({
  path, diff, status: "modified", added: 0, removed: 0, source: "tool", command_ids: [], complete: true, left_out: 0, old_path: null, ...parts,
});
const ONE = file("src/a.py", "--- a/src/a.py\n+++ b/src/a.py\n@@ -99,2 +99,2 @@\n-old\n+new\n same\n");
const TWO = file("b.png", "", { complete: false });

test("every file has a heading, its rows, and a gap", () => {
  const parts = [ONE, TWO].map((each) => fileRows(each, "unified"));
  const rows = changeRows(parts, new Set());
  expect(rows.map((row) => row.kind)).toEqual(["file", "diff", "diff", "diff", "diff", "gap", "file", "diff", "truncated", "gap"]);
  expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
  expect(changeRows(parts, new Set(["src/a.py"])).map((row) => row.kind)).toEqual(["file", "gap", "file", "diff", "truncated", "gap"]);
});

test("a file without lines says so", () => {
  expect(fileRows(TWO, "split").rows).toEqual([{ kind: "note", text: "No lines to show." }]);
});

test("the file at a position", () => {
  const starts = fileStarts(changeRows([ONE, TWO].map((each) => fileRows(each, "unified")), new Set()));
  expect(starts.map((start) => start.top)).toEqual([0, 36 + 4 * 20 + 12]);
  expect([0, 127, 128, 9_999].map((top) => fileAt(starts, top)?.file.path)).toEqual(["src/a.py", "src/a.py", "b.png", "b.png"]);
  expect(fileAt([], 0)).toBeNull();
});

test("the width of the longest line and of the largest number", () => {
  const wide = file("x", `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-\t\tx\n+${"日".repeat(30)}\n`);
  expect(longestLine([fileRows(wide, "unified")], 1_000)).toBe(60);
  expect(longestLine([fileRows(wide, "split")], 10)).toBe(20);
  expect(lastNumber([fileRows(ONE, "unified")])).toBe(100);
  expect(lastNumber([fileRows(ONE, "split"), fileRows(TWO, "split")])).toBe(100);
});

test("a path has directories and a name", () => {
  expect(["a/b/c.py", "c.py"].map(splitPath)).toEqual([["a/b/", "c.py"], ["", "c.py"]]);
});
