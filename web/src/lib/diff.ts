// Unified diffs: parsed into files, hunks and lines, and laid out as rows of the unified or the side-by-side view. Pure.
// A hunk has as many lines as its header says, so a removed line "-- x" is never taken for a file header.

export type LineKind = "context" | "added" | "removed";
export type DiffMode = "unified" | "split";

export interface DiffLine {
  kind: LineKind;
  /** The line numbers in the old and in the new file; null if the line is not in it, or if its place is unknown. */
  before: number | null;
  after: number | null;
  text: string;
  /** The file ends here without a line break. */
  endsWithoutBreak?: boolean;
}

export interface Hunk {
  /** "" if its place in the file is unknown. */
  header: string;
  lines: DiffLine[];
}

export interface FileDiff {
  /** The path after the change; for a deleted file, the path before it. */
  path: string;
  /** Lines outside of hunks that a reader needs: comments, renames, modes, binary files. */
  notes: string[];
  hunks: Hunk[];
}

export type DiffRow =
  | { kind: "note"; text: string }
  | { kind: "hunk"; text: string }
  | { kind: "line"; hunk: Hunk; line: DiffLine }
  | { kind: "pair"; hunk: Hunk; left: DiffLine | null; right: DiffLine | null };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const KINDS: Record<string, LineKind> = { "+": "added", "-": "removed", " ": "context", "": "context" };
const NO_NEWLINE = "\\";
/** Lines before the first hunk that say nothing beyond the path. */
const WITHOUT_MEANING = /^(diff --git |index |--- |\+\+\+ |$)/;

/** Parse the unified diff of any number of files. */
export function parseDiff(text: string): FileDiff[] {
  const files: FileDiff[] = [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!;
    const file = startsFile(lines, at, files.at(-1)) ? newFile(files) : (files.at(-1) ?? newFile(files));
    if (HUNK.test(line)) {
      at = readHunk(lines, at, file);
      continue;
    }
    file.path = pathOf(line) ?? file.path;
    if (!WITHOUT_MEANING.test(line)) file.notes.push(line);
    at += 1;
  }
  return files;
}

function newFile(files: FileDiff[]): FileDiff {
  const file: FileDiff = { path: "", notes: [], hunks: [] };
  files.push(file);
  return file;
}

/** A new file starts with `diff --git`, or with `--- ` after the hunks of another one. */
function startsFile(lines: string[], at: number, file: FileDiff | undefined): boolean {
  if (file === undefined) return true;
  if (lines[at]!.startsWith("diff --git ")) return file.path !== "";
  return file.hunks.length > 0 && lines[at]!.startsWith("--- ") && (lines[at + 1] ?? "").startsWith("+++ ");
}

function pathOf(line: string): string | null {
  const found = /^(?:---|\+\+\+|rename to|diff --git .* (?=b\/)) ?(?:[ab]\/)?([^\t]*)/.exec(line);
  return found && found[1] !== "/dev/null" ? found[1]! : null;
}

/** Add the hunk that starts at a line. Returns the line after it. */
function readHunk(lines: string[], at: number, file: FileDiff): number {
  const [, start, size, newStart, newSize] = HUNK.exec(lines[at]!)!;
  const hunk: Hunk = { header: lines[at]!, lines: [] };
  file.hunks.push(hunk);
  let [before, after] = [Number(start), Number(newStart)];
  const [beforeEnd, afterEnd] = [before + Number(size ?? 1), after + Number(newSize ?? 1)];
  for (at += 1; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (line.startsWith(NO_NEWLINE)) {
      const last = hunk.lines.at(-1);
      if (last) last.endsWithoutBreak = true;
      continue;
    }
    if (before >= beforeEnd && after >= afterEnd) break;
    const kind = KINDS[line.charAt(0)];
    if (kind === undefined) break;
    hunk.lines.push({
      kind,
      before: kind === "added" ? null : before,
      after: kind === "removed" ? null : after,
      text: line.slice(1),
    });
    if (kind !== "added") before += 1;
    if (kind !== "removed") after += 1;
  }
  removeLineEnds(hunk.lines);
  return at;
}

/** A file with CRLF line ends has a carriage return in every line. Otherwise one is an ordinary, hidden character. */
function removeLineEnds(lines: DiffLine[]): void {
  if (lines.every((line) => line.text.endsWith("\r"))) for (const line of lines) line.text = line.text.slice(0, -1);
}

/** The rows of a file in one of the views. */
export function diffRows(file: Pick<FileDiff, "notes" | "hunks">, mode: DiffMode): DiffRow[] {
  const rows: DiffRow[] = file.notes.map((text) => ({ kind: "note", text }));
  for (const hunk of file.hunks) {
    if (hunk.header !== "") rows.push({ kind: "hunk", text: hunk.header });
    if (mode === "split") addPairs(rows, hunk);
    else for (const line of hunk.lines) rows.push({ kind: "line", hunk, line });
  }
  return rows;
}

/** Lines side by side: the removed lines of a change beside the added ones. */
function addPairs(rows: DiffRow[], hunk: Hunk): void {
  const { lines } = hunk;
  for (let at = 0; at < lines.length; ) {
    if (lines[at]!.kind === "context") {
      rows.push({ kind: "pair", hunk, left: lines[at]!, right: lines[at]! });
      at += 1;
      continue;
    }
    const change: DiffLine[] = [];
    for (; at < lines.length && lines[at]!.kind !== "context"; at += 1) change.push(lines[at]!);
    const removed = change.filter((line) => line.kind === "removed");
    const added = change.filter((line) => line.kind === "added");
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      rows.push({ kind: "pair", hunk, left: removed[index] ?? null, right: added[index] ?? null });
    }
  }
}

export interface LineCounts {
  added: number;
  removed: number;
}

export function countLines(hunks: Hunk[]): LineCounts {
  const counts = { added: 0, removed: 0 };
  for (const hunk of hunks) for (const { kind } of hunk.lines) if (kind !== "context") counts[kind] += 1;
  return counts;
}
