// Edits of files in tool calls, as diffs. Pure. An edit is recognised by the fields of its input. The patch in its result
// has line numbers; without it, old and new text are compared, and the line numbers are unknown.
import type { DiffLine, FileDiff, Hunk } from "./diff";
import { compareLines } from "./line-comparison";
import type { ToolCall } from "./types";

type Fields = Record<string, unknown>;

interface Patch {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

/** The change that a tool call makes to a file; null if it makes none. */
export function editDiff(call: Pick<ToolCall, "input" | "result">): FileDiff | null {
  const input = fieldsOf(call.input);
  const path = input.file_path ?? input.notebook_path;
  if (typeof path !== "string") return null;
  const hunks = patchHunks(fieldsOf(call.result)) ?? inputHunks(input);
  return hunks && { path, notes: notesOf(input), hunks };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function notesOf(input: Fields): string[] {
  if (input.replace_all === true) return ["Replaces every occurrence."];
  return typeof input.cell_id === "string" ? [`Cell ${input.cell_id}`] : [];
}

function patchHunks(result: Fields): Hunk[] | null {
  const patches = result.structuredPatch;
  if (!Array.isArray(patches) || patches.length === 0 || !patches.every(isPatch)) return null;
  return patches.map(patchHunk);
}

function isPatch(value: unknown): value is Patch {
  const { oldStart, newStart, lines } = fieldsOf(value);
  return typeof oldStart === "number" && typeof newStart === "number" && Array.isArray(lines) && lines.every((line) => typeof line === "string");
}

function patchHunk(patch: Patch): Hunk {
  const header = `@@ -${patch.oldStart},${patch.oldLines} +${patch.newStart},${patch.newLines} @@`;
  let [before, after] = [patch.oldStart, patch.newStart];
  const lines: DiffLine[] = [];
  for (const line of patch.lines) {
    const text = line.slice(1);
    if (line.startsWith("+")) lines.push({ kind: "added", before: null, after: after++, text });
    else if (line.startsWith("-")) lines.push({ kind: "removed", before: before++, after: null, text });
    else if (!line.startsWith("\\")) lines.push({ kind: "context", before: before++, after: after++, text });
  }
  return { header, lines };
}

/** Old and new text of the input: one edit, several edits, a whole file, or a cell of a notebook. */
function inputHunks(input: Fields): Hunk[] | null {
  if (Array.isArray(input.edits)) {
    const hunks = input.edits.flatMap((edit) => replacement(fieldsOf(edit)) ?? []);
    return hunks.map((hunk, index) => ({ ...hunk, header: `Edit ${index + 1} of ${hunks.length}` }));
  }
  const hunk = replacement(input);
  return hunk && [hunk];
}

function replacement(fields: Fields): Hunk | null {
  const added = fields.new_string ?? fields.content ?? fields.new_source;
  if (typeof added !== "string") return null;
  const removed = typeof fields.old_string === "string" ? fields.old_string : "";
  const lines = compareLines(linesOf(removed), linesOf(added));
  return { header: "", lines: "content" in fields ? lines.map((line, index) => ({ ...line, after: index + 1 })) : lines };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
