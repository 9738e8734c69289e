// Filter, grouping and selected agent of the board as the query of its address. Pure.
import type { Filter, Grouping } from "./board-layout";
import { STATES } from "./text";
import type { State } from "./types";

export interface BoardSelection {
  filter: Filter;
  grouping: Grouping;
  /** The id of the selected agent. */
  selected: string | null;
}

const GROUPINGS: readonly Grouping[] = ["attention", "project", "state"];
const FIELDS = ["q", "project", "state", "client", "group", "agent"] as const;

export type BoardQuery = Record<(typeof FIELDS)[number], string | null>;

export function boardQuery({ filter, grouping, selected }: BoardSelection): BoardQuery {
  const group = grouping === "attention" ? null : grouping;
  return { q: filter.text || null, project: filter.project, state: filter.state, client: filter.client, group, agent: selected };
}

/** What a query selects; null if it has nothing for the board. Unknown states and groupings are ignored. */
export function boardSelection(query: URLSearchParams): BoardSelection | null {
  if (!FIELDS.some((name) => query.has(name))) return null;
  const state = STATES.find((each) => each === (query.get("state") as State | null)) ?? null;
  const filter = { text: query.get("q") ?? "", project: query.get("project"), state, client: query.get("client") };
  return { filter, grouping: GROUPINGS.find((each) => each === query.get("group")) ?? "attention", selected: query.get("agent") };
}

export const NOTHING_SELECTED: BoardSelection = { filter: { text: "", project: null, state: null, client: null }, grouping: "attention", selected: null };
