// The board in the query of its address.
import { expect, test } from "vitest";
import { boardQuery, boardSelection, NOTHING_SELECTED, type BoardSelection } from "../src/lib/board-address";

const everything: BoardSelection = {
  filter: { text: "fix login", project: "p1", state: "waiting", client: "codex" },
  grouping: "project",
  selected: "a1",
};

function query(selection: BoardSelection): URLSearchParams {
  const entries = Object.entries(boardQuery(selection)).filter((each): each is [string, string] => each[1] !== null);
  return new URLSearchParams(entries);
}

test("a link shows the same filter, grouping and agent", () => {
  expect(boardSelection(query(everything))).toEqual(everything);
});

test("the bare address selects nothing by itself", () => {
  expect(query(NOTHING_SELECTED).toString()).toBe("");
  expect(boardSelection(new URLSearchParams("signin=expired"))).toBeNull();
});

test("what a link leaves out is not selected", () => {
  expect(boardSelection(new URLSearchParams("agent=a1"))).toEqual({ ...NOTHING_SELECTED, selected: "a1" });
});

test("unknown states and groupings are ignored", () => {
  expect(boardSelection(new URLSearchParams("state=asleep&group=colour"))).toEqual(NOTHING_SELECTED);
});
