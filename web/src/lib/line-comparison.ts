// Compares two texts line by line: the longest common subsequence. Pure.
import type { DiffLine, LineKind } from "./diff";

/** Above this many pairs of lines, all old lines are removed and all new ones added. */
const MAX_PAIRS = 1_000_000;

/** The lines of both texts with what happened to them. Their line numbers are unknown. */
export function compareLines(before: string[], after: string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...before.slice(0, start).map((text) => lineOf("context", text)),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map((text) => lineOf("context", text)),
  ];
}

function lineOf(kind: LineKind, text: string): DiffLine {
  return { kind, before: null, after: null, text };
}

function compareMiddle(before: string[], after: string[]): DiffLine[] {
  if (before.length * after.length > MAX_PAIRS) {
    return [...before.map((text) => lineOf("removed", text)), ...after.map((text) => lineOf("added", text))];
  }
  const lengths = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let [old, fresh] = [0, 0];
  while (old < before.length || fresh < after.length) {
    if (old < before.length && fresh < after.length && before[old] === after[fresh]) {
      lines.push(lineOf("context", before[old++]!));
      fresh += 1;
    } else if (fresh === after.length || (old < before.length && lengths[old + 1]![fresh]! >= lengths[old]![fresh + 1]!)) {
      lines.push(lineOf("removed", before[old++]!));
    } else {
      lines.push(lineOf("added", after[fresh++]!));
    }
  }
  return lines;
}

/** `[i][j]`: the length of the longest common subsequence of `before` from i and `after` from j. */
function commonLengths(before: string[], after: string[]): Uint32Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let old = before.length - 1; old >= 0; old -= 1) {
    for (let fresh = after.length - 1; fresh >= 0; fresh -= 1) {
      const skipped = Math.max(lengths[old + 1]![fresh]!, lengths[old]![fresh + 1]!);
      lengths[old]![fresh] = before[old] === after[fresh] ? lengths[old + 1]![fresh + 1]! + 1 : skipped;
    }
  }
  return lengths;
}
