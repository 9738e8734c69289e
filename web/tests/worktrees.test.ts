// How far the branch of a worktree is from its base.
import { expect, test } from "vitest";
import { distanceMarks, distanceText } from "../src/lib/worktrees";

const worktree = { root: "/w/login", base: "main", ahead: 2, behind: 1, uncommitted: 3, removed: false };

test("a distance in marks has only what differs", () => {
  expect(distanceMarks(worktree)).toBe("↑2 ↓1 ±3");
  expect(distanceMarks({ ...worktree, ahead: 0, behind: 0 })).toBe("±3");
  expect(distanceMarks({ ...worktree, removed: true })).toBe("removed");
  expect(distanceMarks(null)).toBe("");
});

test("a distance in words names the base once", () => {
  expect(distanceText(worktree)).toBe("2 commits ahead of main, 1 behind, 3 files not committed");
  expect(distanceText({ ...worktree, ahead: 0, uncommitted: 0 })).toBe("1 behind main");
  expect(distanceText({ ...worktree, ahead: 0, behind: 0, uncommitted: 0 })).toBe("no commits since main");
  expect(distanceText({ ...worktree, base: null, ahead: 0, behind: 0 })).toBe("base unknown, 3 files not committed");
  expect(distanceText({ ...worktree, removed: true })).toBe("removed");
});
