// The changes of an agent as rows of known height, so that only visible rows are rendered. Pure.
import { diffRows, parseDiff, type DiffMode, type DiffRow } from "./diff";
import { languageOf } from "./highlight";
import type { ChangedFile } from "./types";

export const LINE_HEIGHT = 20;
export const FILE_HEIGHT = 36;
const GAP = 12;
/** A tab is this many columns wide. */
const TAB = 4;
const WIDE = /[\t\u0300-\uffff]/;

/** A changed file with its rows in one of the views. */
export interface FileRows {
  file: ChangedFile;
  language: string | null;
  rows: DiffRow[];
}

export type ChangeRow =
  | { kind: "file"; key: string; height: number; part: FileRows }
  | { kind: "diff"; key: string; height: number; part: FileRows; row: DiffRow }
  | { kind: "truncated"; key: string; height: number; part: FileRows }
  | { kind: "gap"; key: string; height: number };

export function fileRows(file: ChangedFile, mode: DiffMode): FileRows {
  const rows = parseDiff(file.diff).flatMap((each) => diffRows(each, mode));
  const shown: DiffRow[] = rows.length > 0 ? rows : [{ kind: "note", text: "No lines to show." }];
  return { file, language: languageOf(file.path), rows: shown };
}

/** All rows, file by file. Folded files have only their heading. */
export function changeRows(parts: FileRows[], folded: ReadonlySet<string>): ChangeRow[] {
  const all: ChangeRow[] = [];
  for (const part of parts) {
    const { path } = part.file;
    all.push({ kind: "file", key: path, height: FILE_HEIGHT, part });
    if (!folded.has(path)) {
      part.rows.forEach((row, index) => all.push({ kind: "diff", key: `${index} ${path}`, height: LINE_HEIGHT, part, row }));
      if (!part.file.complete) all.push({ kind: "truncated", key: `truncated ${path}`, height: FILE_HEIGHT, part });
    }
    all.push({ kind: "gap", key: `gap ${path}`, height: GAP });
  }
  return all;
}

export interface FileStart {
  part: FileRows;
  top: number;
}

/** Where each file starts, in pixels. */
export function fileStarts(rows: ChangeRow[]): FileStart[] {
  const starts: FileStart[] = [];
  let top = 0;
  for (const row of rows) {
    if (row.kind === "file") starts.push({ part: row.part, top });
    top += row.height;
  }
  return starts;
}

/** The file at a vertical position. */
export function fileAt(starts: FileStart[], top: number): FileRows | null {
  return (starts.findLast((start) => start.top <= top) ?? starts[0])?.part ?? null;
}

/** The width of the longest line in columns, up to a limit. */
export function longestLine(parts: FileRows[], limit: number): number {
  let longest = 0;
  for (const { rows } of parts) for (const row of rows) for (const text of textsOf(row)) longest = Math.max(longest, columns(text, limit));
  return longest;
}

function textsOf(row: DiffRow): string[] {
  if (row.kind === "line") return [row.line.text];
  return row.kind === "pair" ? [row.left?.text ?? "", row.right?.text ?? ""] : [row.text];
}

/** Tabs and characters outside of Latin scripts, which may be wide, count more than one column. */
function columns(text: string, limit: number): number {
  if (!WIDE.test(text)) return Math.min(text.length, limit);
  let wide = 0;
  for (const character of text.slice(0, limit)) wide += character === "\t" ? TAB - 1 : WIDE.test(character) ? 1 : 0;
  return Math.min(text.length, limit) + wide;
}

/** The largest line number. */
export function lastNumber(parts: FileRows[]): number {
  const last = (row: DiffRow | undefined): number => {
    if (row?.kind === "line") return Math.max(row.line.before ?? 0, row.line.after ?? 0);
    return row?.kind === "pair" ? Math.max(row.left?.before ?? 0, row.right?.after ?? 0) : 0;
  };
  return Math.max(0, ...parts.flatMap(({ rows }) => [last(rows.at(-1)), last(rows.at(-2))]));
}

/** A path in two parts: the directories with their slash, and the name. */
export function splitPath(path: string): [string, string] {
  const end = path.lastIndexOf("/") + 1;
  return [path.slice(0, end), path.slice(end)];
}
