// Unified diffs as files, hunks, lines and rows.
import { expect, test } from "vitest";
import { countLines, diffRows, parseDiff } from "../src/lib/diff";

const TWO_FILES = `diff --git a/src/a.py b/src/a.py
index 1111111..2222222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -10,4 +10,5 @@ def run():
 one
-two
+TWO
+2
 three
 four
@@ -40 +41 @@
-old
+new
\\ No newline at end of file
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-x
--- y
`;

test("files, hunks and line numbers", () => {
  const [first, second] = parseDiff(TWO_FILES);
  expect(first!.path).toBe("src/a.py");
  expect(first!.notes).toEqual([]);
  expect(first!.hunks.map((hunk) => hunk.lines.map(({ kind, before, after }) => [kind, before, after]))).toEqual([
    [["context", 10, 10], ["removed", 11, null], ["added", null, 11], ["added", null, 12], ["context", 12, 13], ["context", 13, 14]],
    [["removed", 40, null], ["added", null, 41]],
  ]);
  expect(first!.hunks[1]!.lines.map((line) => line.endsWithoutBreak ?? false)).toEqual([false, true]);
  expect(second).toMatchObject({ path: "gone.txt", notes: ["deleted file mode 100644"] });
});

test("a removed line that starts with dashes is not a file header", () => {
  const [, second] = parseDiff(TWO_FILES);
  expect(second!.hunks[0]!.lines.map((line) => line.text)).toEqual(["x", "-- y"]);
  expect(parseDiff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- y\n+++ z\n")).toHaveLength(1);
});

test("files without `diff --git` lines are separate files", () => {
  const text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n";
  expect(parseDiff(text).map((file) => file.path)).toEqual(["x", "y"]);
});

test("comments, renames and binary files are notes", () => {
  expect(parseDiff("# file not readable: no permission\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n")[0]).toMatchObject({
    path: "x",
    notes: ["# file not readable: no permission"],
  });
  const renamed = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n";
  expect(parseDiff(renamed)).toEqual([{ path: "y", notes: ["similarity index 100%", "rename from x", "rename to y"], hunks: [] }]);
  const binary = "diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n";
  expect(parseDiff(renamed + binary)[1]).toEqual({ path: "i.png", notes: ["Binary files a/i.png and b/i.png differ"], hunks: [] });
});

test("a truncated hunk keeps its lines, and nothing is no file", () => {
  expect(parseDiff("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n one\n-two")[0]!.hunks[0]!.lines).toHaveLength(2);
  expect(parseDiff("")).toEqual([]);
});

test("side by side, removed lines are beside the added ones", () => {
  const file = parseDiff(TWO_FILES)[0]!;
  const texts = diffRows(file, "split").map((row) => (row.kind === "pair" ? [row.left?.text ?? null, row.right?.text ?? null] : row.kind));
  expect(texts).toEqual(["hunk", ["one", "one"], ["two", "TWO"], [null, "2"], ["three", "three"], ["four", "four"], "hunk", ["old", "new"]]);
  expect(diffRows(file, "unified").map((row) => row.kind)).toEqual(["hunk", ...Array(6).fill("line"), "hunk", "line", "line"]);
});

test("added and removed lines are counted", () => {
  expect(countLines(parseDiff(TWO_FILES)[0]!.hunks)).toEqual({ added: 3, removed: 2 });
});

test("CRLF line ends are not part of the text, a changed line end is", () => {
  const textsOf = (diff: string): string[] => parseDiff(diff)[0]!.hunks[0]!.lines.map((line) => line.text);
  expect(textsOf("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\r\n-1\r\n+2\r\n")).toEqual(["one", "1", "2"]);
  expect(textsOf("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+1\r\n")).toEqual(["1", "1\r"]);
});
