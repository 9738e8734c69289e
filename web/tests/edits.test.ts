// Edits of tool calls as diffs.
import { expect, test } from "vitest";
import type { FileDiff } from "../src/lib/diff";
import { editDiff } from "../src/lib/edits";

const SIGNS = { added: "+", removed: "-", context: " " };
const shown = (edit: FileDiff | null): string[] | undefined =>
  edit?.hunks.flatMap((hunk) => hunk.lines.map((line) => `${SIGNS[line.kind]}${line.before ?? ""}:${line.after ?? ""} ${line.text}`));

test("the patch of the result has line numbers", () => {
  const patch = { oldStart: 7, oldLines: 2, newStart: 7, newLines: 2, lines: [" a", "-b", "+c", "\\ No newline at end of file"] };
  const edit = editDiff({ input: { file_path: "/x.py", old_string: "b", new_string: "c" }, result: { structuredPatch: [patch] } });
  expect(edit).toMatchObject({ path: "/x.py", hunks: [{ header: "@@ -7,2 +7,2 @@" }] });
  expect(shown(edit)).toEqual([" 7:7 a", "-8: b", "+:8 c"]);
});

test("without a result, old and new text are compared", () => {
  const input = { file_path: "/x.py", old_string: "a\nb\nc\nd\n", new_string: "a\nc\nx\nd\n", replace_all: true };
  const edit = editDiff({ input, result: null });
  expect(shown(edit)).toEqual([" : a", "-: b", " : c", "+: x", " : d"]);
  expect(edit!.notes).toEqual(["Replaces every occurrence."]);
});

test("several edits, a whole file, a cell", () => {
  const edits = [{ old_string: "a", new_string: "b" }, { old_string: "c", new_string: "d" }];
  expect(editDiff({ input: { file_path: "x", edits }, result: null })!.hunks.map((hunk) => hunk.header)).toEqual(["Edit 1 of 2", "Edit 2 of 2"]);
  expect(shown(editDiff({ input: { file_path: "x", content: "a\nb\n" }, result: { structuredPatch: [] } }))).toEqual(["+:1 a", "+:2 b"]);
  expect(editDiff({ input: { notebook_path: "x", cell_id: "c1", new_source: "a" }, result: null })).toMatchObject({ notes: ["Cell c1"] });
});

test("other calls are not edits, whatever their input is", () => {
  for (const input of [null, "text", [], {}, { file_path: "x" }, { file_path: 3, content: "x" }, { content: "x" }]) {
    expect(editDiff({ input, result: { structuredPatch: "no" } })).toBeNull();
  }
});
