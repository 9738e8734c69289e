// Texts about the worktree of an agent: how far its branch is from its base. The same texts as in the terminal.
import { count } from "./text";
import type { Agent } from "./types";

type Worktree = NonNullable<Agent["worktree"]>;

/** The distance in marks: ↑ commits ahead, ↓ behind, ± files not committed. */
export function distanceMarks(worktree: Worktree | null | undefined): string {
  if (!worktree) return "";
  if (worktree.removed) return "removed";
  const marks: [string, number][] = [
    ["↑", worktree.ahead],
    ["↓", worktree.behind],
    ["±", worktree.uncommitted],
  ];
  return marks
    .filter(([, number]) => number)
    .map(([mark, number]) => `${mark}${number}`)
    .join(" ");
}

/** The distance in words: "2 commits ahead of main, 1 behind, 3 files not committed". */
export function distanceText(worktree: Worktree): string {
  const { base, ahead, behind, uncommitted } = worktree;
  if (worktree.removed) return "removed";
  const parts = base === null ? ["base unknown"] : [];
  if (ahead) parts.push(`${count(ahead, "commit")} ahead of ${base}`);
  if (behind) parts.push(ahead ? `${behind} behind` : `${behind} behind ${base}`);
  if (base !== null && !parts.length) parts.push(`no commits since ${base}`);
  if (uncommitted) parts.push(`${count(uncommitted, "file")} not committed`);
  return parts.join(", ");
}
